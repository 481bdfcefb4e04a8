"""The finite types of the language, their size, and the canonical order of their values.

Every type has finitely many values. The canonical order of a type's values (`values`, the order
of `for`, `pick` and ties) is the order of its *codes*: a value's code is its place in that order.

| type     | Python value in the reference semantics          | order                              |
| -------- | ------------------------------------------------ | ---------------------------------- |
| Bool     | `bool`                                           | false, true                        |
| Range    | `int` in low..high, both included                | ascending                          |
| Enum     | `str`, one of `members`                          | as declared                        |
| Id       | `str`, one of `members`                          | as declared                        |
| Option   | `None` or a value of `item`                      | none first                         |
| Record   | `RecordValue`                                    | first field most significant       |
| Union    | `RecordValue` whose name is the variant          | variants as declared, then fields  |
| Set      | `frozenset`                                      | bit mask, least element is bit 0   |
| Map      | `MapValue`; total: every key is present          | first key most significant         |
| Sequence | `tuple`, at most `capacity` long                 | first item most significant        |
| Bag      | `tuple` in ascending code order (a multiset)     | first item most significant        |
"""

from __future__ import annotations

from collections.abc import Iterable

from checker.frozen import frozen
from checker.machine.once import once


@frozen()
class Bool:
    """True or false."""


@frozen()
class Range:
    """The integers `low`..`high`, both included; `low > high` is the empty range."""

    low: int
    high: int


@frozen()
class Enum:
    """Named constants in declared order; the states of a table are one of these."""

    name: str
    members: tuple[str, ...]


@frozen()
class Id:
    """Identities of one kind; interchangeable where declared symmetric."""

    name: str
    members: tuple[str, ...]
    symmetric: bool


@frozen()
class Option:
    """A value of `item` or none. Never nested directly."""

    item: Type


@frozen()
class Record:
    """Named fields, in declared order."""

    name: str
    fields: tuple[tuple[str, Type], ...]


@frozen()
class Union:
    """One of several record shapes, told apart by name: the type of messages."""

    name: str
    variants: tuple[Record, ...]


@frozen()
class Set:
    """A subset of the values of `item`."""

    item: Type


@frozen()
class Map:
    """Values per key; `total` maps hold every key, partial ones may lack some."""

    key: Type
    value: Type
    total: bool


@frozen()
class Sequence:
    """An ordered list of at most `capacity` items."""

    item: Type
    capacity: int


@frozen()
class Bag:
    """An unordered multiset of at most `capacity` items: the content of an unordered channel."""

    item: Type
    capacity: int


Type = Bool | Range | Enum | Id | Option | Record | Union | Set | Map | Sequence | Bag


CODE_BITS_MAX = 1 << 20
"""Bits of the largest code that is reckoned with; a state has a few thousand at most."""


def cardinality(kind: Type) -> int:
    """Return how many codes `kind` has (for sequences and bags an upper bound of its values).

    A sequence or bag slot is either absent (0) or an item (1 + its code), so `n` slots of a type
    with `k` values have `(k + 1) ** n` codes, of which those with a hole are unused. What has more
    than `2 ** CODE_BITS_MAX` fits no state: that number stands for all of them.
    """
    return once(_counted, kind)


def _counted(kind: Type) -> int:
    match kind:
        case Bool():
            return 2
        case Range(low, high):
            return max(0, high - low + 1)
        case Enum(_, members) | Id(_, members, _):
            return len(members)
        case Option(item):
            return 1 + cardinality(item)
        case Record(_, fields):
            return _product(cardinality(field) for _, field in fields)
        case Union(_, variants):
            return sum(cardinality(variant) for variant in variants)
        case Set(item):
            return _power(2, cardinality(item))
        case Map(key, value, total):
            return _power(cardinality(value) + (not total), cardinality(key))
        case Sequence(item, capacity) | Bag(item, capacity):
            return _power(cardinality(item) + 1, capacity)


def _product(numbers: Iterable[int]) -> int:
    result = 1
    for number in numbers:
        result = min(result * number, 1 << CODE_BITS_MAX)
    return result


def _power(base: int, exponent: int) -> int:
    if base > 1 and (base.bit_length() - 1) * exponent >= CODE_BITS_MAX:
        return 1 << CODE_BITS_MAX
    return int(base**exponent)
