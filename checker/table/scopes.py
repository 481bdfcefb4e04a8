"""Which names a part of a system binds, and which words name a value of some type there.

A name that a row or definition binds means that there, whatever it means elsewhere; every other
name means what the system declares, or a state, enum value or id.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass

from checker.source import Heading, Source, Span
from checker.table.declarations import prefix_of_ids
from checker.table.document import (
    BindingEntry,
    Cell,
    Constant,
    Definition,
    Document,
    FairGroupEntry,
    Procedure,
    PropertyEntry,
    Row,
    TypeEnum,
    TypeName,
    TypeNode,
    TypeOf,
    Unhandled,
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

SCOPES = (Row, Unhandled, Definition, Procedure, PropertyEntry, FairGroupEntry)
"""What binds names for all of its cells."""

CONSTANTS = frozenset({"true", "false", "none", "empty"})
"""Words that mean themselves, whatever an enum calls its values."""

CANCELLED = "cancelled"
"""What every row of an expiry binds: whether its timer was cancelled."""

POSITION = "position"
"""The last binding of a row that takes a message from a queue: which one, from 0 on."""

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

Owners = Mapping[str, frozenset[str]]
"""The types of each state, enum value and id with a name of its own; what counted ids begin with
stands there with a `#` behind it."""


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


def declared(document: Document) -> dict[str, str]:
    """Return every name that a system declares for expressions, with its section."""
    return {
        entry.name.text: section for section in DECLARING for entry in getattr(document, section)
    }


# -------------------------------------------------------------------------------------- values


def parts_of_id(name: str) -> tuple[str, str]:
    """Return what the name of a counted id begins with, and its number; no number: it is none."""
    match = re.fullmatch(r"(.*?)([1-9]\d*)", name)
    return (name, "") if match is None else (match[1], match[2])


def ids_begin_with(constant: Constant) -> str:
    """Return what the names of counted ids begin with."""
    own = constant.prefix
    return prefix_of_ids(constant.name.text) if own is None else own.text


def counted_ids(constant: Constant, count: int) -> tuple[str, ...]:
    """Return the names of so many counted ids."""
    begin = ids_begin_with(constant)
    return tuple(f"{begin}{number}" for number in range(1, count + 1))


def owners_in(document: Document) -> Owners:
    """Return the types of the values that can be named, by their names in this system."""
    found: dict[str, set[str]] = {}
    for table in document.tables.values():
        for state, _ in table.states:
            found.setdefault(state, set()).add(table.name)
    for kind in document.types:
        if isinstance(kind.node, TypeEnum):
            for member in kind.node.members:
                found.setdefault(member.text, set()).add(kind.name.text)
    for constant in document.constants:
        members = [*(constant.one_of or ()), *(constant.ids_names or ())]
        words = [] if constant.symmetric else [member.text for member in members]
        words += [] if constant.ids_count is None else [f"{ids_begin_with(constant)}#"]
        for word in words:
            found.setdefault(word, set()).add(constant.name.text)
    return {word: frozenset(types) for word, types in found.items()}


def of_all(several: Iterable[Owners]) -> Owners:
    """Return the types that values have in any of several systems."""
    found: dict[str, frozenset[str]] = {}
    for owners in several:
        for word, types in owners.items():
            found[word] = found.get(word, frozenset()) | types
    return found


def owners_of(word: str, owners: Owners) -> frozenset[str]:
    """Return the types that have a value of this name."""
    begin, number = parts_of_id(word)
    counted = owners.get(f"{begin}#", frozenset()) if number else frozenset()
    return owners.get(word, frozenset()) | counted


# ----------------------------------------------------------------------------------- what is bound


def bound_by(generator: ast.comprehension) -> set[str]:
    """Return the names that a generator of a comprehension binds."""
    return {node.id for node in ast.walk(generator.target) if isinstance(node, ast.Name)}


def bound_in(document: Document, part: object, owners: Owners) -> frozenset[str]:
    """Return the names that a part of a system binds for all of its cells.

    Those of a comprehension are bound in it alone, and not among them, nor what is declared.
    """
    bound: set[str] = set()
    for item in parts_of(part):
        match item:
            case Cell():
                bound |= set(_assigned(item))
            case Definition() | Procedure():
                bound |= {word.text for word in item.parameters}
            case BindingEntry():
                bound.add(item.name.text)
            case FairGroupEntry():
                bound |= {word.text for word in item.per}
            case Unhandled():
                bound |= set(_taken(document, item.message, owners))
        if isinstance(item, (Row, Definition)):
            bound |= {word.text for word, _ in item.lets}
        if isinstance(item, Row) and item.on is not None:
            bound |= {"call", *_taken(document, item.on, owners)}
    return frozenset(bound - declared(document).keys())


def is_given(document: Document, row: str, word: str) -> bool:
    """Whether a row, which may be a generated one, has a binding that the language names.

    That is called so whatever else is.
    """
    written = next((item for item in document.rows if item.name.text == row), None)
    if written is None:
        return word == POSITION
    timers = {item.name.text for item in document.timers}
    return word == CANCELLED and root_of(written.on) in timers


def kind_of(entry: Unhandled) -> str:
    """Return the name of the message that no row takes: of `Kind` or `channel[x].Kind(...)`."""
    tree = entry.message.tree
    kind = tree.func if isinstance(tree, ast.Call) else tree
    assert isinstance(kind, ast.expr)
    return kind.attr if isinstance(kind, ast.Attribute) else ast.unparse(kind)


def ignored(document: Document) -> tuple[tuple[Unhandled, str], ...]:
    """Return what is ignored, each with the name of the row that is made for it."""
    entries = [entry for entry in document.unhandled if entry.status == "ignored"]
    names = ignoring(
        [kind_of(entry) for entry in entries], (row.name.text for row in document.rows)
    )
    return tuple(zip(entries, names, strict=True))


def ignoring(kinds: Iterable[str], rows: Iterable[str]) -> Iterator[str]:
    """Yield the name of the row that ignores each of several messages, beside these rows."""
    there = set(rows)
    for kind in kinds:
        yield free_name(f"ignore_{kind}", there)


def free_name(name: str, there: set[str]) -> str:
    """Return `name`, or `name_2` and so on where it is there, and put it there."""
    number, free = 1, name
    while free in there:
        number += 1
        free = f"{name}_{number}"
    there.add(free)
    return free


def root_of(cell: Cell | None) -> str | None:
    """Return the channel, operation or timer that `on:` takes from, where it names one."""
    node: object = cell.tree if cell is not None else None
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def of_all_messages(document: Document, entry: Unhandled, owners: Owners) -> bool:
    """Whether an entry is one of all messages of its kind: it compares no key and no field."""
    nodes = [node for node, _ in _pattern(document, entry.message.tree)]
    names = [node.id for node in nodes if isinstance(node, ast.Name) and node.id != "_"]
    skipped = sum(isinstance(node, ast.Name) and node.id == "_" for node in nodes)
    free = set(names) & bound_in(document, entry, owners)
    return len(free) + skipped == len(nodes)


def _assigned(cell: Cell) -> Iterator[str]:
    """Yield the names that effects give a value to."""
    trees = (cell.tree,) if isinstance(cell.tree, ast.expr) else cell.tree
    rest: list[ast.AST] = [*trees]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, ast.comprehension):
            rest += ast.iter_child_nodes(node)
        else:
            rest += [node.iter, *node.ifs]


def _taken(document: Document, cell: Cell, owners: Owners) -> Iterator[str]:
    """Yield the keys and arguments of `on:` that are no values of the types they stand for."""
    for node, kind in _pattern(document, cell.tree):
        if isinstance(node, ast.Name) and node.id not in CONSTANTS:
            type_ = None if kind is None else _type_named(document, kind)
            if type_ is None or type_ not in owners_of(node.id, owners):
                yield node.id


def _pattern(document: Document, tree: object) -> Iterator[tuple[ast.expr, TypeNode | None]]:
    """Yield what stands in a pattern with the type of the key or field that it stands for."""
    call = tree if isinstance(tree, ast.Call) else None
    func = tree if call is None else call.func
    base = func.value if isinstance(func, ast.Attribute) else None
    inside = base.slice if isinstance(base, ast.Subscript) else None
    root = base.value if isinstance(base, ast.Subscript) else base if base is not None else func
    name = root.id if isinstance(root, ast.Name) else ""
    kind = func.attr if isinstance(func, ast.Attribute) else name
    keyed: dict[str, tuple[TypeNode, ...]] = {}
    keyed |= {item.name.text: item.per for item in document.channels}
    keyed |= {item.name.text: item.per for item in document.timers}
    keyed |= {item.name.text: (item.per,) for item in document.calls}
    keyed |= {item.name.text: (item.per,) for item in document.operations if item.per is not None}
    keys = inside.elts if isinstance(inside, ast.Tuple) else [inside] if inside is not None else []
    kinds = keyed.get(name, ())
    yield from ((key, kinds[n] if n < len(kinds) else None) for n, key in enumerate(keys))
    captured = {item.name.text: item.captures for item in document.operations}
    captured |= {item.name.text: item.captures for item in document.timers}
    fields_of = {item.name.text: item.fields for item in document.messages}
    given = captured[name] if name in captured else fields_of.get(kind, ())
    named = {field.text: node for field, node in given}
    if call is not None:
        nodes = [node for _, node in given]
        yield from ((arg, nodes[n] if n < len(nodes) else None) for n, arg in enumerate(call.args))
        yield from ((word.value, named.get(word.arg or "")) for word in call.keywords)


def _type_named(document: Document, node: TypeNode) -> str | None:
    """Return the type whose values can stand for a key or field, None where they have no names."""
    aliases = {kind.name.text: kind.node for kind in document.types}
    seen: set[str] = set()
    while True:
        match node:
            case TypeOf(kind="optional"):
                node = node.item
            case TypeName(name=name):
                inner = aliases.get(name)
                if inner is None or isinstance(inner, TypeEnum) or name in seen:
                    return name
                if not isinstance(inner, TypeName | TypeOf):
                    return None
                seen.add(name)
                node = inner
            case _:
                return None


def mentioned(parts: Iterable[object]) -> set[str]:
    """Return every name that stands for itself in the cells of some sections."""
    return {
        name for item in parts_of(tuple(parts)) if isinstance(item, Cell) for name in item.names
    }
