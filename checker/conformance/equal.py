"""Takes a type, makes a function that says whether a value of a log is one that the model has.

It says what `normal` says, by looking at both values side by side. What stands in a different order
is what `normal` is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
)
from checker.semantics.plain import KIND, beside_kind, normal

Equal = Callable[[Any, Any], bool]
"""Whether the second, any JSON, is the same value as the first, which is one of a type."""


def equal(kind: Type) -> Equal:
    """Return what compares values of a type."""
    match kind:
        case Bool():
            return _is
        case Range():
            return _equal_numbers
        case Enum() | Id():
            return _equal_texts
        case Option(item):
            return _equal_options(equal(item))
        case Sequence(item, _):
            return _equal_lists(equal(item))
        case Set() | Bag():
            return _equal_collections(kind)
        case Record(_, fields):
            return _equal_records({name: equal(part) for name, part in fields})
        case Union(_, variants):
            return _equal_unions(
                {
                    one.name: {KIND: _equal_texts}
                    | {name: equal(part) for name, part in beside_kind(one).fields}
                    for one in variants
                }
            )
        case Map(_, held, _):
            return _equal_maps(kind, equal(held))


def _is(expected: Any, value: Any) -> bool:
    return value is expected


def _equal_numbers(expected: Any, value: Any) -> bool:
    return type(value) is int and value == expected


def _equal_texts(expected: Any, value: Any) -> bool:
    return isinstance(value, str) and value == expected


def _equal_options(item: Equal) -> Equal:
    def same(expected: Any, value: Any) -> bool:
        if expected is None or value is None:
            return expected is value
        return item(expected, value)

    return same


def _equal_lists(item: Equal) -> Equal:
    def same(expected: Any, value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(map(item, expected, value))
        )

    return same


def _equal_collections(kind: Set | Bag) -> Equal:
    ordered = _equal_lists(equal(kind.item))

    def same(expected: Any, value: Any) -> bool:
        if not isinstance(value, list) or len(value) != len(expected):
            return False
        return ordered(expected, value) or normal(kind, value) == normal(kind, expected)

    return same


def _equal_records(parts: dict[str, Equal]) -> Equal:
    def same(expected: Any, value: Any) -> bool:
        if not isinstance(value, dict) or value.keys() != expected.keys():
            return False
        return all(parts[name](expected[name], one) for name, one in value.items())

    return same


def _equal_unions(shapes: dict[str, dict[str, Equal]]) -> Equal:
    compared = {name: _equal_records(parts) for name, parts in shapes.items()}

    def same(expected: Any, value: Any) -> bool:
        return compared[expected[KIND]](expected, value)

    return same


def _equal_maps(kind: Map, held: Equal) -> Equal:
    def same(expected: Any, value: Any) -> bool:
        if not isinstance(expected, dict):
            return normal(kind, value) == normal(kind, expected)
        if not isinstance(value, dict) or value.keys() != expected.keys():
            return False
        return all(held(expected[name], one) for name, one in value.items())

    return same
