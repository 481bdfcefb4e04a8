"""Versions of a specification that differ in some rows, procedures and definitions, as one.

Each is a mutant of its own: where the variable of woven specifications has its number, its text
stands in the place of the specification's. What else versions differ in cannot be put into one
machine.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from checker.mutation import parts
from checker.source import Span
from checker.table.document import (
    BindingEntry,
    Cell,
    Definition,
    Document,
    Procedure,
    Row,
    Word,
)

Entry = Definition | Procedure | Row
Tree = TypeVar("Tree", bound=ast.AST)

MERGED = frozenset({"definitions", "procedures", "rows", "initial"})
"""Sections in which versions may differ."""

FIXED = frozenset({"name", "on", "only_if", "inside", "fault", "fair", "event"})
"""What all versions of a row have in common; `to` and `send` are woven as statements of `do`."""

TEXTS = frozenset({"path", "about", "source", "abstractions", "files", "headings", "warnings"})
"""What says nothing of behaviour."""


def difference(document: Document, version: Document) -> Document | None:
    """Return a version with only those entries that are others than in a specification.

    None where it differs in something that cannot be chosen while it runs.
    """
    sections = {item.name for item in fields(Document)} - MERGED - TEXTS
    one, two = _entries(document), _entries(version)
    if [(type(item), item.name.text) for item in one] != [
        (type(item), item.name.text) for item in two
    ] or not all(alike(getattr(document, name), getattr(version, name)) for name in sections):
        return None
    changed = {id(there) for here, there in zip(one, two, strict=True) if not alike(here, there)}
    if not all(
        _in_place(here, there) for here, there in zip(one, two, strict=True) if id(there) in changed
    ):
        return None
    return replace(
        version,
        definitions=tuple(item for item in version.definitions if id(item) in changed),
        procedures=tuple(item for item in version.procedures if id(item) in changed),
        rows=tuple(item for item in version.rows if id(item) in changed),
        initial=version.initial if id(version.initial) in changed else None,
    )


def merged(woven: Document, changed: Document, number: int) -> Document:
    """Return `woven` with the entries of a `difference`, in woven form, as mutant `number`."""
    definitions = {item.name.text: item for item in changed.definitions}
    procedures = {item.name.text: item for item in changed.procedures}
    rows = {item.name.text: item for item in changed.rows}
    initial = woven.initial
    if initial is not None and changed.initial is not None:
        initial = _row(initial, changed.initial, number)
    return replace(
        woven,
        definitions=tuple(
            _definition(item, definitions.get(item.name.text, item), number)
            for item in woven.definitions
        ),
        procedures=tuple(
            _procedure(item, procedures.get(item.name.text, item), number)
            for item in woven.procedures
        ),
        rows=tuple(_row(item, rows.get(item.name.text, item), number) for item in woven.rows),
        initial=initial,
    )


def alike(one: object, two: object) -> bool:
    """Whether two parts of documents say the same as they are written, wherever they stand."""
    return one is two or _shape(one) == _shape(two)


def _shape(node: object) -> object:
    match node:
        case Span():
            return None
        case Cell():
            return node.words
        case Word(text=text):
            return text
        case tuple() | list():
            return [_shape(item) for item in node]
        case Mapping():
            return {str(key): _shape(item) for key, item in node.items()}
    if is_dataclass(node):
        told = (item.name for item in fields(node) if item.name not in TEXTS)
        return type(node).__name__, [_shape(getattr(node, name)) for name in told]
    return node


def _entries(document: Document) -> list[Entry]:
    initial = [] if document.initial is None else [document.initial]
    return [*document.definitions, *document.procedures, *document.rows, *initial]


def _in_place(one: Entry, two: Entry) -> bool:
    """Whether what two versions of an entry differ in can be chosen while it runs."""
    if isinstance(one, Row) and isinstance(two, Row):
        return (
            all(alike(getattr(one, name), getattr(two, name)) for name in FIXED)
            and [name.text for name, _ in one.lets] == [name.text for name, _ in two.lets]
            and len(one.bindings) == len(two.bindings)
            and all(
                alike(a, b) or (a.name.text == b.name.text and bool(a.cell and b.cell))
                for a, b in zip(one.bindings, two.bindings, strict=True)
            )
        )
    if isinstance(one, Definition) and isinstance(two, Definition):
        names = [[name.text for name, _ in item.lets] for item in (one, two)]
        return alike(one.parameters, two.parameters) and names[0] == names[1]
    if isinstance(one, Procedure) and isinstance(two, Procedure):
        return alike(one.parameters, two.parameters)
    return False


# ------------------------------------------------------------------------------------------ entries


def _definition(now: Definition, other: Definition, number: int) -> Definition:
    if now is other:
        return now
    lets = _lets(now.lets, other.lets, number)
    return replace(now, body=_value(now.body, other.body, number), lets=lets)


def _procedure(now: Procedure, other: Procedure, number: int) -> Procedure:
    return now if now is other else replace(now, body=_body(now.body, other.body, number))


def _row(now: Row, other: Row, number: int) -> Row:
    if now is other:
        return now
    bindings = zip(now.bindings, other.bindings, strict=True)
    return replace(
        now,
        bindings=tuple(_binding(here, there, number) for here, there in bindings),
        lets=_lets(now.lets, other.lets, number),
        when=_guard(now.when, other.when, number),
        do=_effects(now.do, other.do, number),
    )


def _binding(now: BindingEntry, other: BindingEntry, number: int) -> BindingEntry:
    if now.cell is None or other.cell is None:
        return now
    return replace(now, cell=_value(now.cell, other.cell, number))


def _lets(
    now: tuple[tuple[Word, Cell], ...], other: tuple[tuple[Word, Cell], ...], number: int
) -> tuple[tuple[Word, Cell], ...]:
    return tuple((name, _value(a, b, number)) for (name, a), (_, b) in zip(now, other, strict=True))


def _guard(now: Cell | None, other: Cell | None, number: int) -> Cell | None:
    if now is None and other is None:
        return None
    return _value(now or parts.cell("true"), other or parts.cell("true"), number)


def _effects(now: Cell | None, other: Cell | None, number: int) -> Cell | None:
    if now is None and other is None:
        return None
    return _body(now or _NOTHING, other or _NOTHING, number)


# -------------------------------------------------------------------------------------------- cells


def _value(now: Cell, other: Cell, number: int) -> Cell:
    """Return the expression of a cell, or that of another one in this mutant."""
    here, there = copy.deepcopy(now.tree), copy.deepcopy(other.tree)
    assert isinstance(here, ast.expr)
    assert isinstance(there, ast.expr)
    if parts.same(here, there):
        return now
    chosen = ast.IfExp(parts.is_number(number), _placed(there, here), here)
    return parts.with_tree(now, ast.fix_missing_locations(ast.copy_location(chosen, here)))


def _body(now: Cell, other: Cell, number: int) -> Cell:
    """Return the effects of a cell, or those of another one in this mutant."""
    here, there = copy.deepcopy(now.tree), copy.deepcopy(other.tree)
    assert isinstance(here, tuple)
    assert isinstance(there, tuple)
    if len(here) == len(there) and all(map(parts.same, here, there)):
        return now
    body = [_placed(item, here[0]) for item in there]
    chosen = ast.copy_location(ast.If(parts.is_number(number), body, list(here)), here[0])
    return parts.with_tree(now, (ast.fix_missing_locations(chosen),))


_NOTHING = parts.with_tree(None, tuple(ast.parse("pass").body))
"""The effects of a row without any."""


def _placed(tree: Tree, anchor: ast.AST) -> Tree:
    """Return a tree whose nodes all stand where `anchor` does: its own text is another one."""
    for node in ast.walk(tree):
        ast.copy_location(node, anchor)
    return tree
