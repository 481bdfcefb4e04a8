"""Goal: which steps there are, in which order, and what is said of a step that fails or is cut."""

from dataclasses import replace

import pytest
from machines import (
    FALSE,
    TRUE,
    action,
    assign,
    at,
    binding,
    cast,
    contains,
    equal,
    everything,
    fresh_ids,
    hour_clock,
    less,
    lit,
    local,
    machine,
    number,
    pick,
    place,
    plus,
    prop,
    read,
    variable,
)

from checker.errors import EvaluationError
from checker.machine import terms as t
from checker.machine.machine import Action, Machine
from checker.machine.types import Enum, Map, Range, Set
from checker.semantics.successor import Successor
from checker.semantics.successors import (
    deadlocked,
    failing,
    initial_states,
    start_state,
    step_violations,
    successors,
    witnessed,
)
from checker.semantics.values import MapValue
from checker.source import NOWHERE

N = Range(0, 3)
LEVEL = Enum("Level", ("low", "high"))
HELD = Map(LEVEL, N, total=False)
COUNT = read("n", N)
X, Y = local("x", N), local("y", N)
BROKEN = equal(at(lit(MapValue({}), HELD), lit("low", LEVEL)), number(0))
"""A condition that fails (E505)."""


def set_n(value: t.Term) -> t.Assign:
    return assign(place("n", N), cast(value, N))


def one(*actions: Action, **parts: object) -> Machine:
    return replace(machine("one", [variable("n", N, 0)], actions), **parts)


def shape(steps: list[Successor]) -> list[tuple[object, ...]]:
    """What tells steps apart: action, values of bindings and picks, state or how it ended."""
    return [
        (
            step.action,
            *(value for _, value in step.bindings + step.picks),
            step.state or step.cut or (step.error and step.error.code),
        )
        for step in steps
    ]


def test_actions_in_file_order_then_bindings_then_picks() -> None:
    later = t.Interval(X, number(1), Set(N), NOWHERE)
    pairs = action(
        "pairs",
        pick("p", everything(LEVEL)),
        set_n(Y),
        bindings=[binding("x", everything(Range(0, 1))), binding("y", later)],
    )
    last = action("another", set_n(number(3)))
    assert shape(successors(one(pairs, last), (0,))) == [
        ("pairs", 0, 0, "low", (0,)),
        ("pairs", 0, 0, "high", (0,)),
        ("pairs", 0, 1, "low", (1,)),
        ("pairs", 0, 1, "high", (1,)),
        ("pairs", 1, 1, "low", (1,)),
        ("pairs", 1, 1, "high", (1,)),
        ("another", (3,)),
    ]


def test_conditions_and_guards_select_and_lets_see_earlier_ones() -> None:
    made = action(
        "made",
        set_n(local("more", N)),
        guard=less(local("more", N), number(3)),
        bindings=[binding("x", everything(N), less(number(0), X))],
    )
    lets = (("more", cast(plus(X, 0), N)), ("hidden", local("more", N)))
    made = replace(made, lets=lets, shown_lets=("more",))
    steps = successors(one(made), (0,))
    assert [step.bindings for step in steps] == [
        (("x", 1), ("more", 1)),
        (("x", 2), ("more", 2)),
    ]


def test_a_hidden_binding_is_not_in_the_name() -> None:
    hidden = replace(binding("x", everything(Range(0, 1))), shown=False)
    steps = successors(one(action("made", set_n(X), bindings=[hidden])), (0,))
    assert [(step.bindings, step.state) for step in steps] == [((), (0,)), ((), (1,))]


def test_an_error_before_the_body_ends_only_what_depends_on_it() -> None:
    x_is_1 = equal(X, number(1))
    fails_at_1 = t.Or((t.Not(x_is_1, NOWHERE), BROKEN), NOWHERE)
    x = binding("x", everything(Range(0, 2)))
    domain = t.Choose(fails_at_1, everything(Range(0, 0)), everything(Range(0, 0)), Set(N), NOWHERE)
    in_guard = action("in_guard", guard=fails_at_1, bindings=[x])
    in_condition = action("in_condition", bindings=[replace(x, condition=fails_at_1)])
    in_domain = action("in_domain", bindings=[x, binding("y", domain)])
    assert shape(successors(one(in_guard, in_condition, in_domain), (2,))) == [
        ("in_guard", 0, (2,)),
        ("in_guard", 1, "E505"),
        ("in_guard", 2, (2,)),
        ("in_condition", 0, (2,)),
        ("in_condition", 1, "E505"),
        ("in_condition", 2, (2,)),
        ("in_domain", 0, 0, (2,)),
        ("in_domain", 1, "E505"),
        ("in_domain", 2, 0, (2,)),
    ]


def test_guards_are_short_circuit() -> None:
    guard = t.And((FALSE, BROKEN), NOWHERE)
    assert successors(one(action("never", guard=guard)), (0,)) == []


def test_abandoned_runs_are_no_steps() -> None:
    body = (pick("p", everything(N)), t.Require(less(local("p", N), number(1)), NOWHERE))
    assert shape(successors(one(action("made", *body)), (0,))) == [("made", 0, (0,))]


def test_states_outside_the_bounds_and_runs_out_of_ids_are_cut() -> None:
    bounded = one(action("three", set_n(number(3))), bounds=(less(COUNT, number(3)),))
    (step,) = successors(bounded, (0,))
    assert (step.state, step.cut) == ((3,), "bounds")
    (step,) = successors(fresh_ids(), (frozenset({"m1", "m2", "m3"}),))
    assert (step.state, step.cut, step.error) == (None, "ids", None)


def test_a_step_whose_bound_or_step_property_cannot_be_evaluated_has_failed() -> None:
    three = action("three", set_n(number(3)))
    for broken in (
        one(three, bounds=(BROKEN,)),
        one(three, properties=(prop("rises", "step", BROKEN),)),
    ):
        (step,) = successors(broken, (0,))
        assert step.state is None
        assert step.error is not None


def test_initial_states_are_all_executions_of_the_initial_action() -> None:
    hours = initial_states(hour_clock())
    assert [step.state for step in hours] == [(hour,) for hour in range(1, 13)]
    assert start_state(hour_clock()) == (1,)


def test_an_initial_value_that_fails_is_an_error_without_a_state() -> None:
    broken = one(action("made"))
    initial = t.Choose(BROKEN, number(0), number(1), N, NOWHERE)
    broken = replace(broken, variables=(replace(broken.variables[0], initial=initial),))
    (step,) = initial_states(broken)
    assert step.error is not None
    assert start_state(broken) is None


# ------------------------------------------------------------------------------------ deadlock


def test_only_faults_or_nothing_enabled_is_a_deadlock() -> None:
    fault = action("crash", fault="crash")
    for stuck in (one(), one(fault), one(action("never", guard=FALSE))):
        assert deadlocked(stuck, (0,), successors(stuck, (0,)))
    alive = one(fault, action("stutter"))
    assert not deadlocked(alive, (0,), successors(alive, (0,)))


def test_terminal_states_and_states_with_cut_or_failed_steps_are_no_deadlocks() -> None:
    terminal = one(terminal=(FALSE, equal(COUNT, number(0))))
    assert not deadlocked(terminal, (0,), [])
    assert deadlocked(terminal, (1,), [])
    full = (frozenset({"m1", "m2", "m3"}),)
    assert not deadlocked(fresh_ids(), full, successors(fresh_ids(), full))
    failing_guard = one(action("fails", guard=BROKEN, fault="crash"))
    assert not deadlocked(failing_guard, (0,), successors(failing_guard, (0,)))


def test_a_terminal_condition_that_fails_is_an_evaluation_error() -> None:
    with pytest.raises(EvaluationError):
        deadlocked(one(terminal=(BROKEN,)), (0,), [])


# ---------------------------------------------------------------------------------- properties


def test_properties_of_a_state_are_judged_each_by_itself() -> None:
    level = prop("broken", "always", BROKEN)
    made = one(
        properties=(
            prop("zero", "always", equal(COUNT, number(0))),
            level,
            prop("small", "always", contains(COUNT, everything(N))),
            prop("one", "sometimes", equal(COUNT, number(1))),
            prop("two", "sometimes", equal(COUNT, number(2))),
        )
    )
    ((zero, none), (broken, error)) = failing(made, (1,))
    assert (zero, none, broken) == ("zero", None, "broken")
    assert error is not None
    assert witnessed(made, (1,)) == (("one", None),)


def test_step_properties_relate_a_state_and_the_next() -> None:
    after = t.Next(COUNT, N, NOWHERE)
    rises = prop("rises", "step", t.Compare("<=", COUNT, after, NOWHERE))
    holds = prop("holds", "step", TRUE)
    made = one(action("reset", set_n(number(0))), properties=(rises, holds))
    (step,) = successors(made, (2,))
    assert step_violations(made, (2,), step) == ("rises",)
    assert step_violations(made, (0,), step) == ()
    assert step_violations(made, (2,), Successor("reset", (), (), None, cut="ids")) == ()
