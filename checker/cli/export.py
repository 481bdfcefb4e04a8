"""`checker export SPEC --to FORMAT --out DIR`: model or state graph for another tool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from checker import flow
from checker.cli.interrupts import interruptible
from checker.cli.options import model_options, overrides, progress_option
from checker.cli.progress import Style, observing
from checker.errors import UsageError
from checker.machine.machine import Machine
from checker.report.headline import plural


@click.command()
@click.argument("spec")
@model_options
@click.option(
    "--to",
    "target",
    type=click.Choice(["tla", "aut", "dot", "graphml"]),
    required=True,
    help="tla: the model as a TLA+ module that TLC runs; the others: its state graph.",
)
@click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME",
    help="For tla: write only this property. Repeatable.",
)
@click.option(
    "--symmetry",
    type=click.Choice(["on", "off"]),
    default=None,
    help="For graphs: representatives only (on), or all states.  [off]",
)
@click.option("--out", required=True, metavar="DIR", help="The folder to write to.")
@progress_option
def export(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    target: str,
    properties: tuple[str, ...],
    symmetry: str | None,
    out: str,
    progress: Style,
) -> int:
    """Write SPEC for another tool. docs/export.md says what becomes of what."""
    if target == "tla" and symmetry is not None:
        raise UsageError("--symmetry is for graphs; a module has all states")
    if target != "tla" and properties:
        raise UsageError("--property is for tla; a graph has no properties")
    request = flow.Request(
        spec, instance or "default", overrides(settings), properties=properties or None
    )
    folder = Path(out)
    with observing(progress) as observer, interruptible("local") as interrupt:
        _, machine = flow.prepare(request, observer)
        if target == "tla":
            files = _module(machine, folder)
        else:
            from checker.export.graphs import FORMATS  # noqa: PLC0415
            from checker.graph.labelled import labelled_graph  # noqa: PLC0415

            observer.stage("graph")
            bare = replace(machine, properties=(), symmetry=False)
            graph = labelled_graph(flow.reduced(bare, symmetry == "on"), interrupt=interrupt)
            assert graph is not None
            ending, lines = FORMATS[target]
            folder.mkdir(parents=True, exist_ok=True)
            files = [f"{machine.name}.{ending}"]
            _write(folder / files[0], (f"{line}\n" for line in lines(graph)))
            size = f"{plural(graph.states, 'state')} and {plural(len(graph.targets), 'step')}: "
            click.echo(size, nl=False)
    click.echo(f"{', '.join(files)} written to {out}")
    return 0


def _module(machine: Machine, folder: Path) -> list[str]:
    """Write the TLA+ module, its configuration and the library; return their names."""
    from checker.export.module import module_of  # noqa: PLC0415
    from checker.export.names import LIBRARY, library_text  # noqa: PLC0415

    made = module_of(machine, machine.name)
    files = {
        f"{made.name}.tla": made.text,
        f"{made.name}.cfg": made.configuration,
        f"{LIBRARY}.tla": library_text(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        _write(folder / name, [text])
    return list(files)


def _write(file: Path, lines: Iterable[str]) -> None:
    """Write a file; UsageError where the disk is full, and no half of it is left to be read."""
    stream = file.open("w", encoding="utf-8")
    try:
        with stream:
            stream.writelines(lines)
    except OSError as error:
        file.unlink()
        raise UsageError(f"{file}: {(error.strerror or str(error)).lower()}") from None
