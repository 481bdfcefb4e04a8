"""A system under other names: what it declares gets a prefix, or is something of whoever uses it.

Only names change. Every cell keeps its place and its text, so that messages point into the file
where it is written; what it says here stands beside the text, for whoever shows it.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from checker.frozen import frozen
from checker.source import Heading, Source, Span
from checker.table.declarations import prefix_of_ids
from checker.table.document import (
    BindingEntry,
    Calls,
    Cell,
    Channel,
    Component,
    Constant,
    Definition,
    Document,
    Edit,
    FairGroupEntry,
    Fault,
    MachineEntry,
    Message,
    NamedType,
    Operation,
    Outcome,
    Procedure,
    PropertyEntry,
    Row,
    Timer,
    TypeEnum,
    TypeName,
    TypeUnion,
    VariableEntry,
    Word,
)
from checker.table.state_table import StateTable

DECLARING = (
    "constants",
    "types",
    "messages",
    "components",
    "machines",
    "variables",
    "channels",
    "calls",
    "operations",
    "timers",
    "definitions",
    "procedures",
)
"""The sections whose names are those of expressions: each means one thing in a system."""

TYPES = ("constants", "types", "messages", "channels", "calls")
"""The sections whose names may stand as types; a table may be called like anything else."""

_CALLED = frozenset({"requests", "responses"})
"""Built-in functions that a place of the state may share its name with."""

_CONSTANTS = frozenset({"true", "false", "none", "empty"})
"""Words that mean themselves, whatever an enum calls its values."""

_GENERATED = ("lose", "duplicate", "reorder", "late_cancel", "ignore")
"""What rows and budgets begin with that are made for a channel, a timer or a message."""

_ROLES: Mapping[type, Mapping[str, str]] = {
    **{
        kind: {"name": "word"}
        for kind in (Constant, NamedType, Message, Component, Operation, Timer)
    },
    MachineEntry: {"name": "word"},
    VariableEntry: {"name": "word"},
    Channel: {"name": "word", "carries": "word", "origin": "word", "target": "word"},
    Calls: {
        "name": "word",
        "requests": "word",
        "responses": "word",
        "origin": "word",
        "target": "word",
    },
    Fault: {"name": "fault"},
    Outcome: {"fault": "fault"},
    Definition: {"name": "word", "parameters": "word", "lets": "word"},
    Procedure: {"name": "word", "parameters": "word"},
    BindingEntry: {"name": "word"},
    Row: {"name": "row", "lets": "word", "fault": "fault", "actor": "word"},
    PropertyEntry: {"name": "other"},
    FairGroupEntry: {"name": "other", "rows": "row", "per": "word"},
    TypeUnion: {"names": "word"},
}
"""Which words of the parts of a system are names, and of what; all others stay as they are."""


@frozen()
class Renaming:
    """What the names of a system are called where it is used.

    `words` are what it declares for expressions, and locals that would be taken for something of
    the other system; `types` those of them that can stand as a type, `carriers`
    those that carry messages. `values` has the type of each
    state, enum value and id that only one type has, `ids` that of counted ids and what their names
    begin with here, by what they begin with there; `bound` are names that are locals in any case.
    """

    prefix: str
    words: Mapping[str, str]
    rows: Mapping[str, str]
    faults: Mapping[str, str]
    types: frozenset[str]
    carriers: frozenset[str]
    values: Mapping[str, str]
    ids: Mapping[str, tuple[str, str]]
    bound: frozenset[str]
    tables: Mapping[str, frozenset[str]]

    def name(self, role: str, name: str) -> str:
        """Return what a declared name is called."""
        match role:
            case "word":
                return self.words.get(name, name)
            case "row":
                return self.rows.get(name) or self.generated(name)
            case "fault":
                return self.faults.get(name, name)
            case _:
                return f"{self.prefix}_{name}"

    def generated(self, name: str) -> str:
        """Return the name of a row or budget that is made for something of the system."""
        for kind in _GENERATED:
            rest = name.removeprefix(f"{kind}_")
            if rest != name and rest in self.words:
                return f"{kind}_{self.words[rest]}"
        return name

    def budget(self, name: str) -> str:
        """Return the name of a fault's budget, or of a generated row's."""
        return self.faults.get(name) or self.generated(name)

    def value(self, name: str) -> tuple[str, str] | None:
        """Return type and name of a state, enum value or id that is to be told apart, or None."""
        owner = self.values.get(name)
        if owner is not None:
            return owner, name
        begin, number = parts_of_id(name)
        if begin not in self.ids or name in self.bound:
            return None
        owner, here = self.ids[begin]
        return owner, f"{here}{number}"

    def __call__(self, part: Any, *, member: bool = False) -> Any:
        """Return a part of the system under its names here; `member` of a component."""
        match part:
            case Cell():
                return _renamed_cell(part, self)
            case BindingEntry(node=TypeName(name=domain) as node) if domain in self.words:
                # What a binding runs over may be anything with a name, not only a type.
                node = replace(node, name=self.words[domain])
                return replace(part, name=self._named("word", part.name), node=node)
            case TypeName():
                known = part.name in self.types
                return replace(part, name=self.words[part.name]) if known else part
            case tuple():
                return tuple(self(item, member=member) for item in part)
            case Word() | Span() | TypeEnum() | StateTable() | Heading() | Source():
                return part
        if not is_dataclass(part) or isinstance(part, type):
            return part
        roles = dict(_ROLES.get(type(part), {}))
        if member:
            roles.pop("name", None)
        inside = isinstance(part, Component)
        changed = {}
        for item in fields(part):
            old = getattr(part, item.name)
            new = self(old, member=inside)
            if item.name in roles:
                new = self._named(roles[item.name], new)
            if new is not old:
                changed[item.name] = new
        return replace(part, **changed) if changed else part

    def _named(self, role: str, item: Any) -> Any:
        """Return a word, or the words of a tuple, under their names; cells beside them stay."""
        if isinstance(item, tuple):
            return tuple(self._named(role, part) for part in item)
        return Word(self.name(role, item.text), item.span) if isinstance(item, Word) else item


# --------------------------------------------------------------------------------- expressions


def _renamed_cell(cell: Cell, names: Renaming) -> Cell:
    trees = _Trees(names)
    whole = cell.tree
    if isinstance(whole, ast.expr):
        tree: Any = trees.visit(copy.deepcopy(whole))
    else:
        tree = tuple(trees.visit(copy.deepcopy(part)) for part in whole)
    if not trees.edits:
        return cell
    kept = {edit[:2]: edit for edit in cell.edits}
    for line, begin, end, name in trees.edits:
        # What was renamed before is as long in the text as it was there.
        before = kept.get((line, begin))
        kept[line, begin] = (line, begin, end if before is None else before[2], name)
    return replace(cell, tree=tree, edits=tuple(kept.values()))


class _Trees(ast.NodeTransformer):
    """Puts the new names into a tree, and keeps where in the text they stand."""

    def __init__(self, names: Renaming) -> None:
        self._names = names
        self.edits: list[Edit] = []

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._names.value(node.id) if isinstance(node.ctx, ast.Load) else None
        if value is not None and node.id not in self._names.words:
            owner = ast.copy_location(ast.Name(value[0], ast.Load()), node)
            self._edit(node, ".".join(value))
            return ast.copy_location(ast.Attribute(owner, value[1], ast.Load()), node)
        self._edit_name(node, self._names.words.get(node.id, node.id))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        base, names = node.value, self._names
        root = base.value if isinstance(base, ast.Subscript) else base
        match base:
            case ast.Name("budget"):
                self._attribute(node, names.budget(node.attr))
                return node
            case ast.Name(word) if node.attr in names.tables.get(word, ()):
                return node
            case ast.Name(word) if (base.col_offset, base.end_col_offset) == (
                node.col_offset,
                node.end_col_offset,
            ):
                # A value that got its type's name when a system that is used here used another.
                base.id = names.words.get(word, word)
                self._edit(node, f"{base.id}.{node.attr}")
                return node
            case ast.Name(word) if (value := names.value(node.attr)) is not None:
                if names.words.get(word) == value[0]:
                    self._attribute(node, value[1])
        if isinstance(root, ast.Name) and root.id in names.carriers:
            self._attribute(node, names.words.get(node.attr, node.attr))
        node.value = self.visit(base)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node.func:
            case ast.Name("ran" | "enabled"):
                for row in node.args[:1]:
                    if isinstance(row, ast.Name):
                        self._edit_name(row, self._names.name("row", row.id))
                for keyword in node.keywords:
                    self._keyword(keyword)
            case ast.Name(word) if word in _CALLED or word not in self._names.words:
                node.args = [self.visit(item) for item in node.args]
                node.keywords = [self.visit(item) for item in node.keywords]
            case _:
                self.generic_visit(node)
        return node

    def _keyword(self, node: ast.keyword) -> None:
        """Rename a binding of a row in `ran(row, name=value)`."""
        node.value = self.visit(node.value)
        new = self._names.words.get(node.arg or "")
        if new is not None and node.arg is not None:
            end = node.col_offset + len(node.arg.encode())
            self.edits.append((node.lineno, node.col_offset, end, new))
            node.arg = new

    def _edit_name(self, node: ast.Name, new: str) -> None:
        if new != node.id:
            self._edit(node, new)
            node.id = new

    def _attribute(self, node: ast.Attribute, new: str) -> None:
        base, line, end = node.value, node.end_lineno, node.end_col_offset
        if new != node.attr and line is not None and end is not None and line == base.end_lineno:
            self.edits.append((line, (base.end_col_offset or 0) + 1, end, new))
        node.attr = new

    def _edit(self, node: ast.expr, new: str) -> None:
        end = node.end_col_offset
        if end is not None and end > node.col_offset:
            self.edits.append((node.lineno, node.col_offset, end, new))


# ------------------------------------------------------------------------------------ the names


def parts_of_id(name: str) -> tuple[str, str]:
    """Return what the name of a counted id begins with, and its number; no number: it is none."""
    match = re.fullmatch(r"(.*?)([1-9]\d*)", name)
    return (name, "") if match is None else (match[1], match[2])


def declared(document: Document) -> dict[str, str]:
    """Return every name that a system declares for expressions, with its section."""
    return {
        entry.name.text: section for section in DECLARING for entry in getattr(document, section)
    }


def locals_of(document: Document, bound: Collection[str]) -> set[str]:
    """Return the names in a system that mean nothing elsewhere: bindings and locals.

    `bound`: what `bound_in` says of it.
    Built-in words are among them; nothing else is called so.
    """
    known = {*declared(document), *(value for value, _ in _owned(document, {}))}
    ids = {ids_begin_with(item) for item in document.constants if item.ids_count is not None}
    return {
        name
        for name in _mentioned(document)
        if name not in known and (name in bound or parts_of_id(name)[0] not in ids)
    }


def ids_begin_with(constant: Constant) -> str:
    """Return what the names of counted ids begin with."""
    own = constant.prefix
    return prefix_of_ids(constant.name.text) if own is None else own.text


def _mentioned(part: object) -> Iterator[str]:
    if isinstance(part, Cell):
        yield from (node.id for node in part.nodes() if isinstance(node, ast.Name))
    elif isinstance(part, tuple):
        for item in part:
            yield from _mentioned(item)
    elif isinstance(part, (StateTable, Span, Heading, Source, Word)):
        return
    elif is_dataclass(part) and not isinstance(part, type):
        roles = _ROLES.get(type(part), {})
        for item in fields(part):
            value = getattr(part, item.name)
            if roles.get(item.name) == "word":
                yield from _words(value)
            yield from _mentioned(value)


def _words(item: object) -> Iterator[str]:
    if isinstance(item, Word):
        yield item.text
    elif isinstance(item, tuple):
        for part in item:
            yield from _words(part)


def values_of(
    document: Document, names: Mapping[str, str], bound: Collection[str]
) -> dict[str, str]:
    """Return each state, enum value and id that one type has, with that type's name here.

    Such a name is written with its type where the system is used, so that a type of the same
    words there changes nothing. What the system itself calls something so is left as it is.
    """
    owners: dict[str, list[str]] = {}
    for value, owner in _owned(document, names):
        owners.setdefault(value, []).append(owner)
    return {
        value: found[0]
        for value, found in owners.items()
        if len(found) == 1 and value not in {*bound, *names, *_CONSTANTS}
    }


def _owned(document: Document, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each state, enum value and id with a name of its own, and its type's name."""
    for table in document.tables.values():
        yield from ((state, table.name) for state, _ in table.states)
    for kind in document.types:
        if isinstance(kind.node, TypeEnum):
            owner = names.get(kind.name.text, kind.name.text)
            yield from ((member.text, owner) for member in kind.node.members)
    for constant in document.constants:
        owner = names.get(constant.name.text, constant.name.text)
        if not constant.symmetric:
            members = (*(constant.one_of or ()), *(constant.ids_names or ()))
            yield from ((member.text, owner) for member in members)


def bound_in(document: Document) -> set[str]:
    """Return the names that something in the system gives a value to."""
    bound = set()
    for part in parts_of(document):
        if isinstance(part, Cell):
            bound |= {
                node.id
                for node in part.nodes()
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
        elif isinstance(part, (Definition, Procedure)):
            bound |= {word.text for word in part.parameters}
        elif isinstance(part, BindingEntry):
            bound.add(part.name.text)
        if isinstance(part, (Row, Definition)):
            bound |= {word.text for word, _ in part.lets}
        if isinstance(part, Row) and part.on is not None:
            bound |= set(_taken(document, part.on.tree))
    return bound


def _taken(document: Document, tree: object) -> Iterator[str]:
    """Yield the arguments of `on:` that are no values of the fields at which they stand."""
    if not isinstance(tree, ast.Call):
        return
    fields_of = {entry.name.text: entry.fields for entry in document.messages}
    fields_of |= {entry.name.text: entry.captures for entry in document.operations}
    fields_of |= {entry.name.text: entry.captures for entry in document.timers}
    owners: dict[str, set[str]] = {}
    for value, owner in _owned(document, {}):
        owners.setdefault(value, set()).add(owner)
    names = [node for node in ast.walk(tree.func) if isinstance(node, (ast.Name, ast.Attribute))]
    words = [node.id if isinstance(node, ast.Name) else node.attr for node in names]
    declared_fields = next((fields_of[word] for word in words if word in fields_of), ())
    kinds = {word.text: _type_names(node) for word, node in declared_fields}
    given = list(zip(kinds, tree.args, strict=False))
    given += [(keyword.arg or "", keyword.value) for keyword in tree.keywords]
    for name, node in given:
        if isinstance(node, ast.Name) and not owners.get(node.id, set()) & kinds.get(name, set()):
            yield node.id


def _type_names(node: object) -> set[str]:
    return {part.name for part in parts_of(node) if isinstance(part, TypeName)}


def parts_of(part: object) -> Iterator[object]:
    """Yield every part of some sections, each before what stands in it."""
    if isinstance(part, tuple):
        for item in part:
            yield from parts_of(item)
    elif is_dataclass(part) and not isinstance(part, (type, StateTable, Span, Source, Heading)):
        yield part
        if not isinstance(part, Cell):
            for item in fields(part):
                yield from parts_of(getattr(part, item.name))
