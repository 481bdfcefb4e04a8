"""The one walk over the representation: what stands inside a node, and nodes made anew.

A *node* is a term, a statement, or what holds them: a place, a step, a generator, an action. Which
fields of a class hold nodes is read off their annotations, once a class, so that a new kind of node
is known everywhere as soon as it is declared.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args

from checker.machine import terms as t
from checker.machine.terms import Statement, Term

Node = object

Kind = TypeVar("Kind")

TERMS = get_args(Term)
"""The classes of terms."""

_STATEMENTS = get_args(Statement)
_TERM_TYPES = frozenset(TERMS)
_STATEMENT_TYPES = frozenset(_STATEMENTS)
_HOLDS_NODES = re.compile(r"\b(Term|Statement|Place|Step|Generator|Binding)\b")
_HOLDS_STATEMENTS = re.compile(r"\bStatement\b")
_SAYS_WHERE = frozenset({"type", "span"})


_PARTS: dict[type, tuple[str, ...]] = {}
_PLAIN: dict[type, tuple[str, ...]] = {}


def parts(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a node's class that hold nodes, in order."""
    if kind not in _PARTS:
        held = (item.name for item in fields(kind) if _HOLDS_NODES.search(str(item.type)))
        _PARTS[kind] = tuple(held)
    return _PARTS[kind]


def plain(kind: type) -> tuple[str, ...]:
    """Return the names of the fields that say what a node is: no nodes, neither type nor span."""
    if kind not in _PLAIN:
        held = {*parts(kind), *_SAYS_WHERE}
        _PLAIN[kind] = tuple(item.name for item in fields(kind) if item.name not in held)
    return _PLAIN[kind]


class _Ways(dict[type, Callable[[Node], list[Any]]]):
    """By a node's class, what finds something in it; worked out when first asked for."""

    def __init__(self, find: Callable[[type], Callable[[Node], list[Any]]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, kind: type) -> Callable[[Node], list[Any]]:
        way = self[kind] = self._find(kind)
        return way


_ONE_NODE = frozenset({"Term", "Place"})
_ROW_OF_NODES = frozenset(
    {"tuple[Term, ...]", "tuple[Statement, ...]", "tuple[Step, ...]", "tuple[Generator, ...]"}
)


def children(node: Node) -> list[Node]:
    """Return the nodes directly inside a node, in order."""
    return _INSIDE[type(node)](node)


def _looking_into(kind: type) -> Callable[[Node], list[Node]]:
    """Return what finds the nodes in a node of a class: short for what most classes are like."""
    names = parts(kind)
    if not names:
        return lambda _: []
    held = operator.attrgetter(*names)
    said = {str(item.type) for item in fields(kind) if item.name in names}
    if said <= _ONE_NODE:
        return (lambda node: [held(node)]) if len(names) == 1 else (lambda node: list(held(node)))
    if len(names) == 1 and said <= _ROW_OF_NODES:
        return lambda node: list(held(node))

    def inside(node: Node) -> list[Node]:
        found: list[Node] = []
        for value in (held(node),) if len(names) == 1 else held(node):
            if type(value) is tuple:
                _add_nodes(value, found)
            elif value is not None:
                found.append(value)
        return found

    return inside


_INSIDE = _Ways(_looking_into)

_IS_NODE: dict[type, bool] = {}


def _add_nodes(value: tuple[Any, ...], found: list[Node]) -> None:
    for item in value:
        kind = type(item)
        if kind is tuple:
            _add_nodes(item, found)
            continue
        node = _IS_NODE.get(kind)
        if node is None:
            node = _IS_NODE[kind] = is_dataclass(kind)
        if node:
            found.append(item)


def terms_inside(node: Node) -> list[Term]:
    """Return the terms directly inside a node, those of its places and generators included.

    What statements inside a statement hold is not among them.
    """
    return _TERMS_INSIDE[type(node)](node)


def _looking_for_terms(kind: type) -> Callable[[Node], list[Term]]:
    """Return what finds the terms in a node of a class: all that is in it, for most classes."""
    said = " ".join(str(item.type) for item in fields(kind) if item.name in parts(kind))
    if set(_HOLDS_NODES.findall(said)) <= {"Term"}:
        return _INSIDE[kind]

    def inside(node: Node) -> list[Term]:
        found: list[Term] = []
        for child in children(node):
            if type(child) in _TERM_TYPES:
                found.append(child)  # type: ignore[arg-type]
            elif type(child) not in _STATEMENT_TYPES:
                found += terms_inside(child)
        return found

    return inside


_TERMS_INSIDE = _Ways(_looking_for_terms)


def statements_inside(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements and all statements inside them, outer before inner."""
    waiting = list(statements)
    waiting.reverse()
    while waiting:
        statement = waiting.pop()
        yield statement
        kind = type(statement)
        names = _STATEMENT_PARTS.get(kind)
        if names is None:
            names = _STATEMENT_PARTS[kind] = _holding_statements(kind)
        for name in reversed(names):
            waiting.extend(reversed(getattr(statement, name)))


_STATEMENT_PARTS: dict[type, tuple[str, ...]] = {}


def _holding_statements(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a statement's class that hold statements, in order."""
    held = (item.name for item in fields(kind) if _HOLDS_STATEMENTS.search(str(item.type)))
    return tuple(held)


def walk(*nodes: Node) -> Iterator[Node]:
    """Yield nodes and everything inside them, outer before inner, in order."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        inside = _INSIDE[type(node)](node)
        if inside:
            inside.reverse()
            waiting += inside


def rebuild(node: Kind, change: Callable[[Term], Term]) -> Kind:
    """Return a node with each term directly inside it (see `terms_inside`) changed.

    It is the node itself where nothing did change.
    """
    kind = type(node)
    names = _PARTS.get(kind)
    changed: dict[str, object] = {}
    for name in parts(kind) if names is None else names:
        before = getattr(node, name)
        after = change(before) if type(before) in _TERM_TYPES else _rebuilt(before, change)
        if after is not before:
            changed[name] = after
    return _replaced(node, changed) if changed else node


def _replaced(node: Kind, changed: dict[str, object]) -> Kind:
    """Return a node with some of its fields changed: `replace`, in a third of the time."""
    kind = type(node)
    names = kind.__match_args__  # type: ignore[attr-defined]
    return kind(*[changed[name] if name in changed else getattr(node, name) for name in names])


def _rebuilt(value: object, change: Callable[[Term], Term]) -> object:
    kind = type(value)
    if kind is tuple:
        items = tuple([_rebuilt(item, change) for item in value])  # type: ignore[attr-defined]
        same = all(map(operator.is_, items, value))  # type: ignore[call-overload]
        return value if same else items
    if kind in _TERM_TYPES:
        return change(value)  # type: ignore[arg-type]
    if kind is t.Place or kind is t.Step or kind is t.Generator:
        return rebuild(value, change)
    return value


def mentioned(*nodes: Node) -> set[str]:
    """Return the names of the locals that nodes read."""
    return {node.name for node in walk(*nodes) if isinstance(node, t.Local)}


def names_given(*nodes: Node) -> tuple[str, ...]:
    """Return the names that terms in nodes give to values, each once, in order."""
    names = (node.name for node in walk(*nodes) if isinstance(node, t.Let | t.Generator))
    return tuple(dict.fromkeys(names))


def variables_read(*nodes: Node) -> set[str]:
    """Return the names of the variables that nodes read."""
    return {node.variable for node in walk(*nodes) if isinstance(node, t.Read)}
