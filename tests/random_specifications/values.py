"""Values and types as the manual describes them, for the explorer of these tests alone.

A type is a tuple whose first item says what it is. Maps and records are hashable; an `empty` that
nothing has given a type yet is EMPTY.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple


class FailedError(Exception):
    """Something has no value: an evaluation error."""


class Map(dict[Any, Any]):
    """A map that can be a part of a state; never changed once it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


class Record(NamedTuple):
    """A record, a message, a handle or a slot: its kind and its fields in order."""

    kind: str
    fields: tuple[tuple[str, Any], ...]

    def get(self, name: str) -> Any:
        for field, value in self.fields:
            if field == name:
                return value
        raise FailedError(f"{self.kind} has no {name}")

    def has(self, name: str) -> bool:
        return any(field == name for field, _ in self.fields)

    def replaced(self, name: str, value: Any) -> Record:
        self.get(name)
        changed = tuple((f, value if f == name else v) for f, v in self.fields)
        return Record(self.kind, changed)


class Empty:
    """The collection without items, of whatever type its place has: equal to any other without."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (*COLLECTIONS, Bag)) and len(other) == 0

    def __hash__(self) -> int:
        return hash(frozenset())

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Any:
        return iter(())


EMPTY = Empty()
COLLECTIONS = (frozenset, tuple, Map, Empty)

Type = tuple[Any, ...]


class Ranks:
    """The canonical order of values: `names` has the place of each id, enum value and kind."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}

    def add(self, names: list[str]) -> None:
        for name in names:
            self.names[name] = len(self.names)

    def key(self, value: Any) -> tuple[Any, ...]:
        if value is None:
            return (0,)
        return (1, self._inner(value))

    def _inner(self, value: Any) -> Any:
        match value:
            case str():
                return self.names[value]
            case Empty():
                return ()
            case Record(kind, fields):
                return (self.names.get(kind, 0), tuple(self.key(part) for _, part in fields))
            case tuple():
                return tuple(self.key(part) for part in value)
            case frozenset():
                return tuple(sorted((self.key(part) for part in value), reverse=True))
        return value

    def ordered(self, values: Any) -> list[Any]:
        return sorted(values, key=self.key)


@dataclass(frozen=True)
class Bag:
    """A bag read from its place: its items are iterated once each."""

    items: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(dict.fromkeys(self.items))

    def __contains__(self, item: Any) -> bool:
        return item in self.items


def fit(kind: Type, value: Any, ranks: Ranks) -> Any:
    """Return `value` as one of a type; FailedError where it is none."""
    match kind[0]:
        case "opt":
            return None if value is None else fit(kind[1], value, ranks)
        case _ if value is None:
            raise FailedError("none")
        case "range":
            if not kind[1] <= value <= kind[2]:
                raise FailedError(f"{value} outside {kind}")
        case "set":
            return frozenset(fit(kind[1], part, ranks) for part in value)
        case "seq" | "bag":
            given = value.items if isinstance(value, Bag) else value
            items = [fit(kind[1], part, ranks) for part in given]
            if len(items) > kind[2]:
                raise FailedError("too many")
            return tuple(ranks.ordered(items) if kind[0] == "bag" else items)
        case "map":
            held = {} if value is EMPTY else value
            made = Map((fit(kind[1], k, ranks), fit(kind[2], v, ranks)) for k, v in held.items())
            if kind[3] and len(made) < len(all_of(kind[1])):
                raise FailedError("a key is missing")
            return made
        case "msg":
            fields = dict(kind[1])[value.kind]
            parts = tuple((name, fit(part, value.get(name), ranks)) for name, part in fields)
            return Record(value.kind, parts)
    return value


def all_of(kind: Type) -> list[Any]:
    """Return all values of a small type in canonical order."""
    match kind[0]:
        case "bool":
            return [False, True]
        case "range":
            return list(range(kind[1], kind[2] + 1))
        case "enum":
            return list(kind[1])
        case "opt":
            return [None, *all_of(kind[1])]
    raise NotImplementedError(kind)


def occurring(kind: Type, value: Any, ids: frozenset[str]) -> set[str]:
    """Return which of the ids occur in a value: keys of total maps are places and do not count."""
    match kind[0]:
        case "enum":
            return {value} & ids
        case "opt":
            return set() if value is None else occurring(kind[1], value, ids)
        case "set" | "seq" | "bag":
            return set().union(*(occurring(kind[1], part, ids) for part in value))
        case "map":
            keys = set() if kind[3] else {key for key in value if key in ids}
            return keys.union(*(occurring(kind[2], part, ids) for part in value.values()))
        case "msg":
            fields = dict(kind[1])[value.kind]
            return set().union(*(occurring(part, value.get(name), ids) for name, part in fields))
    return set()


def renamed(value: Any, names: dict[str, str], ranks: Ranks, kind: Type) -> Any:
    """Return a value with ids renamed; what has an order of its items is put into it again."""
    match value:
        case str():
            return names.get(value, value)
        case Record(name, fields):
            types = dict(dict(kind[1])[name]) if kind[0] == "msg" else {}
            return Record(
                name, tuple((f, renamed(v, names, ranks, types.get(f, kind))) for f, v in fields)
            )
        case frozenset():
            return frozenset(renamed(part, names, ranks, kind[1]) for part in value)
        case Map():
            inner = kind[2]
            return Map((names.get(k, k), renamed(v, names, ranks, inner)) for k, v in value.items())
        case tuple():
            inner = kind[1]
            items = [renamed(part, names, ranks, inner) for part in value]
            return tuple(ranks.ordered(items) if kind[0] == "bag" else items)
    return value


def bare(kind: Type) -> Type:
    return kind[1] if kind[0] == "opt" else kind  # type: ignore[no-any-return]


def split_of(text: str) -> tuple[str, str] | None:
    """Return head and rest of `optional T`, `set of T`, ..."""
    for head in ("optional", "set of", "total map of", "map of", "sequence of", "bag of"):
        if text.startswith(head + " "):
            return head, text[len(head) + 1 :]
    return None


UP_TO = re.compile(r"(.*) up to ([^ ]+)$")
