"""Goal: statements do what `checker.machine.terms` says: effects, jumps, choices, undoing."""

from collections.abc import Mapping

import pytest
from machines import (
    FALSE,
    TRUE,
    assign,
    cast,
    equal,
    everything,
    less,
    lit,
    local,
    loop,
    machine,
    number,
    pick,
    place,
    plus,
    read,
    receive,
    send,
    table,
    variable,
    when,
)

from checker.errors import InternalError
from checker.machine import terms as t
from checker.machine.types import Bag, Enum, Id, Map, Option, Range, Record, Sequence, Set, Union
from checker.semantics.execute import Execution, executions, occurring
from checker.semantics.successor import Event, IllegalTransition
from checker.semantics.values import MapValue, RecordValue
from checker.source import NOWHERE

BIT, N = Range(0, 1), Range(0, 9)
WHO = Id("Who", ("w1", "w2", "w3"), symmetric=False)
LAMP = Enum("lamp", ("off", "on", "broken"))
POINT = Record("Point", (("x", N), ("owner", Option(WHO))))
MESSAGE = Union("Message", (Record("Ask", (("n", N),)), Record("Stop", ())))
BAG, QUEUE, KEPT = Bag(BIT, 2), Sequence(BIT, 2), Set(BIT)
HELD, ALL = Map(WHO, N, total=False), Map(WHO, POINT, total=True)
NOBODY = RecordValue("Point", (("x", 0), ("owner", None)))
NO_LAMP = Map(WHO, LAMP, total=True)

MACHINE = machine(
    "statements",
    [
        variable("n", N, 0),
        variable("bag", BAG, ()),
        variable("queue", QUEUE, ()),
        variable("kept", KEPT, frozenset()),
        variable("held", HELD, MapValue({})),
        variable("points", ALL, MapValue(dict.fromkeys(WHO.members, NOBODY))),
        variable("message", Option(MESSAGE), None),
        variable("room.lamp", NO_LAMP, MapValue(dict.fromkeys(WHO.members, "off")), table="lamp"),
    ],
    [],
    tables=[table("lamp", LAMP.members, [("off", "on"), ("on", "off"), ("on", "broken")])],
    ids=[WHO],
)
START = {item.name: item.initial.value for item in MACHINE.variables}  # type: ignore[union-attr]
W1 = lit("w1", WHO)
N_PLUS_1 = assign(place("n", N), cast(plus(read("n", N), 1), N))


def set_n(value: int) -> t.Assign:
    return assign(place("n", N), lit(value, N))


def run(*body: t.Statement, **values: object) -> list[Execution]:
    return list(executions(MACHINE, body, {**START, **values}, {"given": 1}))


def only(*body: t.Statement, **values: object) -> Execution:
    (execution,) = run(*body, **values)
    return execution


def after(*body: t.Statement, **values: object) -> Mapping[str, object]:
    execution = only(*body, **values)
    assert execution.end == "done", execution
    return execution.values


def error(*body: t.Statement, **values: object) -> str:
    execution = only(*body, **values)
    assert execution.end == "failed"
    assert execution.error is not None
    return execution.error.code


# ------------------------------------------------------------------------------------- places


def test_statements_see_what_earlier_ones_did_and_leave_the_start_alone() -> None:
    start = dict(START)
    assert after(N_PLUS_1, N_PLUS_1)["n"] == 2
    assert start == START


def test_places_reach_into_maps_records_and_sequences() -> None:
    owner = place("points", Option(WHO), W1, "owner")
    points = after(assign(owner, lit("w2", Option(WHO))))["points"]
    assert isinstance(points, MapValue)
    assert points["w1"] == NOBODY.replaced("owner", "w2")
    assert points["w2"] == NOBODY
    assert after(assign(place("queue", BIT, number(1)), number(1)), queue=(0, 0))["queue"] == (0, 1)
    ask = RecordValue("Ask", (("n", 1),))
    changed = after(assign(place("message", N, "n"), number(7)), message=ask)["message"]
    assert changed == ask.replaced("n", 7)


def test_a_last_key_is_inserted_into_a_partial_map_in_canonical_order() -> None:
    held = after(assign(place("held", N, W1), number(4)), held=MapValue({"w3": 1}))["held"]
    assert isinstance(held, MapValue)
    assert list(held.items()) == [("w1", 4), ("w3", 1)]


def test_places_that_are_not_there() -> None:
    stop = RecordValue("Stop", ())
    assert error(t.Delete(place("held", N, W1), NOWHERE)) == "E505"
    assert error(assign(place("queue", BIT, number(1)), number(1)), queue=(0,)) == "E506"
    assert error(assign(place("message", N, "n"), number(1)), message=stop) == "E504"
    assert error(assign(place("message", N, "n"), number(1))) == "E502"


def test_delete_removes_a_key() -> None:
    assert after(t.Delete(place("held", N, W1), NOWHERE), held=MapValue({"w1": 1}))[
        "held"
    ] == MapValue({})


def test_storing_what_does_not_belong_is_our_own_fault() -> None:
    with pytest.raises(InternalError):
        run(assign(place("n", N), number(10)))


# ------------------------------------------------------------------------------- control flow


def test_a_loop_runs_over_a_snapshot_of_its_domain() -> None:
    kept = read("kept", KEPT)
    grow = loop("x", kept, send(place("kept", KEPT), number(1)), N_PLUS_1)
    assert after(grow, kept=frozenset({0}))["n"] == 1


def test_break_leaves_the_innermost_loop() -> None:
    inner = loop("y", everything(BIT), t.Break(NOWHERE), N_PLUS_1)
    assert after(loop("x", everything(BIT), inner, N_PLUS_1))["n"] == 2


def test_leave_goes_to_the_end_of_its_scope() -> None:
    leave = t.Leave("outer", NOWHERE)
    inner = t.Scope("inner", (loop("x", everything(BIT), leave), N_PLUS_1), NOWHERE)
    outer = t.Scope("outer", (inner, N_PLUS_1), NOWHERE)
    assert after(outer, N_PLUS_1)["n"] == 1


def test_a_leave_without_scope_is_our_own_fault() -> None:
    with pytest.raises(InternalError):
        run(t.Leave("nowhere", NOWHERE))


def test_if_takes_one_branch_and_locals_outlive_it() -> None:
    condition = equal(local("given", BIT), number(1))
    known = t.SetLocal("m", number(5), NOWHERE)
    branch = t.If(condition, (known,), (set_n(9),), NOWHERE)
    assert after(branch, assign(place("n", N), local("m", N)))["n"] == 5


def test_require_abandons_the_run() -> None:
    assert [execution.end for execution in run(N_PLUS_1, t.Require(FALSE, NOWHERE))] == [
        "abandoned"
    ]
    assert after(t.Require(TRUE, NOWHERE))["n"] == 0


# ------------------------------------------------------------------------------------ choices


def test_picks_fall_in_every_way_in_lexicographic_order() -> None:
    x, y = local("x", BIT), local("y", BIT)
    body = (
        pick("x", everything(BIT)),
        when(equal(x, number(0)), pick("y", everything(BIT))),
        when(equal(x, number(1)), t.SetLocal("y", number(0), NOWHERE)),
        assign(place("n", N), y),
    )
    assert [(execution.picks, execution.values["n"]) for execution in run(*body)] == [
        ((("x", 0), ("y", 0)), 0),
        ((("x", 0), ("y", 1)), 1),
        ((("x", 1),), 0),
    ]


def test_a_pick_in_a_loop_is_a_choice_each_time() -> None:
    body = loop("i", everything(BIT), pick("x", everything(WHO)))
    picked = [tuple(value for _, value in execution.picks) for execution in run(body)]
    assert picked == [(a, b) for a in WHO.members for b in WHO.members]


def test_a_pick_chooses_distinct_values_that_satisfy_its_condition() -> None:
    body = pick("x", read("queue", QUEUE))
    assert [execution.picks for execution in run(body, queue=(1, 1))] == [(("x", 1),)]
    odd = pick("x", everything(N), less(number(7), local("x", N)))
    assert [execution.picks[0][1] for execution in run(odd)] == [8, 9]


def test_picking_from_nothing_fails_that_run_only() -> None:
    x = local("x", BIT)
    body = (pick("x", everything(BIT)), pick("y", everything(BIT), less(local("y", BIT), x)))
    first, second = run(*body)
    assert (first.end, first.picks) == ("failed", (("x", 0),))
    assert first.error is not None
    assert first.error.code == "E508"
    assert (second.end, second.picks) == ("done", (("x", 1), ("y", 0)))


def test_require_after_a_pick_abandons_that_choice_only() -> None:
    body = (
        pick("x", everything(BIT)),
        t.Require(equal(local("x", BIT), number(1)), NOWHERE),
        assign(place("n", N), local("x", BIT)),
    )
    assert [execution.end for execution in run(*body)] == ["abandoned", "done"]


# --------------------------------------------------------------------------------------- ids


def test_fresh_is_the_least_id_that_occurs_nowhere() -> None:
    points = MapValue({**dict.fromkeys(WHO.members, NOBODY), "w3": NOBODY.replaced("owner", "w1")})
    body = (t.Fresh("a", WHO, NOWHERE), assign(place("held", N, local("a", WHO)), number(0)))
    assert after(*body, points=points)["held"] == MapValue({"w2": 0})
    assert after(*body, held=MapValue({"w1": 0}))["held"] == MapValue({"w1": 0, "w2": 0})


def test_ids_drawn_earlier_in_the_row_are_taken_also_where_they_are_stored_nowhere() -> None:
    draws = [t.Fresh(name, WHO, NOWHERE) for name in "ab"]
    stored = assign(place("held", N, local("b", WHO)), number(0))
    assert after(*draws, stored)["held"] == MapValue({"w2": 0})


def test_running_out_of_ids_cuts() -> None:
    draws = [t.Fresh(name, WHO, NOWHERE) for name in "abcd"]
    assert only(*draws, set_n(3)).end == "out of ids"


def test_keys_of_total_maps_do_not_occur_but_those_of_partial_maps_do() -> None:
    assert occurring(WHO, ALL, START["points"]) == set()
    assert occurring(WHO, HELD, MapValue({"w2": 1})) == {"w2"}
    assert occurring(WHO, Sequence(Set(WHO), 2), (frozenset({"w1"}), frozenset({"w3"}))) == {
        "w1",
        "w3",
    }
    assert occurring(WHO, Id("Other", ("w1",), symmetric=False), "w1") == set()


# ----------------------------------------------------------------------------------- channels


def test_bags_are_kept_in_order_and_queues_are_not() -> None:
    zero, one = number(0), number(1)
    bag, queue = place("bag", BAG), place("queue", QUEUE)
    values = after(send(bag, one), send(bag, zero), send(queue, one), send(queue, zero))
    assert (values["bag"], values["queue"]) == ((0, 1), (1, 0))


def test_a_full_channel_blocks_drops_or_fails() -> None:
    bag = place("bag", BAG)
    assert only(send(bag, number(1)), bag=(0, 0)).end == "abandoned"
    dropped = only(send(bag, number(1), "drop"), bag=(0, 0))
    assert dropped.values["bag"] == (0, 0)
    assert [event.label for event in dropped.events] == ["sent", "lost"]
    assert error(send(bag, number(1), "error"), bag=(0, 0)) == "E509"


def test_receiving_takes_one_copy_the_first_one() -> None:
    assert after(receive(place("bag", BAG), number(0)), bag=(0, 0))["bag"] == (0,)
    queue = place("queue", QUEUE)
    assert after(receive(queue, number(1)), queue=(0, 1))["queue"] == (0,)
    assert after(receive(place("kept", KEPT), number(1)), kept=frozenset({1}))["kept"] == set()
    assert error(receive(queue, number(1)), queue=(0,)) == "E505"


def test_reading_leaves_the_message() -> None:
    execution = only(receive(place("kept", KEPT), number(1), "read"), kept=frozenset({1}))
    assert execution.values["kept"] == {1}
    assert execution.events == (Event("read", "kept", "kept", 1),)


def test_events_tell_the_place_and_silent_ones_are_none() -> None:
    shown = t.Note(place("points", POINT, W1), number(3), "sent", NOWHERE)
    silent = t.Send(place("bag", BAG), number(0), "block", "silent", NOWHERE)
    execution = only(shown, silent)
    assert execution.events == (Event("sent", "points[w1]", "points", 3),)
    assert execution.values["bag"] == (0,)


# --------------------------------------------------------------------- transitions and reject


def move(target: str, kind: str = "transition") -> t.Transition:
    where = place("room.lamp", LAMP, W1)
    return t.Transition(where, lit(target, LAMP), "lamp", kind, NOWHERE)  # type: ignore[arg-type]


def test_moves_are_held_to_the_table_also_to_the_same_state() -> None:
    execution = only(move("on"), move("on"), move("broken"), move("on", "create"), move("off"))
    lamp = execution.values["room.lamp"]
    assert isinstance(lamp, MapValue)
    assert lamp["w1"] == "off"
    assert execution.illegal == (
        IllegalTransition("room[w1].lamp", "lamp", "transition", "on", "on"),
        IllegalTransition("room[w1].lamp", "lamp", "create", "broken", "on"),
    )


def test_reject_undoes_the_row_and_keeps_only_its_answer() -> None:
    answer = send(place("bag", BAG), number(1))
    body = (
        N_PLUS_1,
        move("broken"),
        send(place("queue", QUEUE), number(0)),
        t.Scope("procedure", (t.Reject((answer,), NOWHERE),), NOWHERE),
        set_n(9),
    )
    execution = only(*body, n=3)
    assert execution.end == "done"
    assert execution.values == {**START, "n": 3, "bag": (1,)}
    assert [event.channel for event in execution.events] == ["bag"]
    assert execution.illegal == ()


def test_what_was_picked_before_a_reject_still_tells_runs_apart() -> None:
    body = (pick("x", everything(BIT)), t.Reject((set_n(1),), NOWHERE))
    assert [execution.picks for execution in run(*body)] == [(("x", 0),), (("x", 1),)]
