"""Slips: what a row may do wrongly without a word of it being wrong by itself.

A value that is lost on the way (a variable takes its first value again), statements in the other
order, a message that is sent twice, a variable or an id that is mistaken for another of its type.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from functools import cached_property

from checker.frozen import frozen
from checker.mutation import parts
from checker.table.document import (
    Cell,
    Document,
    MachineEntry,
    Row,
    TypeMap,
    TypeName,
    TypeNode,
    TypeOf,
    TypeRange,
    VariableEntry,
    cells_of,
)
from checker.table.scopes import Owners, declared, owners_in, owners_of


@frozen()
class Kept:
    """What a process keeps: a variable or machine, and the value that it has at first.

    `owner` is the component that it is in, or its own name outside components, where `field` is
    empty. `keyed`: there is one for each id. `first` is the value as it is shown, `value` its tree.
    """

    owner: str
    field: str
    keyed: bool
    first: str
    value: ast.expr
    kind: str
    """Its type in one line, empty for a machine."""


@frozen(slots=False)
class Slips:
    """What can be confused in a specification, and what can be lost."""

    document: Document

    @cached_property
    def kept(self) -> tuple[Kept, ...]:
        """All variables and machines but those that no row may read: these are no process's."""
        found: list[Kept] = []
        for component in self.document.components:
            keyed = component.per is not None
            entries: list[MachineEntry | VariableEntry] = [*component.machines]
            for entry in (*entries, *component.variables):
                found += self._kept(entry, component.name.text, entry.name.text, keyed=keyed)
        alone: list[MachineEntry | VariableEntry] = [*self.document.machines]
        for entry in (*alone, *self.document.variables):
            found += self._kept(entry, entry.name.text, "", keyed=entry.per is not None)
        return tuple(found)

    def _kept(
        self, entry: MachineEntry | VariableEntry, owner: str, field: str, *, keyed: bool
    ) -> Iterator[Kept]:
        if isinstance(entry, VariableEntry):
            if not entry.observed:
                value = self._value(entry.initial)
                kind = type_text(entry.node)
                yield Kept(owner, field, keyed, entry.initial.words, value, kind)
            return
        table = self.document.tables.get(entry.table.text)
        named = () if entry.initial is None else (entry.initial.text,)
        first = named or (table.initial if table is not None else ())
        if len(first) == 1:
            yield Kept(owner, field, keyed, first[0], parts.value(first[0]), "")

    def _value(self, initial: Cell) -> ast.expr:
        """Return the first value of a variable, for a row that may call something else so."""
        tree = initial.tree
        assert isinstance(tree, ast.expr)
        if isinstance(tree, ast.Name) and tree.id not in self.declared:
            return parts.value(tree.id) if owners_of(tree.id, self._owners) else tree
        return tree

    @cached_property
    def declared(self) -> frozenset[str]:
        """The names that mean what the specification declares, whatever a value is called."""
        return frozenset(declared(self.document))

    @cached_property
    def _owners(self) -> Owners:
        return owners_in(self.document)

    @cached_property
    def alike(self) -> Mapping[tuple[str, str], str]:
        """Of each field of a component, the next one of its type: what it is mistaken for."""
        groups: dict[tuple[str, str], list[str]] = {}
        for item in self.kept:
            if item.field and item.kind:
                groups.setdefault((item.owner, item.kind), []).append(item.field)
        return {
            (owner, field): fields[(place + 1) % len(fields)]
            for (owner, _), fields in groups.items()
            for place, field in enumerate(fields)
            if len(fields) > 1
        }

    @cached_property
    def _bodies(self) -> Mapping[str, frozenset[str]]:
        """Of each procedure and definition, the words of it and of what it uses."""
        document = self.document
        bodies = [(item.name.text, item.body) for item in document.procedures]
        bodies += [(item.name.text, item.body) for item in document.definitions]
        own = {name: frozenset(_words(body.tree)) for name, body in bodies}
        while True:
            more = {
                name: words.union(*(own.get(w, ()) for w in words)) for name, words in own.items()
            }
            if more == own:
                return own
            own = more

    def words(self, tree: ast.AST | tuple[ast.stmt, ...]) -> frozenset[str]:
        """Return the words of a piece of text, with those of the procedures that it calls."""
        own = frozenset(_words(tree))
        return own.union(*(self._bodies.get(word, ()) for word in own))

    @cached_property
    def shared(self) -> frozenset[str]:
        """The names of what statements can read and write: variables, machines and channels."""
        names = {item.field or item.owner for item in self.kept}
        document = self.document
        names |= {item.name.text for item in document.channels}
        names |= {item.name.text for item in document.calls}
        names |= {item.name.text for item in document.operations}
        return frozenset(names | {item.name.text for item in document.timers})

    def meet(self, one: ast.stmt, two: ast.stmt) -> bool:
        """Return whether it may matter which of two statements goes first."""
        return bool(self.words(one) & self.words(two) & self.shared)

    def losses(self, row: Row, known: frozenset[str]) -> Iterator[tuple[str, Kept]]:
        """Yield the places of what a row's process keeps.

        What is `known` at its end are names of its own, beside those that its trigger binds.
        """
        trees = [tree for cell in cells_of(row) for tree in _trees(cell)]
        if row.on is not None:
            known |= row.on.names
        words = {word for tree in trees for word in self.words(tree)}
        keys = _keys(trees, known)
        for item in self.kept:
            dot = f".{item.field}" if item.field else ""
            if not item.keyed and item.owner in words:
                yield f"{item.owner}{dot}", item
            for key in sorted(keys.get(item.owner, ())) if item.keyed else ():
                yield f"{item.owner}[{key}]{dot}", item

    def names_alike(self, row: Row) -> Mapping[str, str]:
        """Return for each name that a row binds the next one that it binds of the same type."""
        groups: dict[str, list[str]] = {}
        for name, kind in self._bound(row):
            if kind:
                groups.setdefault(kind, []).append(name)
        return {
            name: names[(place + 1) % len(names)]
            for names in groups.values()
            for place, name in enumerate(names)
            if len(names) > 1
        }

    def _bound(self, row: Row) -> Iterator[tuple[str, str]]:
        """Yield the names that a row binds, with their types where those are written."""
        for entry in row.bindings:
            if entry.node is not None:
                yield entry.name.text, type_text(entry.node)
        tree = None if row.on is None else row.on.tree
        if not isinstance(tree, ast.Call):
            return
        fields = self._fields.get(parts.base(tree.func), ())
        given = dict(zip((name for name, _ in fields), tree.args, strict=False))
        given |= {item.arg: item.value for item in tree.keywords if item.arg is not None}
        for name, kind in fields:
            match given.get(name):
                case ast.Name(word) if word != "_":
                    yield word, kind

    @cached_property
    def _fields(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        return {
            item.name.text: tuple((name.text, type_text(node)) for name, node in item.fields)
            for item in self.document.messages
        }


def type_text(node: TypeNode) -> str:
    """Return a type in one line; empty for one that is not compared."""
    match node:
        case TypeName():
            return node.name
        case TypeRange():
            return f"{node.low.text}..{node.high.text}"
        case TypeOf():
            item = type_text(node.item)
            return f"{node.kind} of {item}" if item else ""
        case TypeMap():
            key, value = type_text(node.key), type_text(node.value)
            return f"map of {key} to {value}" if key and value else ""
    return ""


def reset(place: str, first: ast.expr, near: ast.AST) -> ast.stmt:
    """Return the statement that gives a place its first value again."""
    (statement,) = ast.parse(f"{place} = 0").body
    assert isinstance(statement, ast.Assign)
    statement.value = copy.deepcopy(first)
    for node in ast.walk(statement):
        ast.copy_location(node, near)
    return statement


def other_field(node: ast.Attribute, alike: Mapping[tuple[str, str], str]) -> ast.expr | None:
    """Return the field of the same component that a field is mistaken for, None for none."""
    match node.value:
        case ast.Name(owner) | ast.Subscript(ast.Name(owner)):
            name = alike.get((owner, node.attr))
            if name is not None:
                other = copy.deepcopy(node)
                other.attr = name
                return other
    return None


def other_key(node: ast.Attribute, alike: Mapping[str, str]) -> ast.expr | None:
    """Return the same field of the id that its own is mistaken for, None for none."""
    match node.value:
        case ast.Subscript(_, ast.Name(key)) if key in alike:
            other = copy.deepcopy(node)
            assert isinstance(other.value, ast.Subscript)
            other.value.slice = ast.copy_location(ast.Name(alike[key], ast.Load()), node)
            return other
    return None


def _trees(cell: Cell) -> tuple[ast.AST, ...]:
    return cell.tree if isinstance(cell.tree, tuple) else (cell.tree,)


def _words(tree: ast.AST | tuple[ast.stmt, ...]) -> Iterator[str]:
    for part in tree if isinstance(tree, tuple) else (tree,):
        for node in ast.walk(part):
            match node:
                case ast.Name(word) | ast.Attribute(_, word):
                    yield word


def _keys(trees: list[ast.AST], known: frozenset[str]) -> Mapping[str, set[str]]:
    """Return for each name the bound ids at which it is looked at."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.Subscript(ast.Name(name), ast.Name(key)) if key in known:
                    found.setdefault(name, set()).add(key)
    return found
