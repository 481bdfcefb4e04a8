"""`checker export SPEC --to FORMAT --out DIR`: the model in the words of another tool."""

from __future__ import annotations

from pathlib import Path

import click

from checker import flow
from checker.cli.options import model_options, overrides
from checker.export import module
from checker.export.names import LIBRARY, library_text


@click.command()
@click.argument("spec")
@model_options
@click.option(
    "--to",
    "target",
    type=click.Choice(["tla"]),
    required=True,
    help="tla: a TLA+ module and the configuration that TLC runs it with.",
)
@click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME",
    help="Write only this property. Repeatable.",
)
@click.option("--out", required=True, metavar="DIR", help="The folder to write to.")
def export(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    target: str,
    properties: tuple[str, ...],
    out: str,
) -> int:
    """Write SPEC for another tool. docs/export.md says what becomes of what."""
    del target
    request = flow.Request(
        spec, instance or "default", overrides(settings), properties=properties or None
    )
    _, machine = flow.prepare(request, flow.Silent())
    made = module.module_of(machine, machine.name)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        f"{made.name}.tla": made.text,
        f"{made.name}.cfg": made.configuration,
        f"{LIBRARY}.tla": library_text(),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    click.echo(f"{', '.join(files)} written to {out}")
    return 0
