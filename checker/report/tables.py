"""State tables and systems as tables to read: Markdown, and rich tables for the terminal.

One list of `Section`s is made from a table or a system; both forms print the same sections.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from checker.report.markdown import code, table, text
from checker.table.analysis import TableAnalysis, analyse_table
from checker.table.document import (
    BindingEntry,
    Cell,
    Definition,
    Document,
    InState,
    Procedure,
    Row,
    TypeName,
    TypeRange,
)
from checker.table.state_table import StateTable


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, prose, and a table; columns in `verbatim` hold code."""

    heading: str
    prose: tuple[str, ...]
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    verbatim: tuple[int, ...] = ()


def table_sections(table_: StateTable) -> list[Section]:
    """Return what a reader wants to know of a state table, its analysis included."""
    states = tuple((name, _marks(table_, name), about) for name, about in table_.states)
    moves = tuple(
        (move.origin, move.event, move.target, move.about or move.source)
        for move in table_.transitions
    )
    sections = [
        Section(f"Table {table_.name}", (table_.about, f"Source: {table_.source}")),
        Section("States", (), ("state", "", "meaning"), states, (0,)),
        Section("Legal moves", (), ("from", "event", "to", "note"), moves, (0, 1, 2)),
    ]
    if table_.restores:
        sections.append(Section("Restores", (), ("from", "to"), table_.restores, (0, 1)))
    sections.append(Section("Analysis", analysis_sentences(table_, analyse_table(table_))))
    return sections


def _marks(table_: StateTable, state: str) -> str:
    marks = (("initial", table_.initial), ("created", table_.created), ("final", table_.final))
    return ", ".join(mark for mark, states in marks if state in states)


def analysis_sentences(table_: StateTable, analysis: TableAnalysis) -> tuple[str, ...]:
    """Return the analysis of a table in sentences; at least one."""
    sentences = []
    if analysis.unreachable:
        sentences.append(f"No way leads to {_list(analysis.unreachable)}.")
    if analysis.dead_ends:
        sentences.append(f"No way leads out of {_list(analysis.dead_ends)}.")
    loops = [group for group in analysis.components if len(group) > 1]
    sentences += [f"{_list(group)} can follow each other for ever." for group in loops]
    for state, gates in analysis.dominators.items():
        passed = [gate for gate in gates if gate not in table_.initial]
        if passed:
            sentences.append(f"Every way to {state} goes through {_list(passed)}.")
    return tuple(sentences) or ("Every state can be reached and left.",)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)


def system_sections(document: Document) -> list[Section]:
    """Return the rows, properties and instances of a system, as they are written."""
    rows = tuple(_row_cells(row) for row in document.rows)
    definitions = tuple((_signature(entry), _cell(entry.body)) for entry in document.definitions)
    procedures = tuple((_signature(entry), _cell(entry.body)) for entry in document.procedures)
    properties = tuple(
        (entry.name.text, entry.kind, entry.condition.text, entry.why)
        for entry in document.properties
    )
    instances = tuple(
        (
            entry.name.text,
            entry.tier,
            ", ".join(f"{name.text}={_setting(value)}" for name, value, _ in entry.settings),
            (entry.expect.verdict or "") if entry.expect else "",
        )
        for entry in document.instances
    )
    headings = ("row", "on", "for", "in", "when", "effects and next states", "note")
    sections = [
        Section(f"System {document.name.text}", (document.about, *document.abstractions)),
        Section("Rows", (), headings, rows, (0, 1, 2, 3, 4, 5)),
        Section("Definitions", (), ("definition", "meaning"), definitions, (0, 1)),
        Section("Procedures", (), ("procedure", "effects"), procedures, (0, 1)),
        Section("Properties", (), ("property", "kind", "condition", "why"), properties, (0, 2)),
    ]
    columns = ("instance", "tier", "constants", "expected")
    sections.append(Section("Instances", (), columns, instances, (0, 2)))
    return [
        section for section in map(_without_empty_columns, sections) if _says_something(section)
    ]


def _without_empty_columns(section: Section) -> Section:
    kept = [place for place in range(len(section.headings)) if any(r[place] for r in section.rows)]
    return replace(
        section,
        headings=tuple(section.headings[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in section.rows),
        verbatim=tuple(new for new, place in enumerate(kept) if place in section.verbatim),
    )


def _says_something(section: Section) -> bool:
    return bool(section.rows or section.prose)


def _signature(entry: Definition | Procedure) -> str:
    return f"{entry.name.text}({', '.join(word.text for word in entry.parameters)})"


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _row_cells(row: Row) -> tuple[str, ...]:
    effects = [f"let {name.text} = {_cell(cell)}" for name, cell in row.lets]
    effects += [_cell(row.do), *(f"{_cell(item.place)} = {_states(item)}" for item in row.to)]
    effects += [f"send {_cell(cell)}" for cell in row.send]
    inside = "; ".join(f"{_cell(item.place)}: {_states(item)}" for item in row.inside)
    trigger = _cell(row.on) or (f"fault {row.fault.text}" if row.fault else "")
    return (
        row.name.text,
        trigger,
        ", ".join(_binding(entry) for entry in row.bindings),
        inside,
        _cell(row.when),
        "; ".join(part for part in effects if part),
        row.about or row.source,
    )


def _binding(entry: BindingEntry) -> str:
    """Return `name in domain`; a type that is no name is shown by the name alone."""
    if entry.cell is not None:
        return f"{entry.name.text} in {_cell(entry.cell)}"
    match entry.node:
        case TypeName(name, _):
            return f"{entry.name.text} in {name}"
        case TypeRange(low, high, _):
            return f"{entry.name.text} in {_cell(low)}..{_cell(high)}"
    return entry.name.text


def _states(item: InState) -> str:
    return ", ".join(word.text for word in item.states)


def _cell(cell: Cell | None) -> str:
    """Return a cell on one line; statements of effects apart by semicolons."""
    if cell is None:
        return ""
    lines = [line.strip() for line in cell.text.strip().splitlines()]
    joined = ""
    for line in filter(None, lines):
        open_line = not joined or joined.endswith((":", "(", ",", "[", "{"))
        joined += line if not joined else (" " if open_line else "; ") + line
    return joined


def as_markdown(sections: Iterable[Section]) -> str:
    """Return sections as Markdown."""
    lines: list[str] = []
    for number, section in enumerate(sections):
        lines += [f"{'#' if number == 0 else '##'} {section.heading}", ""]
        for prose in filter(None, section.prose):
            lines += [text(prose), ""]
        if section.headings:
            rows = [
                [
                    code(cell) if place in section.verbatim and cell else text(cell)
                    for place, cell in enumerate(row)
                ]
                for row in section.rows
            ]
            lines += table(section.headings, rows)
    return "\n".join(lines).rstrip() + "\n"


def print_sections(out: Console, sections: Iterable[Section]) -> None:
    """Print sections on the terminal."""
    for number, section in enumerate(sections):
        if number:
            out.print()
        out.print(Text(section.heading, style="bold"))
        for prose in filter(None, section.prose):
            out.print(Text(" ".join(prose.split())))
        if section.headings:
            shown = Table(box=None, pad_edge=False, header_style="dim", show_lines=False)
            for heading in section.headings:
                shown.add_column(heading, overflow="fold")
            for row in section.rows:
                shown.add_row(*(Text(" ".join(cell.split())) for cell in row))
            out.print(shown)
