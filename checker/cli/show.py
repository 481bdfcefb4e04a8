"""`checker show SPEC`: tables, diagrams, lints, and what each stage of the flow makes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import click

from checker import flow, library
from checker.cli import remembered
from checker.cli.configuration import SpokenOption
from checker.cli.interrupts import interruptible
from checker.cli.options import model_options, overrides
from checker.diagnostics import render_all
from checker.elaborate import elaborate
from checker.errors import UsageError
from checker.layout import describe, pack
from checker.machine.machine import Machine
from checker.report import diagrams, terminal
from checker.report.files import PAGE, encoded, put, refuse_link
from checker.report.finding import Query, find_rows, found_sections
from checker.report.matrix import matrix_sections, readme_part, with_part
from checker.report.sections import Section, as_markdown, print_sections
from checker.report.stages import machine_text
from checker.report.tables import system_sections, table_sections
from checker.table import StateTable, read, read_table
from checker.table.analysis import lint_table
from checker.table.document import Document
from checker.table.looks import text_of
from checker.tables import StateMatrix, machines_with_every_row, matrices_of, state_matrices

STATES_MAX = 1_000_000
"""States of an instance of which `--reached` looks at every step."""


@click.command()
@click.argument("spec")
@model_options
@click.option(
    "--stage",
    type=click.Choice(["table", "machine", "layout", "kernel"]),
    default="table",
    show_default=True,
    help="What to show: as written, typed, in bits, as native code.",
)
@click.option("--tables", is_flag=True, help="Show only the state tables of a system's machines.")
@click.option(
    "--reached",
    is_flag=True,
    help="As --tables, with what no step of the instance does in brackets: its graph is built.",
)
@click.option(
    "--write",
    is_flag=True,
    cls=SpokenOption,
    does="changes a page of a system",
    help="With --tables: put them into the system's README.md.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "html", "mermaid", "dot"]),
    default="text",
    show_default=True,
    help="How to show tables; html is a page of the whole system to look things up in, "
    "mermaid and dot draw state diagrams.",
)
@click.option("--row", metavar="NAME", help="Only rows of this name, or of a pattern: join_*.")
@click.option("--on", metavar="MESSAGE", help="Only rows that take this message or outcome.")
@click.option("--in", "inside", metavar="STATE", help="Only rows that apply in this state.")
@click.option("--reads", metavar="VARIABLE", help="Only rows that read this variable.")
@click.option("--writes", metavar="VARIABLE", help="Only rows that write this variable.")
def show(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    stage: str,
    form: str,
    *,
    tables: bool,
    reached: bool,
    write: bool,
    **query: str | None,
) -> None:
    """Show SPEC: a system or a state table; a file, a folder, or a shipped name."""
    table = _table_file(spec)
    wanted = Query(**query)
    if reached and (write or wanted.asks()):
        raise UsageError("--reached shows the state tables; leave out --write and what finds rows")
    _refuse_unheard(instance, settings, wanted, tables=tables, write=write, form=form)
    if form == "html":
        if stage != "table" or table is not None or tables or write or wanted.asks():
            raise UsageError(
                "--format html is the page of a whole system; what it shows is asked there"
            )
        click.echo(_page(spec, instance, settings, reached=reached).rstrip())
        return
    if tables or reached or write or wanted.asks():
        if stage != "table" or form not in {"text", "markdown"} or table is not None:
            raise UsageError("rows and state tables of a system are shown as text or Markdown")
        if write:
            _write_tables(spec)
            return
        if reached:
            document, machine = flow.prepare(_request(spec, instance, settings), flow.Silent())
            _print(matrix_sections(_reached(document, machine), machine.instance), form)
            return
        document = read(library.find(spec))
        if wanted.asks():
            _print(found_sections(document, find_rows(document, wanted, remembered.facts)), form)
            return
        one = instance is not None or settings
        found = (
            matrices_of(document, [elaborate(document, instance or "default", overrides(settings))])
            if one
            else state_matrices(document)
        )
        _print(matrix_sections(found), form)
        return
    if stage != "table":
        if form != "text" or table is not None:
            raise UsageError(f"--stage {stage} shows a system as text")
        click.echo(_stage(_request(spec, instance, settings), stage).rstrip())
        return
    if table is not None:
        if instance is not None or settings:
            raise UsageError("a state table alone has no instances; leave out --instance and --set")
        _show([read_table(table)], [], form)
        return
    document = read(library.find(spec))
    system = system_sections(document)
    machine = elaborate(document, instance or "default", overrides(settings))
    system += matrix_sections(matrices_of(document, [machine]))
    _show(list(document.tables.values()), system, form)
    if form == "text" and machine.warnings:
        click.echo("\n" + render_all(machine.warnings))


def _refuse_unheard(
    instance: str | None,
    settings: tuple[str, ...],
    wanted: Query,
    *,
    tables: bool,
    write: bool,
    form: str,
) -> None:
    """Raise UsageError for options that what is asked for would not look at."""
    one = instance is not None or bool(settings)
    if write and not tables and form != "html":
        raise UsageError("--write goes with --tables")
    if write and (one or wanted.asks() or form == "markdown"):
        raise UsageError(
            "--write puts the state tables of all instances into the README.md; leave out what "
            "selects an instance or rows, and --format"
        )
    if wanted.asks() and (one or tables):
        raise UsageError(
            "rows are found as they are written, for every instance; leave out --tables, "
            "--instance and --set"
        )


def _print(sections: list[Section], form: str) -> None:
    if not sections:
        click.echo("no machine of this system follows a state table")
    elif form == "markdown":
        click.echo(as_markdown(sections).rstrip())
    else:
        print_sections(terminal.console(), sections)


def _request(spec: str, instance: str | None, settings: tuple[str, ...]) -> flow.Request:
    return flow.Request(spec, instance or "default", overrides(settings))


def _reached(document: Document, machine: Machine) -> list[StateMatrix]:
    """Return the state tables of an instance, marked by all that it does."""
    # LLVM only where it is asked for.
    from checker.graph.labelled import labelled_graph  # noqa: PLC0415
    from checker.tables.reached import marked, reached  # noqa: PLC0415

    with interruptible("local") as interrupt:
        bare = replace(machine, properties=(), symmetry=False)
        graph = labelled_graph(bare, STATES_MAX, interrupt)
    if graph is None:
        raise UsageError(
            f"{machine.instance} has more than {STATES_MAX:,} states; give a smaller instance"
        )
    found = reached(graph)
    return [marked(item, found) for item in matrices_of(document, [machine])]


def _page(spec: str, instance: str | None, settings: tuple[str, ...], *, reached: bool) -> str:
    """Return the page of a system: of all its rows, or as one instance has them."""
    from checker.report.lookup import lookup  # noqa: PLC0415 (templates only where one is written)

    if instance is None and not settings and not reached:
        document = read(library.find(spec))
        machines = machines_with_every_row(document)
        return lookup(document, machines, matrices_of(document, machines))
    document, machine = flow.prepare(_request(spec, instance, settings), flow.Silent())
    tables = _reached(document, machine) if reached else matrices_of(document, [machine])
    return lookup(document, [machine], tables, machine.instance if reached else "")


def _write_tables(spec: str) -> None:
    """Put the state tables of a system into the README beside it."""
    path = library.find(spec)
    document = read(path)
    readme, name = path.parent / PAGE, document.name.text
    library.refuse_to_change(readme)
    refuse_link(path.parent, PAGE)
    old = text_of(readme) if readme.is_file() else f"# {name}\n"
    put(readme, encoded(with_part(old, name, readme_part(name, state_matrices(document)))))
    click.echo(f"wrote the state tables of {name} to {readme}")


def _table_file(spec: str) -> Path | None:
    """Return the file of a state table that `spec` names; None where it names a system."""
    path = Path(spec)
    if path.is_file():
        return path if _is_table(path) else None
    shipped = {entry.name: entry for entry in reversed(library.shipped())}
    entry = shipped.get(spec)
    return entry.path if entry is not None and entry.kind == "table" else None


def _is_table(path: Path) -> bool:
    text = path.read_bytes()[: 1 << 20].decode("utf-8", errors="replace")
    return re.search(r"(?m)^table\s*:", text) is not None


def _show(tables: list[StateTable], system: list[Section], form: str) -> None:
    if form in {"mermaid", "dot"}:
        draw = diagrams.mermaid if form == "mermaid" else diagrams.graphviz
        if not tables:
            raise UsageError("there is no state table to draw")
        click.echo("\n".join(draw(table).rstrip() for table in tables))
        return
    groups = [system] if system else []
    groups += [table_sections(table) for table in tables]
    if form == "markdown":
        click.echo("\n".join(as_markdown(group) for group in groups).rstrip())
        return
    out = terminal.console()
    for number, group in enumerate(groups):
        if number:
            out.print()
        print_sections(out, group)
    for table in tables:
        terminal.print_warnings(out, lint_table(table))


def _stage(request: flow.Request, stage: str) -> str:
    _, machine = flow.prepare(request, flow.Silent())
    if stage == "machine":
        return machine_text(machine)
    layout = pack(machine)
    if stage == "layout":
        return describe(layout)
    from checker.kernel import build  # noqa: PLC0415 (LLVM only where it is asked for)

    return build(machine, layout).ir
