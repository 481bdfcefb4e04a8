"""A system under other names: what it declares gets a prefix, or is something of whoever uses it.

Only names change. Every cell keeps its place and its text, so that messages point into the file
where it is written; what it says here stands beside the text, for whoever shows it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

from checker.frozen import frozen
from checker.source import Heading, Source, Span
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
    TypeMap,
    TypeName,
    TypeNode,
    TypeOf,
    TypeUnion,
    Unhandled,
    VariableEntry,
    Word,
)
from checker.table.scopes import (
    CONSTANTS,
    SCOPES,
    Comprehension,
    Owners,
    bound_by,
    bound_in,
    declared,
    is_given,
    mentioned,
    owners_of,
    parts_of,
    parts_of_id,
)
from checker.table.state_table import StateTable

TYPES = ("constants", "types", "messages", "channels", "calls")
"""The sections whose names may stand as types; a table may be called like anything else."""

_CALLED = frozenset({"requests", "responses"})
"""Built-in functions that a place of the state may share its name with."""

_FAIRNESS = frozenset({"weak", "strong"})
"""What is said where rows are fair under a condition, whatever else is called so."""

_COLLECTING = frozenset({"set", "sequence", "bag"})
"""The types of collections, as they are written."""

_GENERATED = ("lose", "duplicate", "reorder", "late_cancel")
"""What rows and budgets begin with that are made for a channel or a timer."""

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
    FairGroupEntry: {"name": "other", "rows": "row"},
    TypeUnion: {"names": "word"},
}
"""Which words of the parts of a system are names, and of what; all others stay as they are."""


class ValueName(ast.Name):
    """The name of a state or value, whatever else is called so where the system is used.

    `table` is the one whose state it is; None where its place tells of which type it is. `called`
    are then the types that have it, each with what it is called there: ids go by their type.
    """

    table: str | None = None
    called: Mapping[str, str] = MappingProxyType({})


ValueName.__name__ = "Name"  # by which visitors of trees go, such as `ast.unparse`


def _value_name(node: ast.expr, name: str, table: str | None) -> ValueName:
    """Return what stands in the place of a node as the name of a value in any case."""
    new = ast.copy_location(ValueName(name, ast.Load()), node)
    new.table = table
    return new


def _of_types(node: ast.Name, called: Mapping[str, str], names: Renaming) -> ValueName:
    """Return the name of a value that several types of a used system have."""
    new = _value_name(node, node.id, None)
    new.called = {
        names.images.get(kind, kind): names.value_of(kind, word) for kind, word in called.items()
    }
    return new


@frozen()
class Renaming:
    """What the names of a system are called where it is used.

    `words` are what it declares for expressions, `ignored` the rows that are made for messages that
    it ignores, `locals` names that it binds and that would be
    taken for something of the other system; `types` those of `words` that can stand as a type,
    `carriers` those that carry messages, `messages` what they carry. `owners` has the types of each
    state, enum value and id, `images` what those types are called here, `ids` what the names of
    counted ids begin with there and here, by their type there. `bound` are the names that the part
    at hand binds: what they are elsewhere is nothing to it.
    """

    prefix: str
    document: Document
    words: Mapping[str, str]
    locals: Mapping[str, str]
    rows: Mapping[str, str]
    ignored: Mapping[str, str]
    faults: Mapping[str, str]
    types: frozenset[str]
    carriers: frozenset[str]
    messages: frozenset[str]
    owners: Owners
    images: Mapping[str, str]
    ids: Mapping[str, tuple[str, str]]
    tables: Mapping[str, frozenset[str]]
    bound: frozenset[str] = frozenset()

    def name(self, role: str, name: str) -> str:
        """Return what a declared name is called."""
        match role:
            case "word":
                return self.word(name)
            case "row":
                return self.rows.get(name) or self.ignored.get(name) or self.generated(name)
            case "fault":
                return self.faults.get(name, name)
            case _:
                return f"{self.prefix}_{name}"

    def word(self, name: str) -> str:
        """Return what a name of expressions is called: one that is bound here, or declared."""
        if name not in self.bound and name in self.words:
            return self.words[name]
        return self.locals.get(name, name)

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
        """Return type and name of a state, enum value or id that one type has, or None."""
        kinds = owners_of(name, self.owners)
        if len(kinds) != 1 or name in self.words or name in CONSTANTS:
            return None
        (kind,) = kinds
        if name in self.tables.get(kind, ()):
            return kind, name
        if name not in self.owners and kind not in self.ids:
            return None
        return self.images.get(kind, kind), self.value_of(kind, name)

    def value_of(self, kind: str, name: str) -> str:
        """Return what a value of a type is called here: counted ids are called by their type."""
        begin, number = parts_of_id(name)
        there, here = self.ids.get(kind, ("", ""))
        return f"{here}{number}" if number and begin == there else name

    def is_of_several_types(self, name: str) -> bool:
        """Whether a name is that of a value which its place has to tell the type of."""
        several = name in _FAIRNESS or len(owners_of(name, self.owners)) > 1
        return several and name not in self.words and name not in CONSTANTS

    def __call__(self, part: Any, *, member: bool = False) -> Any:
        """Return a part of the system under its names here; `member` of a component."""
        match part:
            case Cell():
                return _renamed_cell(part, self)
            case BindingEntry(node=TypeName(name=domain) as node) if domain != self.word(
                domain
            ) and not self.means_states(domain):
                # What a binding runs over may be anything with a name, not only a type.
                node = replace(node, name=self.word(domain))
                return replace(part, name=self.named("word", part.name), node=node)
            case TypeName():
                name = self.words[part.name] if part.name in self.types else part.name
                key, written = part.key or (part.name.lower(), part.name.lower())
                return replace(part, name=name, key=(self.word(key), written))
            case tuple():
                return tuple(self(item, member=member) for item in part)
            case Word() | Span() | TypeEnum() | StateTable() | Heading() | Source():
                return part
        if not is_dataclass(part) or isinstance(part, type):
            return part
        if isinstance(part, SCOPES):
            bound = bound_in(self.document, part, self.owners)
            return _renamed(replace(self, bound=bound), part, member=member)
        return _renamed(self, part, member=member)

    def means_states(self, domain: str) -> bool:
        """Whether a binding over a name runs over the states of the table that is called so."""
        if domain not in self.tables or domain in self.bound:
            return False
        document = self.document
        places: tuple[MachineEntry | VariableEntry, ...] = (*document.machines, *document.variables)
        single = [place.name.text for place in places if _is_one_value(place, document)]
        return domain in (*single, *(entry.name.text for entry in document.components))

    def named(self, role: str, item: Any) -> Any:
        """Return a word, or the words of a tuple, under their names; cells beside them stay."""
        if isinstance(item, tuple):
            return tuple(self.named(role, part) for part in item)
        return Word(self.name(role, item.text), item.span) if isinstance(item, Word) else item


def _is_one_value(entry: MachineEntry | VariableEntry, document: Document) -> bool:
    """Whether a place of the state holds no values that a binding could run over."""
    if isinstance(entry, MachineEntry) or entry.per is not None:
        return entry.per is None
    aliases = {kind.name.text: kind.node for kind in document.types}
    node: TypeNode | None = entry.node
    while isinstance(node, TypeName) and node.name in aliases:
        node = aliases.pop(node.name)
    return not (
        isinstance(node, TypeMap) or (isinstance(node, TypeOf) and node.kind in _COLLECTING)
    )


def _renamed(names: Renaming, part: Any, *, member: bool) -> Any:
    """Return an entry with what is in it renamed."""
    roles = dict(_ROLES.get(type(part), {}))
    if member:
        roles.pop("name", None)
    inside = isinstance(part, Component)
    changed = {}
    for item in fields(part):
        old = getattr(part, item.name)
        new = names(old, member=inside)
        if item.name in roles:
            new = names.named(roles[item.name], new)
        if new is not old:
            changed[item.name] = new
    if isinstance(part, FairGroupEntry):
        rows = [word.text for word in part.rows or ()]
        changed["per"] = tuple(
            word if any(is_given(names.document, row, word.text) for row in rows) else called
            for word, called in zip(part.per, names.named("word", part.per), strict=True)
        )
    return replace(part, **changed) if changed else part


# --------------------------------------------------------------------------------- expressions


def _renamed_cell(cell: Cell, names: Renaming) -> Cell:
    trees = _Trees(names)
    whole = cell.tree
    if isinstance(whole, ast.expr):
        tree: Any = trees.visit(copy.deepcopy(whole))
    else:
        tree = tuple(trees.visit(copy.deepcopy(part)) for part in whole)
    if not trees.edits and not trees.values:
        return cell
    kept = {edit[:2]: edit for edit in cell.edits}
    for line, begin, end, name in trees.edits:
        # What was renamed before is as long in the text as it was there.
        before = kept.get((line, begin))
        kept[line, begin] = (line, begin, end if before is None else before[2], name)
    return replace(cell, tree=tree, edits=tuple(kept.values()))


class _Trees(ast.NodeTransformer):
    """Puts the new names into a tree, and keeps where in the text they stand.

    `values` counts those of values, which may be called as before.
    """

    def __init__(self, names: Renaming) -> None:
        self._names = names
        self.edits: list[Edit] = []
        self.values = 0

    def visit_Name(self, node: ast.Name) -> ast.expr:
        names = self._names
        if isinstance(node, ValueName):
            self.values += 1
            return node if node.table is not None else _of_types(node, node.called, names)
        if isinstance(node.ctx, ast.Load) and node.id not in names.bound:
            if names.is_of_several_types(node.id):
                kinds = sorted(owners_of(node.id, names.owners))
                self.values += 1
                return _of_types(node, dict.fromkeys(kinds, node.id), names)
            value = names.value(node.id)
            if value is not None and node.id in names.tables.get(value[0], ()):
                self._edit(node, ".".join(value))
                return _value_name(node, node.id, value[0])
            if value is not None:
                owner = ast.copy_location(ast.Name(value[0], ast.Load()), node)
                self._edit(node, ".".join(value))
                return ast.copy_location(ast.Attribute(owner, value[1], ast.Load()), node)
        self._edit_name(node, names.word(node.id))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        base, names = node.value, self._names
        root = base.value if isinstance(base, ast.Subscript) else base
        match base:
            case ast.Name(word) if word in names.bound:
                pass
            case ast.Name("budget"):
                self._attribute(node, names.budget(node.attr))
                return node
            case ast.Name(word) if node.attr in names.tables.get(word, ()):
                self.values += 1
                return _value_name(node, node.attr, word)
            case ast.Name(word) if (base.col_offset, base.end_col_offset) == (
                node.col_offset,
                node.end_col_offset,
            ):
                # A value that got its type's name when a system that is used here used another.
                base.id, node.attr = names.words.get(word, word), names.value_of(word, node.attr)
                self._edit(node, f"{base.id}.{node.attr}")
                return node
            case ast.Name(word):
                self._attribute(node, names.value_of(word, node.attr))
        carried = node.attr in names.messages
        if carried and isinstance(root, ast.Name) and root.id in names.carriers - names.bound:
            self._attribute(node, names.words.get(node.attr, node.attr))
        node.value = self.visit(base)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node.func:
            case ast.Name("ran" | "enabled"):
                row = node.args[0] if node.args else None
                word = row.id if isinstance(row, ast.Name) else ""
                for keyword in node.keywords:
                    self._keyword(keyword, word)
                if isinstance(row, ast.Name):
                    self._edit_name(row, self._names.name("row", word))
            case ast.Name(word) if word in _CALLED or word not in self._names.words:
                node.args = [self.visit(item) for item in node.args]
                node.keywords = [self.visit(item) for item in node.keywords]
            case _:
                self.generic_visit(node)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(node)

    def _comprehension(self, node: Comprehension) -> ast.expr:
        """Rename where its generators bind names, each from its own on."""
        outside = self._names
        for generator in node.generators:
            generator.iter = self.visit(generator.iter)
            names = self._names
            self._names = replace(names, bound=names.bound | bound_by(generator))
            generator.target = self.visit(generator.target)
            generator.ifs = [self.visit(item) for item in generator.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self._names = outside
        return node

    def _keyword(self, node: ast.keyword, row: str) -> None:
        """Rename a binding of a row in `ran(row, name=value)`."""
        node.value = self.visit(node.value)
        if node.arg is None or is_given(self._names.document, row, node.arg):
            return
        new = self._names.word(node.arg)
        if new != node.arg:
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


def locals_of(document: Document, owners: Owners) -> tuple[set[str], set[str]]:
    """Return the names in a system that mean nothing elsewhere, and those that `on:` binds.

    Those are bindings, locals, and what is not there. Built-in words are among them; nothing else
    is called so.
    """
    known = declared(document)
    bound: set[str] = set()
    taken: set[str] = set()
    for part in parts_of(document):
        if isinstance(part, SCOPES):
            here = bound_in(document, part, owners)
            bound |= here
            taken |= here if isinstance(part, (Row, Unhandled)) else set()
    free = {name for name in mentioned([document]) if not owners_of(name, owners)}
    free -= _FAIRNESS | _CALLED
    return {name for name in free | bound if name not in known}, taken
