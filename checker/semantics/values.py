"""Values of the language as Python objects, and their one canonical order and text.

The table in `checker.machine.types` says which Python value stands for a value of each type. A
value's *code* is its place in the canonical order of its type; `values` yields in that order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import product

from checker.frozen import frozen
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
    cardinality,
)


@frozen()
class RecordValue:
    """A record or one variant of a union: its name, and its fields in declared order.

    >>> RecordValue("Point", (("x", 1), ("y", 2)))["y"]
    2
    """

    name: str
    fields: tuple[tuple[str, object], ...]

    def __getitem__(self, name: str) -> object:
        for field, value in self.fields:
            if field == name:
                return value
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        return any(field == name for field, _ in self.fields)

    def replaced(self, name: str, value: object) -> RecordValue:
        """Return this record with field `name` set to `value`."""
        return RecordValue(
            self.name,
            tuple((field, value if field == name else old) for field, old in self.fields),
        )


class MapValue(Mapping[object, object]):
    """An immutable, hashable map. Two with the same entries are equal, in whatever order.

    The interpreter keeps the keys in canonical order (`map_value`), so that iteration is too.
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[object, object] | Iterable[tuple[object, object]]) -> None:
        self._entries: dict[object, object] = dict(entries)

    def __getitem__(self, key: object) -> object:
        return self._entries[key]

    def __iter__(self) -> Iterator[object]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, MapValue) and self._entries == other._entries

    def __repr__(self) -> str:
        return f"MapValue({self._entries!r})"


def map_value(kind: Map, entries: Mapping[object, object]) -> MapValue:
    """Return `entries` as a value of `kind`: its keys in canonical order."""
    return MapValue((key, entries[key]) for key in ordered(kind.key, entries))


def bag_value(kind: Bag, items: Iterable[object]) -> tuple[object, ...]:
    """Return the multiset of `items` as a value of `kind`: in ascending code order."""
    return tuple(ordered(kind.item, items))


def ordered(kind: Type, items: Iterable[object]) -> list[object]:
    """Return `items`, values of `kind`, in canonical order; equal ones stay beside each other."""
    return sorted(items, key=lambda item: code_of(kind, item))


def elements(kind: Type, collection: object) -> list[object]:
    """Return what a `for` over `collection`, a value of `kind`, runs over, in its order.

    A set's items and a map's keys in canonical order, a sequence as it is (repetitions included),
    a bag's distinct items in canonical order.
    """
    match kind:
        case Set(item):
            return ordered(item, collection)  # type: ignore[arg-type]
        case Map(key, _, _):
            return ordered(key, collection)  # type: ignore[arg-type]
        case Sequence():
            return list(collection)  # type: ignore[call-overload, no-any-return]
        case Bag():
            return list(dict.fromkeys(collection))  # type: ignore[call-overload]
    raise TypeError(f"{kind} is no collection")


def choices(kind: Type, collection: object) -> list[object]:
    """Return what a binding or `pick` over `collection` chooses from: its distinct `elements`."""
    return list(dict.fromkeys(elements(kind, collection)))


# ------------------------------------------------------------------------------------- codes


_ABSENT = object()
"""In place of the value of a key that a partial map lacks."""


def values(kind: Type) -> Iterator[object]:
    """Yield every value of `kind` in canonical order.

    >>> list(values(Set(Range(1, 2)))) == [
    ...     frozenset(), frozenset({1}), frozenset({2}), frozenset({1, 2})]
    True
    """
    match kind:
        case Bool():
            yield from (False, True)
        case Range(low, high):
            yield from range(low, high + 1)
        case Enum(_, members) | Id(_, members, _):
            yield from members
        case Option(item):
            yield None
            yield from values(item)
        case Record(name, fields):
            names = [field for field, _ in fields]
            for row in product(*(list(values(field)) for _, field in fields)):
                yield RecordValue(name, tuple(zip(names, row, strict=True)))
        case Union(_, variants):
            for variant in variants:
                yield from values(variant)
        case Sequence(item, capacity):
            yield from _rows((), list(values(item)), capacity, ascending=False)
        case Bag(item, capacity):
            yield from _rows((), list(values(item)), capacity, ascending=True)
        case Set(item):
            items = list(values(item))
            for mask in range(1 << len(items)):
                yield frozenset(held for place, held in enumerate(items) if mask >> place & 1)
        case Map(key, part, total):
            keys, parts = list(values(key)), list(values(part))
            digits = parts if total else [_ABSENT, *parts]
            for row in product(digits, repeat=len(keys)):
                pairs = zip(keys, row, strict=True)
                yield MapValue((name, held) for name, held in pairs if held is not _ABSENT)


@lru_cache(maxsize=512)
def coded_values(kind: Type) -> tuple[tuple[int, object], ...]:
    """Return the codes in use of `kind`, ascending, each with its value.

    >>> [code for code, _ in coded_values(Bag(Bool(), 2))]
    [0, 3, 4, 5, 6, 8]
    """
    return tuple((_code(kind, value), value) for value in values(kind))


def first_value(kind: Type) -> object:
    """Return the first of `values(kind)`, without making what comes after it.

    >>> first_value(Sequence(Range(1, 9), 9))
    ()
    """
    match kind:
        case Record(name, fields):
            return RecordValue(name, tuple((field, first_value(part)) for field, part in fields))
        case Union(_, variants):
            return first_value(variants[0])
        case Sequence() | Bag():
            return ()
        case Set():
            return frozenset()
        case Map(key, part, total):
            return MapValue((held, first_value(part)) for held in (values(key) if total else ()))
        case _:
            return next(values(kind))


def _rows(
    start: tuple[object, ...], items: list[object], room: int, *, ascending: bool
) -> Iterator[tuple[object, ...]]:
    """`start`, then everything that begins with it and has up to `room` more items."""
    yield start
    if room:
        for place, item in enumerate(items):
            rest = items[place:] if ascending else items
            yield from _rows((*start, item), rest, room - 1, ascending=ascending)


def code_of(kind: Type, value: object) -> int:
    """Return the code of `value`: its place in the canonical order of `kind`.

    Raises ValueError when it is no value of `kind`.
    """
    if not belongs(kind, value):
        raise ValueError(f"{format_value(value)} is no value of {kind}")
    return _code(kind, value)


def _code(kind: Type, value: object) -> int:  # the value is known to belong to the type
    match kind, value:
        case Bool(), bool():
            return int(value)
        case Range(low, _), int():
            return value - low
        case ((Enum(_, members) | Id(_, members, _)), str()):
            return members.index(value)
        case Option(item), _:
            return 0 if value is None else 1 + _code(item, value)
        case Record(_, fields), RecordValue():
            parts = zip(fields, value.fields, strict=True)
            return _number(
                (_code(field, part), cardinality(field)) for (_, field), (_, part) in parts
            )
        case Union(_, variants), RecordValue():
            offset = 0
            for variant in variants:
                if variant.name == value.name:
                    return offset + _code(variant, value)
                offset += cardinality(variant)
        case Set(item), frozenset():
            return sum(1 << _code(item, member) for member in value)
        case Map(key, held, total), MapValue():
            base = cardinality(held) + (not total)
            last = cardinality(key) - 1
            return sum(
                (_code(held, part) + (not total)) * base ** (last - _code(key, name))
                for name, part in value.items()
            )
        case ((Sequence(item, capacity) | Bag(item, capacity)), tuple()):
            base = cardinality(item) + 1
            digits = [1 + _code(item, member) for member in value]
            return _number((digit, base) for digit in digits + [0] * (capacity - len(value)))
    raise ValueError(f"{format_value(value)} is no value of {kind}")


def _number(digits: Iterable[tuple[int, int]]) -> int:
    """The number with these (digit, base) pairs, most significant first."""
    result = 0
    for digit, base in digits:
        result = result * base + digit
    return result


def value_of(kind: Type, code: int) -> object:
    """Return the value of `kind` with this code; ValueError when there is none."""
    if not 0 <= code < cardinality(kind):
        raise ValueError(f"{code} is no code of {kind}")
    match kind:
        case Bool():
            return bool(code)
        case Range(low, _):
            return low + code
        case Enum(_, members) | Id(_, members, _):
            return members[code]
        case Option(item):
            return None if code == 0 else value_of(item, code - 1)
        case Record(name, fields):
            digits = _digits(code, [cardinality(field) for _, field in fields])
            return RecordValue(
                name,
                tuple(
                    (field, value_of(part, digit))
                    for (field, part), digit in zip(fields, digits, strict=True)
                ),
            )
        case Union(_, variants):
            for variant in variants:
                if code < cardinality(variant):
                    return value_of(variant, code)
                code -= cardinality(variant)
        case Set(item):
            bits = (bit for bit in range(code.bit_length()) if code >> bit & 1)
            return frozenset(value_of(item, bit) for bit in bits)
        case Map(key, held, total):
            digits = _digits(code, [cardinality(held) + (not total)] * cardinality(key))
            present = [(name, digits[place]) for place, name in coded_values(key)]
            return MapValue(
                (name, value_of(held, digit - (not total)))
                for name, digit in present
                if total or digit
            )
        case Sequence(item, capacity) | Bag(item, capacity):
            return _items_of(kind, item, _digits(code, [cardinality(item) + 1] * capacity))
    raise ValueError(f"{code} is no code of {kind}")


def _items_of(kind: Type, item: Type, digits: list[int]) -> tuple[object, ...]:
    used = [digit for digit in digits if digit]
    if any(digits[len(used) :]) or (isinstance(kind, Bag) and used != sorted(used)):
        raise ValueError(f"an unused code of {kind}: slots {digits}")
    return tuple(value_of(item, digit - 1) for digit in used)


def _digits(code: int, bases: list[int]) -> list[int]:
    """The digits of `code` in these bases, most significant first."""
    result = []
    for base in reversed(bases):
        code, digit = divmod(code, base)
        result.append(digit)
    return result[::-1]


def belongs(kind: Type, value: object) -> bool:
    """Return whether `value` is a value of `kind`."""
    match kind:
        case Bool():
            return isinstance(value, bool)
        case Range(low, high):
            return type(value) is int and low <= value <= high
        case Enum(_, members) | Id(_, members, _):
            return isinstance(value, str) and value in members
        case Option(item):
            return value is None or belongs(item, value)
        case Record(name, fields):
            return (
                isinstance(value, RecordValue)
                and value.name == name
                and len(value.fields) == len(fields)
                and all(
                    declared == held and belongs(part, content)
                    for (declared, part), (held, content) in zip(fields, value.fields, strict=True)
                )
            )
        case Union(_, variants):
            return any(belongs(variant, value) for variant in variants)
        case Set(item):
            return isinstance(value, frozenset) and all(belongs(item, member) for member in value)
        case Map(key, held, total):
            return (
                isinstance(value, MapValue)
                and all(belongs(key, name) and belongs(held, value[name]) for name in value)
                and (not total or len(value) == len(coded_values(key)))
            )
        case Sequence(item, capacity):
            return _is_row(item, capacity, value)
        case Bag(item, capacity):
            return _is_row(item, capacity, value) and value == bag_value(kind, value)  # type: ignore[arg-type]


def _is_row(item: Type, capacity: int, value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) <= capacity
        and all(belongs(item, member) for member in value)
    )


# -------------------------------------------------------------------------------------- text


def format_value(value: object) -> str:
    """Return the one canonical text of a value.

    Without its type the declared order of names is not known, so sets and maps are shown in
    natural order: numbers by size, names by their letters and numbers (`c2` before `c10`).

    >>> format_value(RecordValue("JoinGroup", (("member", None), ("of", frozenset({"c10", "c2"})))))
    'JoinGroup(member=none, of={c2, c10})'
    """
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case RecordValue(name, fields):
            return f"{name}({', '.join(f'{field}={format_value(part)}' for field, part in fields)})"
        case frozenset():
            return f"{{{', '.join(format_value(item) for item in sorted(value, key=_natural))}}}"
        case MapValue():
            keys = sorted(value, key=_natural)
            entries = (f"{format_value(key)}: {format_value(value[key])}" for key in keys)
            return f"{{{', '.join(entries)}}}"
        case tuple():
            return f"[{', '.join(format_value(item) for item in value)}]"
    return str(value)


def _natural(value: object) -> tuple[int, int, list[str | int]]:
    if value is None or isinstance(value, int):
        return (0 if value is None else 1, int(value or 0), [])
    pieces = re.split(r"(\d+)", format_value(value))
    return (2, 0, [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)])
