"""Goal: codes are places in the canonical order, exactly as `checker.machine.types` tells it."""

import pytest

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
from checker.semantics.values import (
    MapValue,
    RecordValue,
    belongs,
    choices,
    code_of,
    elements,
    first_value,
    format_value,
    value_of,
    values,
)

LEVEL = Enum("Level", ("low", "high"))
MEMBER = Id("Member", ("m1", "m2"), symmetric=True)
POINT = Record("Point", (("x", Range(-1, 1)), ("on", Bool())))
MESSAGE = Union("Message", (Record("Stop", ()), Record("Ask", (("member", MEMBER),))))
KINDS: tuple[Type, ...] = (
    Bool(),
    Range(-2, 3),
    Range(3, 2),
    LEVEL,
    MEMBER,
    Option(MEMBER),
    POINT,
    MESSAGE,
    Set(Range(0, 3)),
    Set(MESSAGE),
    Map(MEMBER, LEVEL, total=True),
    Map(LEVEL, Range(0, 2), total=False),
    Sequence(LEVEL, 3),
    Bag(MESSAGE, 3),
    Sequence(Bag(LEVEL, 2), 2),
    Set(Sequence(LEVEL, 1)),
    Set(Bag(Bool(), 2)),
    Map(Bool(), Bag(LEVEL, 2), total=False),
    Option(Map(MEMBER, Set(LEVEL), total=True)),
)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_values_come_in_the_order_of_their_codes(kind: Type) -> None:
    everything = list(values(kind))
    assert not everything or first_value(kind) == everything[0]
    codes = [code_of(kind, value) for value in everything]
    assert codes == sorted(set(codes))
    assert len(set(everything)) == len(everything)
    assert all(belongs(kind, value) for value in everything)
    assert [value_of(kind, code) for code in codes] == everything
    assert all(0 <= code < cardinality(kind) for code in codes)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_code_without_a_value_is_refused(kind: Type) -> None:
    used = {code_of(kind, value) for value in values(kind)}
    for code in [-1, *range(min(cardinality(kind), 400)), cardinality(kind)]:
        if code not in used:
            with pytest.raises(ValueError, match="code"):
                value_of(kind, code)


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        (Range(-2, 3), 0, 2),
        (Option(MEMBER), "m2", 2),
        (POINT, RecordValue("Point", (("x", 1), ("on", False))), 4),
        (MESSAGE, RecordValue("Ask", (("member", "m1"),)), 1),
        (Set(Range(0, 3)), frozenset({0, 3}), 0b1001),
        (Map(MEMBER, LEVEL, total=True), MapValue({"m2": "high", "m1": "low"}), 1),
        (Map(MEMBER, LEVEL, total=False), MapValue({"m1": "high"}), 2 * 3),
        (Sequence(LEVEL, 3), ("high", "low"), 2 * 9 + 1 * 3),
        (Bag(LEVEL, 2), ("low", "high"), 1 * 3 + 2),
        (Set(Sequence(LEVEL, 2)), frozenset({("low", "high")}), 1 << 5),
    ],
)
def test_codes_worked_out_by_hand(kind: Type, value: object, code: int) -> None:
    assert code_of(kind, value) == code
    assert value_of(kind, code) == value


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Bool(), 1),
        (Range(0, 1), True),
        (Range(0, 1), 2),
        (LEVEL, "m1"),
        (MEMBER, None),
        (POINT, RecordValue("Point", (("x", 0),))),
        (MESSAGE, RecordValue("Point", ())),
        (Set(Bool()), frozenset({0})),
        (Map(MEMBER, LEVEL, total=True), MapValue({"m1": "low"})),
        (Sequence(LEVEL, 1), ("low", "low")),
        (Bag(LEVEL, 2), ("high", "low")),
    ],
)
def test_what_does_not_belong_has_no_code(kind: Type, value: object) -> None:
    assert not belongs(kind, value)
    with pytest.raises(ValueError, match="no value"):
        code_of(kind, value)


def test_loops_run_in_canonical_order_and_choices_are_distinct() -> None:
    assert elements(Set(LEVEL), frozenset({"high", "low"})) == ["low", "high"]
    assert elements(Map(MEMBER, LEVEL, total=False), MapValue({"m2": "low", "m1": "low"})) == [
        "m1",
        "m2",
    ]
    assert elements(Sequence(LEVEL, 3), ("high", "low", "high")) == ["high", "low", "high"]
    assert choices(Sequence(LEVEL, 3), ("high", "low", "high")) == ["high", "low"]
    assert elements(Bag(LEVEL, 3), ("low", "low", "high")) == ["low", "high"]


def test_maps_are_equal_whatever_the_order_of_their_keys() -> None:
    one, other = MapValue({"a": 1, "b": 2}), MapValue({"b": 2, "a": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert one != MapValue({"a": 1})
    assert one["b"] == 2


def test_records_are_read_and_replaced_by_field() -> None:
    point = RecordValue("Point", (("x", 1), ("on", True)))
    assert point["x"] == 1
    assert "y" not in point
    assert point.replaced("x", 0) == RecordValue("Point", (("x", 0), ("on", True)))
    with pytest.raises(KeyError):
        point["y"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "true"),
        (-3, "-3"),
        ("m1", "m1"),
        (frozenset({"c10", "c2", "c1"}), "{c1, c2, c10}"),
        (frozenset({3, -1, 10}), "{-1, 3, 10}"),
        (frozenset({None, "m1"}), "{none, m1}"),
        (RecordValue("JoinGroup", (("member", None),)), "JoinGroup(member=none)"),
        (RecordValue("Stop", ()), "Stop()"),
        (MapValue({"m2": 1, "m1": frozenset()}), "{m1: {}, m2: 1}"),
        ((True, ("a", "b")), "[true, [a, b]]"),
    ],
)
def test_the_text_of_a_value(value: object, text: str) -> None:
    assert format_value(value) == text
