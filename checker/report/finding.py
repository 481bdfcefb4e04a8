"""Rows that somebody looks for: by name, trigger or state, by what they read or write."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePath

from checker.errors import UsageError
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Action, Machine
from checker.machine.walk import walk
from checker.report.sections import Section
from checker.report.tables import row_block
from checker.source import heading_over
from checker.table.document import Document, Row
from checker.table.problems import nearest
from checker.tables import machines_with_every_row, matrices_of

BLOCKS_MAX = 3
"""Rows that are shown whole; more are listed."""


@frozen()
class Query:
    """What a row must be like; None and empty ask for nothing.

    `row` is a name, or a pattern such as `join_*`; `on` a message, an operation or an outcome;
    `inside` a state of any machine; `reads` and `writes` a variable, its component left out or not.
    """

    row: str | None = None
    on: str | None = None
    inside: str | None = None
    reads: str | None = None
    writes: str | None = None

    def asks(self) -> bool:
        """Return whether anything is asked."""
        return any((self.row, self.on, self.inside, self.reads, self.writes))


@frozen()
class Facts:
    """What the rows of a system do, by name: the states they apply in, what they read and write.

    Of machines in which every row exists, each variant of it that they have; `variables` are all
    of theirs.
    """

    states: Mapping[str, frozenset[str]]
    reads: Mapping[str, frozenset[str]]
    writes: Mapping[str, frozenset[str]]
    variables: frozenset[str]


def facts_of(document: Document) -> Facts:
    """Find out what the rows of a system do: it is elaborated several times."""
    machines = machines_with_every_row(document)
    states: dict[str, set[str]] = {}
    for matrix in matrices_of(document, machines):
        for effect in (e for line in matrix.lines for cell in line.cells for e in cell.effects):
            states.setdefault(effect.row, set()).add(effect.state)
    both = touched(machines)
    return Facts(
        {row: frozenset(names) for row, names in states.items()},
        {row: reads for row, (reads, _) in both.items()},
        {row: writes for row, (_, writes) in both.items()},
        frozenset(variable.name for machine in machines for variable in machine.variables),
    )


def find_rows(
    document: Document, query: Query, known: Callable[[Document], Facts] = facts_of
) -> tuple[Row, ...]:
    """Return the rows that meet all of a query, in order; UsageError where nothing is called so.

    `known` says what rows do, and is asked only where the query wants it.
    """
    rows = document.rows
    if query.row is not None:
        rows = _named(rows, query.row)
    if query.on is not None:
        rows = _taking(document, rows, query.on)
    if query.inside is None and query.reads is None and query.writes is None:
        return rows
    if query.inside is not None:
        _refuse_unknown_state(document, query.inside)
    facts = known(document)
    meeting = {row.name.text for row in rows}
    if query.inside is not None:
        meeting &= {row for row, states in facts.states.items() if query.inside in states}
    for name, touching in ((query.reads, facts.reads), (query.writes, facts.writes)):
        if name is not None:
            meant = _meant(facts, name)
            meeting &= {row for row, variables in touching.items() if meant & variables}
    return tuple(row for row in rows if row.name.text in meeting)


def found_sections(document: Document, rows: tuple[Row, ...]) -> list[Section]:
    """Return a list of rows with their places, and few rows whole."""
    listed = tuple((row.name.text, _place(document, row), row.about) for row in rows)
    title = f"{len(rows)} rows of {document.name.text}" if len(rows) != 1 else "1 row"
    sections = [Section(title, (), ("row", "where", "about"), listed, (0,))]
    if 0 < len(rows) <= BLOCKS_MAX:
        sections.append(Section("In full", (), blocks=tuple(map(row_block, rows))))
    return sections


def _place(document: Document, row: Row) -> str:
    span = row.name.span
    heading = heading_over(document.headings, span)
    file = f"{PurePath(span.source.name).name}:{span.line}"
    return f"{file}, {heading.title}" if heading is not None else file


def _named(rows: tuple[Row, ...], pattern: str) -> tuple[Row, ...]:
    found = tuple(row for row in rows if fnmatchcase(row.name.text, pattern))
    if not found and not set("*?[") & set(pattern):
        raise UsageError(_none("row", pattern, (row.name.text for row in rows)))
    return found


def _taking(document: Document, rows: tuple[Row, ...], name: str) -> tuple[Row, ...]:
    words = {row.name.text: _words(row) for row in document.rows}
    known = {word for found in words.values() for word in found}
    if name not in known:
        raise UsageError(_none("message, operation or outcome that a row takes", name, known))
    return tuple(row for row in rows if name in words[row.name.text])


def _words(row: Row) -> set[str]:
    """Return the names by which `on:` says what a row takes: its call's, without arguments."""
    tree = row.on.tree if row.on is not None else None
    node = tree.func if isinstance(tree, ast.Call) else tree
    if not isinstance(node, ast.expr):
        return set()
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def _refuse_unknown_state(document: Document, state: str) -> None:
    known = {name for table in document.tables.values() for name, _ in table.states}
    if state not in known:
        raise UsageError(_none("state", state, known))


def _meant(facts: Facts, name: str) -> set[str]:
    """Return the variables that a name means, its component left out or not."""
    meant = {item for item in facts.variables if item == name or item.endswith(f".{name}")}
    if not meant:
        raise UsageError(_none("variable", name, facts.variables))
    return meant


def touched(machines: Iterable[Machine]) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the variables that each row reads and those it writes, in any of the machines."""
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for machine in machines:
        for action in machine.actions:
            reads, writes = found.get(action.name, (frozenset(), frozenset()))
            found[action.name] = reads | _read(action), writes | _written(action)
    return found


def _read(action: Action) -> set[str]:
    return {node.variable for node in walk(action) if isinstance(node, t.Read)}


def _written(action: Action) -> set[str]:
    writing = (t.Assign, t.Transition, t.Delete, t.Send, t.Receive)
    return {node.place.variable for node in walk(action) if isinstance(node, writing)}


def _none(kind: str, name: str, known: Iterable[str]) -> str:
    close = nearest(name, sorted(known))
    return f"there is no {kind} called {name!r}" + (f"; did you mean {close}?" if close else "")
