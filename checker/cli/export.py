"""`checker export SPEC --to FORMAT --out DIR`: model or state graph for another tool."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker import flow
from checker.cli.interrupts import interruptible
from checker.cli.options import A_FOLDER, model_options, overrides, progress_option
from checker.cli.progress import Style, observing
from checker.errors import Interruption, UsageError, failure_of
from checker.machine.machine import Machine
from checker.report.headline import plural
from checker.search.progress import Interrupt, interrupted

if TYPE_CHECKING:
    from checker.graph.labelled import LabelledGraph

_NOTHING = "nothing was written"


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
@click.option("--out", required=True, type=A_FOLDER, metavar="DIR", help="The folder to write to.")
@progress_option
def export(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    target: str,
    properties: tuple[str, ...],
    symmetry: str | None,
    out: Path,
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
    size = ""
    with observing(progress) as observer:
        with _unwritten():
            _, machine = flow.prepare(request, observer)
            files = _module(machine) if target == "tla" else {}
        with interruptible("local") as interrupt:
            if target != "tla":
                observer.stage("graph")
                with _unwritten():
                    graph = _graph(machine, interrupt, symmetry=symmetry == "on")
                size = f"{plural(graph.states, 'state')} and {plural(len(graph.targets), 'step')}: "
                files = _drawn(graph, target)
            _write(out, files, interrupt)
    click.echo(f"{size}{', '.join(files)} written to {out}")
    return 0


@contextmanager
def _unwritten() -> Iterator[None]:
    """Say of what is interrupted here that nothing was written."""
    try:
        yield
    except (KeyboardInterrupt, Interruption):
        raise Interruption(_NOTHING) from None


def _module(machine: Machine) -> dict[str, Iterable[str]]:
    """Return the TLA+ module, its configuration and the library by the names of their files."""
    from checker.export.module import module_of  # noqa: PLC0415
    from checker.export.names import LIBRARY, library_text  # noqa: PLC0415

    made = module_of(machine, machine.name)
    return {
        f"{made.name}.tla": [made.text],
        f"{made.name}.cfg": [made.configuration],
        f"{LIBRARY}.tla": [library_text()],
    }


def _graph(machine: Machine, interrupt: Interrupt, *, symmetry: bool) -> LabelledGraph:
    from checker.graph.labelled import labelled_graph  # noqa: PLC0415

    bare = replace(machine, properties=(), symmetry=False)
    graph = labelled_graph(flow.reduced(bare, symmetry), interrupt=interrupt)
    assert graph is not None
    return graph


def _drawn(graph: LabelledGraph, target: str) -> dict[str, Iterable[str]]:
    """Return a graph, line by line, by the name of its file."""
    from checker.export.graphs import FORMATS  # noqa: PLC0415

    ending, lines = FORMATS[target]
    return {f"{graph.machine.name}.{ending}": (f"{line}\n" for line in lines(graph))}


def _write(folder: Path, files: Mapping[str, Iterable[str]], interrupt: Interrupt) -> None:
    """Write files, all of them or none.

    UsageError, or EnvironmentFailure, where one cannot be written; Interruption where `interrupt`
    says to stop.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Until all are whole they have names that no other process uses.
    beside = {name: folder / f"{name}.{os.getpid()}.tmp" for name in files}
    name = ""
    try:
        for name, lines in files.items():
            with beside[name].open("w", encoding="utf-8") as stream:
                stream.writelines(_until(interrupt, lines))
        for name, made in beside.items():
            made.replace(folder / name)
    except OSError as error:
        said = f"{folder / name}: {(error.strerror or str(error)).lower()}"
        raise failure_of(error, said) from None
    finally:
        for made in beside.values():
            made.unlink(missing_ok=True)


def _until(interrupt: Interrupt, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; Interruption where `interrupt` says to stop before the last of them."""
    for line in lines:
        if interrupted(interrupt):
            raise Interruption(_NOTHING)
        yield line
