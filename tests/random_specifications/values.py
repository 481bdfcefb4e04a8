"""Values and types as the manual describes them, for the explorer of these tests alone.

A type is a tuple whose first item says what it is. Maps and records are hashable; an `empty` that
nothing has given a type yet is EMPTY.
"""

from __future__ import annotations

import re
from itertools import combinations, combinations_with_replacement, product
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
        return isinstance(other, COLLECTIONS) and len(other) == 0

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
            case Map():
                return tuple(sorted((self.key(k), self.key(v)) for k, v in value.items()))
            case frozenset():
                return tuple(sorted((self.key(part) for part in value), reverse=True))
        return value

    def ordered(self, values: Any) -> list[Any]:
        return sorted(values, key=self.key)


class Bag(tuple[Any, ...]):
    """A bag, its items in order: `for` runs over each of several equal ones once."""

    __slots__ = ()


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
            items = [fit(kind[1], part, ranks) for part in value]
            if len(items) > kind[2]:
                raise FailedError("too many")
            return Bag(ranks.ordered(items)) if kind[0] == "bag" else tuple(items)
        case "map":
            held = {} if value is EMPTY else value
            made = Map((fit(kind[1], k, ranks), fit(kind[2], v, ranks)) for k, v in held.items())
            if kind[3] and len(made) < len(all_of(kind[1])):
                raise FailedError("a key is missing")
            return made
        case "msg":
            if value.kind not in dict(kind[1]):
                raise FailedError(f"{value.kind} is none of {kind}")
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
        case "set":
            return [frozenset(some) for some in _choices(kind[1], len(all_of(kind[1])))]
        case "map":
            keys, values = all_of(kind[1]), all_of(kind[2])
            some = [keys] if kind[3] else _choices(kind[1], len(keys))
            return [
                Map(zip(there, held, strict=True))
                for there in some
                for held in product(values, repeat=len(there))
            ]
        case "seq":
            lengths = range(kind[2] + 1)
            return [row for n in lengths for row in product(all_of(kind[1]), repeat=n)]
        case "bag":
            found = range(kind[2] + 1)
            rows = [combinations_with_replacement(all_of(kind[1]), n) for n in found]
            return [Bag(row) for some in rows for row in some]
        case "msg":
            return [
                Record(name, tuple(zip([f for f, _ in fields], held, strict=True)))
                for name, fields in kind[1]
                for held in product(*(all_of(part) for _, part in fields))
            ]
    raise NotImplementedError(kind)


def _choices(kind: Type, most: int) -> list[tuple[Any, ...]]:
    """Return what some values of a type, or none, can be."""
    return [some for n in range(most + 1) for some in combinations(all_of(kind), n)]


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
            keys = [] if kind[3] else [occurring(kind[1], key, ids) for key in value]
            return set().union(*keys, *(occurring(kind[2], part, ids) for part in value.values()))
        case "msg":
            fields = dict(kind[1])[value.kind]
            return set().union(*(occurring(part, value.get(name), ids) for name, part in fields))
    return set()


def renamed(value: Any, names: dict[str, str], ranks: Ranks, kind: Type) -> Any:
    """Return a value with ids renamed; what has an order of its items is put into it again."""
    kind = bare(kind)
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
            _, key, held, _ = kind
            return Map(
                (renamed(k, names, ranks, key), renamed(v, names, ranks, held))
                for k, v in value.items()
            )
        case tuple():
            inner = kind[1]
            items = [renamed(part, names, ranks, inner) for part in value]
            return Bag(ranks.ordered(items)) if kind[0] == "bag" else tuple(items)
    return value


def bare(kind: Type) -> Type:
    return kind[1] if kind[0] == "opt" else kind  # type: ignore[no-any-return]


def split_of(text: str) -> tuple[str, str] | None:
    """Return head and rest of `optional T`, `set of T`, ..."""
    for head in ("optional", "set of", "total map of", "map of", "sequence of", "bag of"):
        if text.startswith(head + " "):
            return head, text[len(head) + 1 :]
    return None


UP_TO = re.compile(r"(.*) up to (.+)$")
