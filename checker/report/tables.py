"""State tables and systems as sections to read."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from checker.report.sections import Block, Section
from checker.source import Heading, heading_over
from checker.table.analysis import TableAnalysis, analyse_table
from checker.table.document import (
    BindingEntry,
    Cell,
    Definition,
    Document,
    InState,
    Procedure,
    PropertyEntry,
    RefinesEntry,
    Row,
    TypeName,
    TypeRange,
    UseEntry,
)
from checker.table.state_table import StateTable


def table_sections(table_: StateTable) -> list[Section]:
    """Return what a reader wants to know of a state table, its analysis included."""
    states = tuple((name, _marks(table_, name), about) for name, about in table_.states)
    origins: dict[tuple[str, str, str], list[str]] = {}
    for move in table_.transitions:
        key = (move.event, move.target, move.about or move.source)
        origins.setdefault(key, []).append(move.origin)
    moves = tuple(
        (", ".join(names), event, target, note) for (event, target, note), names in origins.items()
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
    instances = tuple(
        (
            entry.name.text,
            entry.tier,
            ", ".join(f"{name.text}={setting_text(value)}" for name, value, _ in entry.settings),
            (entry.expect.verdict or "") if entry.expect else "",
        )
        for entry in document.instances
    )
    sections = [
        Section(f"System {document.name.text}", (document.about, *document.abstractions)),
        Section("Files", (), ("file", "about"), _files(document), (0,)),
        Section("Used systems", (), blocks=tuple(map(_use, document.uses))),
        *_parts(document, "Rows", document.rows, row_block),
        *_parts(document, "Definitions", document.definitions, _body),
        *_parts(document, "Procedures", document.procedures, _body),
        *_parts(document, "Properties", document.properties, _property),
    ]
    columns = ("instance", "tier", "constants", "expected")
    sections.append(Section("Instances", (), columns, instances, (0, 2)))
    return [
        section for section in map(_without_empty_columns, sections) if _says_something(section)
    ]


def _files(document: Document) -> tuple[tuple[str, str], ...]:
    """Return the files of a system that has several."""
    files = document.files if len(document.files) > 1 else ()
    return tuple((file.shown, file.about) for file in files)


_Entry = TypeVar("_Entry", Row, Definition | Procedure, PropertyEntry)


def _parts(
    document: Document,
    title: str,
    entries: Iterable[_Entry],
    block: Callable[[_Entry], Block],
) -> Iterator[Section]:
    """Yield what all files say under one key, divided by file and by the author's headings."""
    files = {file.source.name: file.shown for file in document.files[1:]}

    def group(entry: _Entry) -> tuple[str, Heading | None]:
        span = entry.name.span
        return span.source.name, heading_over(document.headings, span)

    for (name, heading), members in groupby(entries, group):
        shown = f"{title} in {files[name]}" if name in files else title
        shown += f": {heading.title}" if heading else ""
        prose = (heading.about,) if heading else ()
        yield Section(shown, prose, blocks=tuple(map(block, members)))


def _without_empty_columns(section: Section) -> Section:
    kept = [place for place in range(len(section.headings)) if any(r[place] for r in section.rows)]
    return replace(
        section,
        headings=tuple(section.headings[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in section.rows),
        verbatim=tuple(new for new, place in enumerate(kept) if place in section.verbatim),
    )


def _says_something(section: Section) -> bool:
    return bool(section.rows or section.prose or section.blocks)


def _signature(entry: Definition | Procedure) -> str:
    return f"{entry.name.text}({', '.join(word.text for word in entry.parameters)})"


def setting_text(value: object) -> str:
    """Return a constant's value as it is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def row_block(row: Row) -> Block:
    """Return a row with its cells as they are written."""
    marks = [f"actor {row.actor.text}"] if row.actor else []
    marks += [f"fault {row.fault.text}"] if row.fault else []
    marks += [f"fair: {row.fair.text}"] if row.fair else []
    cells = [("on", _code(row.on))]
    cells += [("for", "\n".join(_binding(entry) for entry in row.bindings))]
    cells += [("only if", _code(row.only_if))]
    cells += [("in", "\n".join(f"{_code(item.place)}: {_states(item)}" for item in row.inside))]
    cells += [("let", "\n".join(f"{name.text} = {_code(cell)}" for name, cell in row.lets))]
    cells += [("when", _code(row.when)), ("do", _code(row.do))]
    cells += [("to", "\n".join(f"{_code(item.place)} = {_states(item)}" for item in row.to))]
    cells += [("send", "\n".join(_code(cell) for cell in row.send)), ("source", row.source)]
    return Block(row.name.text, tuple(marks), row.about, _filled(cells))


def _body(entry: Definition | Procedure) -> Block:
    lets = entry.lets if isinstance(entry, Definition) else ()
    parts = [(f"let {word.text}", _code(cell)) for word, cell in lets]
    return Block(_signature(entry), (), "", (*parts, ("", _code(entry.body))))


def _property(entry: PropertyEntry) -> Block:
    cells = [("from", _code(entry.premise)), ("to", _code(entry.condition))]
    if entry.premise is None:
        cells = [("", _code(entry.condition))]
    if entry.initially is not None:
        cells.append(("initially", _code(entry.initially)))
    if entry.refines is not None:
        cells += _refinement(entry.refines)
    marks = [entry.kind, *("within the bounds" for _ in range(entry.within_bounds))]
    marks += [f"for each {binding.name.text}" for binding in entry.bindings]
    return Block(entry.name.text, tuple(marks), entry.why, tuple(cells))


def _refinement(entry: RefinesEntry) -> Iterator[tuple[str, str]]:
    if entry.instance is not None:
        yield "instance", entry.instance.text
    for word, value, _ in entry.settings:
        yield f"set {word.text}", setting_text(value)
    for one, other in entry.ids:
        yield f"ids {one.text}", other.text
    for mapped in entry.mapping:
        yield mapped.text, _code(mapped.cell)


def _use(entry: UseEntry) -> Block:
    """Return under which prefix a system is used, and with what in place of what."""
    cells = [("system", entry.system.text)]
    cells += [("instance", entry.instance.text)] if entry.instance else []
    for word, value, _ in entry.settings:
        cells.append(
            (f"set {word.text}", _code(value) if isinstance(value, Cell) else setting_text(value))
        )
    cells += [(f"with {old.text}", new.text) for old, new in entry.replaced]
    cells.append(("without", _list(word.text for word in entry.without)))
    claimed = entry.properties
    cells.append(("claims", "all" if claimed is None else _list(word.text for word in claimed)))
    return Block(entry.prefix.text, (), entry.about, _filled(cells))


def _filled(cells: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((label, content) for label, content in cells if content)


def _binding(entry: BindingEntry) -> str:
    """Return `name in domain`; a type that is no name is shown by the name alone."""
    if entry.cell is not None:
        return f"{entry.name.text} in {_code(entry.cell)}"
    match entry.node:
        case TypeName(name, _):
            return f"{entry.name.text} in {name}"
        case TypeRange(low, high, _):
            return f"{entry.name.text} in {_code(low)}..{_code(high)}"
    return entry.name.text


def _states(item: InState) -> str:
    return ", ".join(word.text for word in item.states)


def _code(cell: Cell | None) -> str:
    """Return a cell as it was written, without the indentation that YAML gave it."""
    return "" if cell is None else textwrap.dedent(cell.words).strip()
