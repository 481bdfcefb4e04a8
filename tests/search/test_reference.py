"""Goal: the reference search counts, stops and reports as docs/semantics.md says."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from machines import (
    FALSE,
    KNOWN,
    Known,
    action,
    assign,
    binding,
    bounded_counter,
    cast,
    counter,
    equal,
    everything,
    fresh_ids,
    hour_clock,
    lamp,
    less,
    local,
    machine,
    negated,
    number,
    overflow,
    place,
    plus,
    prop,
    read,
    seeded_machine,
    two_phase,
    variable,
)
from test_engines_agree import assert_agreement

from checker.machine import terms as t
from checker.machine.machine import Machine
from checker.machine.types import Range
from checker.search.exploration import Exploration, RowCoverage
from checker.search.finding import Finding
from checker.search.limits import Limits
from checker.search.progress import Progress
from checker.search.reference import _Search, explore_reference
from checker.search.stopping import Clock
from checker.semantics.successor import State
from checker.semantics.successors import initial_states, successors
from checker.source import NOWHERE

N = Range(0, 9)
COUNT = read("n", N)
ALL = Limits(keep_going=True)


def explore(made: Machine, limits: Limits | None = None, **parts: object) -> Exploration:
    return explore_reference(replace(made, **parts), limits or Limits())


def one_modulo_less_two() -> t.Term:
    """`1 % (n - 2)`, which fails (E503) at 2."""
    less_two = t.Arithmetic("-", COUNT, number(2), Range(-2, 7), NOWHERE)
    return t.Arithmetic("%", number(1), less_two, Range(-1, 6), NOWHERE)


def by_name(run: Exploration) -> dict[str, Finding]:
    return {finding.property: finding for finding in run.findings}


def is_not(value: int, name: str = "stays_away") -> tuple[object, ...]:
    return (prop(name, "always", negated(equal(COUNT, number(value)))),)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_known_counts(known: Known) -> None:
    run = explore(known.machine, ALL)
    assert (run.distinct, run.generated, run.depth) == (
        known.distinct,
        known.generated,
        known.depth,
    )
    assert (run.deadlocks, run.cuts) == (known.deadlocks, known.cuts)
    assert run.exhaustive
    assert run.stopped_by is None
    assert sum(run.levels) == run.distinct
    assert run.depth_complete == run.depth


def test_two_phase_commit_holds() -> None:
    run = explore(two_phase())
    assert run.findings == ()
    assert run.exhaustive


def test_rows_are_covered_by_states_steps_and_changes() -> None:
    assert explore(hour_clock()).rows == (RowCoverage("tick", 12, 12, 12),)
    assert explore(counter()).rows == (RowCoverage("increase", 3, 3, 3),)
    assert explore(fresh_ids()).rows == (RowCoverage("join", 4, 4, 3),)


# ----------------------------------------------------------------------------------- findings


def test_a_deadlock_is_as_deep_as_its_state() -> None:
    (deadlock,) = explore(counter(2)).findings
    assert deadlock == Finding("deadlock", "deadlock", 2, ((0,), (1,), (2,)))


def test_deadlocks_are_counted_but_no_finding_where_they_are_allowed() -> None:
    run = explore(counter(2), deadlock=False)
    assert (run.deadlocks, run.findings) == (1, ())
    terminal = (equal(COUNT, number(2)),)
    assert explore(counter(2), terminal=terminal).deadlocks == 0


def test_an_illegal_move_is_found_with_the_step_that_makes_it() -> None:
    (legal,) = explore(lamp()).findings
    assert legal == Finding("legal", "legal", 3, (("off",), ("on",), ("broken",), ("on",)))


def test_a_failed_step_ends_in_the_state_it_failed_in() -> None:
    run = explore(overflow(2), ALL)
    assert run.findings == (Finding("error", "error", 2, ((0,), (1,), (2,)), "increase"),)
    assert run.stopped_by == "evaluation_error"
    assert not run.exhaustive
    assert (run.generated, run.rows[0]) == (3, RowCoverage("increase", 2, 2, 2))


def test_a_property_that_cannot_be_evaluated_is_an_error_in_the_state_it_fails_in() -> None:
    odd = one_modulo_less_two()
    ((error),) = explore(
        counter(9),
        properties=(prop("p", "always", less(odd, number(9))),),
        variables=(variable("n", N, 2),),
    ).findings
    assert error == Finding("error", "error", 0, ((2,),))


def test_of_several_errors_a_shallowest_is_reported() -> None:
    x = local("x", N)
    start = action(
        "initial",
        assign(place("n", N), x),
        bindings=[binding("x", t.Interval(number(0), number(1), everything(N).type, NOWHERE))],
    )
    go = action("go", assign(place("n", N), number(2)), guard=equal(COUNT, number(0)))
    fails = action(
        "fails", assign(place("n", N), cast(number(12), N)), guard=equal(COUNT, number(1))
    )
    wrong = one_modulo_less_two()
    made = machine("two_errors", [variable("n", N, 0)], [go, fails], initial=start)
    made = replace(made, properties=(prop("wrong_at_2", "sometimes", less(wrong, COUNT)),))
    assert by_name(explore(made))["error"] == Finding("error", "error", 0, ((1,),), "fails")


def test_a_violated_invariant_and_a_step_are_reported_at_their_least_depth() -> None:
    after = t.Next(COUNT, N, NOWHERE)
    slow = prop("slow", "step", negated(equal(after, number(3))))
    run = explore(counter(9), properties=(*is_not(3), *is_not(5, "later"), slow))
    path = ((0,), (1,), (2,), (3,))
    assert run.findings == (
        Finding("slow", "step", 3, path),
        Finding("stays_away", "always", 3, path),
    )
    assert (run.stopped_by, run.exhaustive) == ("violation", False)
    assert (run.levels, run.depth_complete) == ((1, 1, 1, 1), 2)


def test_step_properties_see_self_loops() -> None:
    made = machine("loop", [variable("n", N, 0)], [action("stutter")])
    moves = prop("moves", "step", negated(equal(COUNT, t.Next(COUNT, N, NOWHERE))))
    assert by_name(explore(made, properties=(moves,)))["moves"].path == ((0,), (0,))


def test_a_witness_does_not_end_the_search() -> None:
    seen = prop("seen", "sometimes", equal(COUNT, number(1)))
    run = explore(counter(4), properties=(seen,), deadlock=False)
    assert run.findings == (Finding("seen", "sometimes", 1, ((0,), (1,))),)
    assert run.exhaustive


def test_states_outside_the_bounds_are_checked_but_not_stored() -> None:
    run = explore(bounded_counter(), properties=is_not(3))
    assert by_name(run)["stays_away"].path == ((0,), (1,), (2,), (3,))
    assert (run.distinct, run.cuts) == (3, 1)


def test_initial_states_are_checked_and_cut_too() -> None:
    run = explore(hour_clock(), bounds=(less(read("hour", Range(1, 12)), number(3)),))
    assert (run.distinct, run.generated, run.cuts) == (2, 12 + 2, 10 + 1)
    run = explore(counter(9), properties=is_not(0))
    assert run.findings == (Finding("stays_away", "always", 0, ((0,),)),)
    assert (run.levels, run.depth_complete) == ((1,), -1)


def test_a_machine_without_initial_states_has_no_states() -> None:
    run = explore(counter(), initial=action("initial", guard=FALSE))
    assert (run.distinct, run.levels, run.depth, run.exhaustive) == (0, (), 0, True)


def test_an_error_in_the_initial_action() -> None:
    start = action("initial", assign(place("n", Range(0, 3)), cast(number(7), Range(0, 3))))
    (error,) = explore(counter(), initial=start).findings
    assert error == Finding("error", "error", 0, ())


def test_a_failure_of_the_initial_action_comes_before_what_initial_states_show() -> None:
    # 2 is met first, and nothing can be said of it; 7 does not fit.
    small, chosen = Range(0, 3), local("v", N)
    domain = t.SetOf(tuple(cast(number(n), N) for n in (2, 3, 7)), everything(N).type, NOWHERE)
    start = action(
        "initial",
        assign(place("n", small), cast(chosen, small)),
        bindings=[binding("v", domain)],
    )
    n = read("n", small)
    less_two = t.Arithmetic("-", n, number(2), Range(-2, 1), NOWHERE)
    modulo = t.Arithmetic("%", number(1), less_two, Range(-1, 1), NOWHERE)
    claims = (
        prop("zero", "always", equal(n, number(0))),
        prop("undefined", "always", equal(modulo, number(0))),
    )
    made = replace(counter(), initial=start, properties=claims)
    assert_agreement(made, Limits())
    assert [each.property for each in explore(made).findings] == ["error", "zero"]
    assert explore(made).findings[0].path == ()


# --------------------------------------------------------------------------- which path, where


def diamond() -> Machine:
    """From 0 two rows lead to 1 and 2, whatever their numbers, and from both one to 3."""
    x = local("x", N)

    def move(name: str, origin: int, *targets: int) -> object:
        domain = t.SetOf(
            tuple(cast(number(each), N) for each in targets), everything(N).type, NOWHERE
        )
        guard = equal(COUNT, number(origin))
        step = assign(place("n", N), x)
        return action(name, step, guard=guard, bindings=[binding("x", domain)])

    actions = [move("second", 0, 2), move("both", 0, 1, 4), move("up", 1, 3), move("on", 2, 3)]
    return machine("diamond", [variable("n", N, 0)], actions, deadlock=False)  # type: ignore[arg-type]


def test_among_shortest_paths_the_one_whose_rows_come_first_in_the_file() -> None:
    run = explore(diamond(), properties=is_not(3))
    assert run.findings[0].path == ((0,), (2,), (3,))


def paths(made: Machine, length: int) -> Iterator[tuple[State, ...]]:
    """Yield all paths of that many steps in lexicographic order, by recursion."""

    def longer(path: tuple[State, ...], left: int) -> Iterator[tuple[State, ...]]:
        if left == 0:
            yield path
            return
        for step in successors(made, path[-1]):
            if step.state is not None and step.cut is None:
                yield from longer((*path, step.state), left - 1)

    for step in initial_states(made):
        if step.state is not None and step.cut is None:
            yield from longer((step.state,), length)


@pytest.mark.parametrize("seed", range(40))
def test_paths_are_the_least_shortest_ones(seed: int) -> None:
    made = replace(seeded_machine(seed, errors=False, states=60), properties=())
    limits = Limits(keep_going=True)
    search = _Search(made, limits, Clock(limits, None, None))
    search.run()
    for state in list(search.parents)[:12]:
        path = search.path((state,))
        if len(path) <= 3:
            wanted = (each for each in paths(made, len(path) - 1) if each[-1] == state)
            assert path == next(wanted)
            shorter = (each for n in range(len(path) - 1) for each in paths(made, n))
            assert all(each[-1] != state for each in shorter)


# -------------------------------------------------------------------------------------- limits


def test_a_finished_level_reports_everything_that_broke_in_it() -> None:
    run = explore(
        diamond(), properties=(*is_not(2, "two"), *is_not(4, "four"), *is_not(3, "three"))
    )
    assert set(by_name(run)) == {"two", "four"}
    assert (run.distinct, run.levels) == (4, (1, 3))
    everything_found = explore(
        diamond(), ALL, properties=(*is_not(2, "two"), *is_not(4, "four"), *is_not(3, "three"))
    )
    assert set(by_name(everything_found)) == {"two", "four", "three"}
    assert (everything_found.stopped_by, everything_found.exhaustive) == (None, True)


def test_a_violation_when_nothing_is_left_leaves_the_search_exhaustive() -> None:
    run = explore(counter(2))
    assert by_name(run)["deadlock"]
    assert (run.stopped_by, run.exhaustive) == (None, True)


def test_a_depth_limit_finishes_a_level() -> None:
    run = explore(counter(9), Limits(depth=3), properties=is_not(4))
    assert (run.stopped_by, run.exhaustive) == ("depth", False)
    assert (run.levels, run.depth_complete, run.findings) == ((1, 1, 1, 1), 2, ())
    assert explore(counter(9), Limits(depth=4), properties=is_not(4)).findings
    assert explore(counter(3), Limits(depth=4)).exhaustive


def test_a_limit_of_states_is_never_exceeded() -> None:
    run = explore(two_phase(), Limits(states=100))
    assert (run.distinct, run.stopped_by, run.exhaustive) == (100, "states", False)
    assert sum(run.levels) == 100
    assert run.depth_complete == run.depth - 2
    assert explore(two_phase(), Limits(states=288)).exhaustive


def test_limits_of_time_and_memory_stop_within_a_level() -> None:
    assert explore(two_phase(), Limits(seconds=0.0)).stopped_by == "seconds"
    run = explore(two_phase(), Limits(memory_bytes=1))
    assert (run.stopped_by, run.depth_complete) == ("memory", -1)


def test_an_interrupt_ends_the_search_with_what_was_found() -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    search = _Search(two_phase(), Limits(), Clock(Limits(), interrupt, None, reported=-1.0))
    search.run()
    run = search.exploration()
    assert (run.stopped_by, run.exhaustive) == ("interrupt", False)
    assert run.distinct == sum(run.levels)


def test_progress_is_told_with_the_counts_so_far() -> None:
    told: list[Progress] = []
    search = _Search(two_phase(), Limits(), Clock(Limits(), told.append, None, reported=-1.0))
    search.run()
    assert told[0].depth == 1
    assert 1 < told[0].distinct <= 288
    assert told[0].frontier == 1


def test_liveness_is_left_to_others() -> None:
    ends = prop("ends", "eventually", plus_one_is(3))
    assert explore(counter(2), properties=(ends,), deadlock=False).findings == ()


def plus_one_is(value: int) -> t.Term:
    return equal(plus(COUNT, 1), number(value))
