"""Walks over terms and statements: what they mention, how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from checker.machine import terms as t

Node = object

_PASSIVE = frozenset({"type", "span", "operator", "when_full", "label", "table", "kind", "strict"})


_PARTS: dict[type, tuple[str, ...]] = {}


def _parts(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a node's class that may hold nodes."""
    if kind not in _PARTS:
        names = (field.name for field in fields(kind)) if is_dataclass(kind) else ()
        _PARTS[kind] = tuple(name for name in names if name not in _PASSIVE)
    return _PARTS[kind]


def children(node: Node) -> Iterator[Node]:
    """Yield the terms, statements, places, steps and generators directly inside a node."""
    for name in _parts(type(node)):
        yield from _nodes(getattr(node, name))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)
    elif is_dataclass(value) and not isinstance(value, type):
        yield value


def walk(*nodes: Node) -> Iterator[Node]:
    """Yield nodes and everything inside them, outer before inner, in order."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(children(node))))


def mentioned(*nodes: Node) -> set[str]:
    """Return the names of the locals that nodes read."""
    return {node.name for node in walk(*nodes) if isinstance(node, t.Local)}


def variables_read(*nodes: Node) -> set[str]:
    """Return the names of the variables that nodes read."""
    return {node.variable for node in walk(*nodes) if isinstance(node, t.Read)}
