"""Goal: of a loop it is said what would end it, and why nobody has to do that; never too much."""

from dataclasses import replace
from functools import partial

import pytest
from machines import (
    NOWHERE,
    action,
    assign,
    equal,
    hop,
    lit,
    local,
    machine,
    number,
    pick,
    place,
    read,
    variable,
)

from checker.machine import terms as t
from checker.machine.machine import Action, FairGroup, Machine, Property
from checker.machine.temporal import Atom
from checker.machine.types import Range, Set
from checker.report.headline import WAY_SHOWN, loop_text
from checker.search.finding import Finding
from checker.trace import way_out as module
from checker.trace.rebuild import rebuild
from checker.trace.trace import WayOut
from checker.trace.way_out import way_out

PLACE = Range(0, 9)
HERE = read("n", PLACE)


go = partial(hop, kind=PLACE)


def at(*places: int) -> t.Term:
    return t.Or(tuple(equal(HERE, number(n)) for n in places), NOWHERE)


ARRIVE = Property("arrive", "eventually", at(9), None, "because", "", NOWHERE)
TURN = (go("up", 0, 1), go("over", 1, 2), go("back", 2, 1))
ROUND = ((0,), (1,), (2,), (1,))


def ring(*rows: Action) -> Machine:
    return machine("ring", [variable("n", PLACE, 0)], (*TURN, *rows), properties=[ARRIVE])


def told(made: Machine) -> str:
    trace = rebuild(made, Finding("arrive", "eventually", 3, ROUND, loop=1))
    return loop_text(trace)[-1]


def test_nothing_promises_the_way_out() -> None:
    made = ring(go("out", 2, 3), go("on", 3, 9))
    found = way_out(made, ARRIVE, ROUND, 1)
    assert found == WayOut(2, ("out", "on"), "none", 1, 2, None)
    assert told(made) == (
        "it would come after step 2 by out, on: the first of these is possible in 1 of the 2"
        " states of the loop, and nothing promises that it happens"
    )


def test_a_weak_promise_does_not_bind_what_is_possible_at_times() -> None:
    made = ring(go("out", 1, 9, "weak"))
    assert way_out(made, ARRIVE, ROUND, 1) == WayOut(1, ("out",), "weak", 1, 2, None)
    assert "weak fairness is for what is possible all the time" in told(made)


def test_a_promise_to_a_group_may_be_kept_by_another_row() -> None:
    made = ring(replace(go("out", 2, 9), fair="none"))
    group = FairGroup("leaves", (("out", ()), ("back", ())), (), strong=False, span=NOWHERE)
    assert told(replace(made, fair_groups=(group,))) == (
        "it would come after step 2 by out: this is possible in 1 of the 2 states of the loop, "
        "but what is promised is any row of leaves, as in step 3"
    )


def test_the_loop_may_take_the_same_row_with_another_outcome() -> None:
    choice = pick("m", lit(frozenset({1, 9}), Set(PLACE)))
    step = (choice, assign(place("n", PLACE), local("m", PLACE)))
    back = replace(action("back", *step, guard=equal(HERE, number(2))), fair="weak")
    made = machine("ring", [variable("n", PLACE, 0)], (*TURN[:2], back), properties=[ARRIVE])
    assert way_out(made, ARRIVE, ROUND, 1) == WayOut(2, ("back pick 9",), "weak", 1, 2, 3)
    assert "step 3 is the same, at another moment or with another outcome" in told(made)


def test_the_shortest_way_is_told_and_a_long_one_is_cut_short() -> None:
    chain = [go(f"s{n}", n, n + 1) for n in range(2, 9)]
    made = ring(*chain)
    found = way_out(made, ARRIVE, ROUND, 1)
    assert found is not None
    assert found.steps == tuple(f"s{n}" for n in range(2, 9))
    assert f"s7 and {len(chain) - WAY_SHOWN} more step" in told(made)
    shorter = way_out(ring(*chain, go("jump", 1, 8)), ARRIVE, ROUND, 1)
    assert shorter is not None
    assert (shorter.after, shorter.steps) == (1, ("jump", "s8"))


def test_a_long_name_is_told_without_what_it_is_about() -> None:
    made = ring()
    trace = rebuild(made, Finding("arrive", "eventually", 3, ROUND, loop=1))
    names = ("ends(Record(generation=1, members={m1: 0, m2: 0}, leader=m2))", "says(m1, 2)")
    way = WayOut(1, names, "none", 2, 2, None)
    assert loop_text(replace(trace, way_out=way))[-1].startswith(
        "it would come after step 1 by ends(...), says(m1, 2): the first of these"
    )


def test_where_no_step_leads_there_that_is_said() -> None:
    made = ring(go("aside", 1, 4), replace(go("crash", 2, 9), fault="crash"))
    assert way_out(made, ARRIVE, ROUND, 1) == WayOut(1, (), "none", 0, 2, None)
    assert told(made) == "due from the beginning, and it cannot come any more, unless by a fault"


def test_what_was_not_seen_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    beyond = replace(ring(go("aside", 1, 4)), bounds=(at(0, 1, 2),))
    assert way_out(beyond, ARRIVE, ROUND, 1) is None
    monkeypatch.setattr(module, "SEARCHED", 2)
    assert way_out(ring(go("out", 2, 3), go("on", 3, 9)), ARRIVE, ROUND, 1) is None


def test_a_formula_asks_for_no_single_moment() -> None:
    assert way_out(ring(), replace(ARRIVE, formula=Atom(0)), ROUND, 1) is None
