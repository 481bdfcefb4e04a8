"""Goal: a step shows exactly what it changed, as deep as the change lies."""

from machines import machine, variable

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
from checker.semantics.values import MapValue, RecordValue
from checker.trace.difference import changes, difference, moves

CLIENT = Id("Client", ("c1", "c2"), symmetric=False)
POINT = Record("Point", (("x", Range(0, 9)), ("on", Bool())))


def shown(kind: Type, old: object, new: object) -> list[str]:
    return [str(change) for change in difference(kind, old, new, "v")]


def test_equal_values_do_not_differ() -> None:
    assert shown(Set(CLIENT), frozenset({"c1"}), frozenset({"c1"})) == []


def test_scalars_and_options() -> None:
    assert shown(Range(0, 3), 0, 1) == ["v: 0 -> 1"]
    assert shown(Option(CLIENT), None, "c1") == ["v: none -> c1"]
    assert shown(Option(POINT), point(1), point(2)) == ["v.x: 1 -> 2"]


def point(x: int) -> RecordValue:
    return RecordValue("Point", (("x", x), ("on", True)))


def test_inside_maps_of_records() -> None:
    kind = Map(CLIENT, POINT, total=True)
    old = MapValue({"c1": point(0), "c2": point(5)})
    new = MapValue({"c1": point(1), "c2": point(5)})
    assert shown(kind, old, new) == ["v[c1].x: 0 -> 1"]


def test_keys_come_and_go() -> None:
    kind = Map(CLIENT, Range(0, 3), total=False)
    assert shown(kind, MapValue({"c2": 1}), MapValue({"c1": 2})) == ["v[c1]: +2", "v[c2]: -1"]


def test_members_of_sets_and_bags_come_and_go() -> None:
    assert shown(Set(CLIENT), frozenset({"c1"}), frozenset({"c2"})) == ["v: -c1", "v: +c2"]
    assert shown(Bag(Range(0, 3), 4), (1, 1, 2), (1, 2, 3)) == ["v: -1", "v: +3"]


def test_sequences_show_what_left_the_front_and_joined_the_end() -> None:
    kind = Sequence(Range(0, 9), 4)
    assert shown(kind, (1, 2), (2, 3)) == ["v: -1", "v: +3"]
    assert shown(kind, (1, 2), ()) == ["v: -1", "v: -2"]
    assert shown(kind, (1, 2), (2, 1)) == ["v: -1", "v: +1"]
    assert shown(kind, (1, 2), (3, 4)) == ["v: [1, 2] -> [3, 4]"]


def test_variants_of_messages() -> None:
    kind = Union("Message", (Record("Ping", (("n", Range(0, 3)),)), Record("Pong", ())))
    ping = RecordValue("Ping", (("n", 1),))
    assert shown(kind, ping, RecordValue("Ping", (("n", 2),))) == ["v.n: 1 -> 2"]
    assert shown(kind, ping, RecordValue("Pong", ())) == ["v: Ping(n=1) -> Pong()"]


def test_members_of_components_are_named_as_in_the_language() -> None:
    state = Enum("member", ("UNJOINED", "STABLE"))
    per = Map(CLIENT, state, total=True)
    model = machine(
        "m",
        [
            variable("client.state", per, MapValue({"c1": "UNJOINED", "c2": "UNJOINED"}), "member"),
            variable("coordinator.epoch", Range(0, 3), 0),
            variable("owner", per, MapValue({"c1": "UNJOINED", "c2": "UNJOINED"})),
        ],
        [],
    )
    before = tuple(variable.initial.value for variable in model.variables)  # type: ignore[union-attr]
    moved = MapValue({"c1": "UNJOINED", "c2": "STABLE"})
    after = (moved, 1, moved)
    assert [str(change) for change in changes(model, before, after)] == [
        "client[c2].state: UNJOINED -> STABLE",
        "coordinator.epoch: 0 -> 1",
        "owner[c2]: UNJOINED -> STABLE",
    ]
    assert [(move.machine, move.origin, move.target) for move in moves(model, before, after)] == [
        ("client[c2].state", "UNJOINED", "STABLE")
    ]
