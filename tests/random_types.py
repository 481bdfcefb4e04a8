"""Random types of every kind, nested, and random values of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

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
from checker.semantics.values import RecordValue, bag_value, map_value, values

MEMBER = Id("Member", ("m1", "m2", "m3"), symmetric=True)
SMALL = st.sampled_from(
    [Bool(), Range(-2, 1), Range(5, 5), Enum("Level", ("low", "high")), MEMBER, Option(MEMBER)]
)
FIELDS = ("a", "b", "c")
HOLED = st.sampled_from(
    [
        Sequence(Bool(), 2),
        Bag(MEMBER, 2),
        Option(Bag(Bool(), 2)),
        Set(Bag(Range(5, 5), 2)),
        Record("Holder", (("a", Sequence(Range(5, 5), 2)), ("b", Bool()))),
    ]
)
"""Types with codes that no value has, few enough to be keys and elements."""


def records(kinds: st.SearchStrategy[Type], name: str) -> st.SearchStrategy[Record]:
    return st.lists(kinds, max_size=3).map(
        lambda found: Record(name, tuple(zip(FIELDS, found, strict=False)))
    )


def larger(kinds: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    return st.one_of(
        kinds.filter(lambda kind: not isinstance(kind, Option)).map(Option),
        records(kinds, "Record"),
        st.tuples(records(kinds, "One"), records(kinds, "Two")).map(
            lambda variants: Union("Union", variants)
        ),
        (SMALL | HOLED).map(Set),
        st.just(Set(Range(0, 99))),
        st.builds(Map, SMALL | HOLED, kinds, st.booleans()),
        st.builds(Sequence, kinds, st.integers(0, 4)),
        st.builds(Bag, kinds, st.integers(0, 4)),
    )


TYPES = st.recursive(SMALL, larger, max_leaves=6)


def values_of(kind: Type) -> st.SearchStrategy[Any]:
    match kind:
        case Option(item):
            return st.none() | values_of(item)
        case Record(name, fields):
            parts = st.tuples(*(values_of(part) for _, part in fields))
            names = [field for field, _ in fields]
            return parts.map(lambda row: RecordValue(name, tuple(zip(names, row, strict=True))))
        case Union(_, variants):
            return st.one_of(*(values_of(variant) for variant in variants))
        case Set(item):
            return st.frozensets(values_of(item), max_size=5)
        case Map(key, held, total):
            present = st.just(True) if total else st.booleans()
            row = st.tuples(*(st.tuples(st.just(k), values_of(held), present) for k in values(key)))
            return row.map(lambda rows: map_value(kind, {k: v for k, v, there in rows if there}))
        case Sequence(item, capacity):
            return st.lists(values_of(item), max_size=capacity).map(tuple)
        case Bag(item, capacity):
            return st.lists(values_of(item), max_size=capacity).map(
                lambda row: bag_value(kind, row)
            )
        case _:
            return st.sampled_from(list(values(kind)))
