"""Goal: a trace shows only what the reference semantics does, and says what went wrong."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from machines import (
    FALSE,
    KNOWN,
    cast,
    counter,
    fifo_with_loss,
    lamp,
    less,
    number,
    overflow,
    prop,
    read,
)

from checker.errors import InternalError
from checker.flow import machine_of
from checker.machine.machine import Machine
from checker.machine.types import Range
from checker.search.finding import Finding
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.semantics import execute as execute_module
from checker.semantics import successors as successors_module
from checker.semantics.successors import initial_steps
from checker.trace import rebuild as rebuild_module
from checker.trace.naming import step_name
from checker.trace.rebuild import rebuild


def with_false(machine: Machine) -> Machine:
    """The machine with a property `x` that every state breaks."""
    return replace(machine, properties=(prop("x", "always", FALSE),))


def test_steps_are_numbered_named_and_show_what_changed() -> None:
    machine = counter()
    trace = rebuild(machine, explore_reference(machine, Limits()).findings[0])
    assert (trace.property_name, trace.kind, trace.length) == ("deadlock", "deadlock", 3)
    assert [step_name(step) for step in trace.steps] == [
        "initial state",
        "increase",
        "increase",
        "increase",
    ]
    assert [str(change) for step in trace.steps for change in step.changes] == [
        "n: 0 -> 1",
        "n: 1 -> 2",
        "n: 2 -> 3",
    ]
    assert trace.states == ((0,), (1,), (2,), (3,))


def test_messages_are_events_and_not_changes_as_well() -> None:
    machine = fifo_with_loss()
    path = (((), 1), ((1,), 1), ((), 0))
    trace = rebuild(with_false(machine), Finding("x", "always", 2, path))
    put, lose = trace.steps[1:]
    assert step_name(put) == "put(1)"
    assert [(event.label, event.message) for event in put.events] == [("sent", 1)]
    assert put.changes == ()
    assert lose.fault == "loss"
    assert [event.label for event in lose.events] == ["lost"]
    assert [str(change) for change in lose.changes] == ["budget: 1 -> 0"]


def test_the_illegal_move_is_on_the_last_step() -> None:
    machine = lamp()
    (finding,) = explore_reference(machine, Limits()).findings
    trace = rebuild(machine, finding)
    assert [(move.origin, move.target) for move in trace.steps[-1].illegal] == [("broken", "on")]
    assert not any(step.illegal for step in trace.steps[:-1])


def test_a_step_that_fails_is_the_last_and_has_no_state() -> None:
    machine = overflow()
    (finding,) = explore_reference(machine, Limits()).findings
    trace = rebuild(machine, finding)
    assert trace.failure is not None
    assert (trace.failure.code, trace.failure.row) == ("E501", "increase")
    assert trace.steps[-1].state is None
    assert trace.steps[-1].error is not None
    assert (trace.length, len(trace.states)) == (3, 3)


def test_a_property_that_cannot_be_evaluated_is_named() -> None:
    low = Range(0, 1)
    machine = counter()
    broken = prop("small", "always", less(cast(read("n", Range(0, 3)), low), number(9)))
    machine = replace(machine, properties=(broken,))
    finding = next(
        item for item in explore_reference(machine, Limits()).findings if item.kind == "error"
    )
    trace = rebuild(machine, finding)
    assert trace.failure is not None
    assert (trace.failure.code, trace.failure.property) == ("E501", "small")
    assert trace.states[-1] == (2,)


@pytest.mark.parametrize(
    "path",
    [((1,),), ((0,), (2,)), ((0,), (1,), (1,))],
    ids=["not initial", "no such step", "no self-loop"],
)
def test_a_path_that_the_semantics_does_not_know_is_an_internal_error(
    path: tuple[tuple[int, ...], ...],
) -> None:
    with pytest.raises(InternalError):
        rebuild(with_false(counter()), Finding("x", "always", len(path) - 1, path))


@pytest.mark.parametrize(
    ("finding", "why"),
    [
        (Finding("deadlock", "deadlock", 1, ((0,), (1,))), "no deadlock"),
        (Finding("legal", "legal", 1, ((0,), (1,))), "no row"),
        (Finding("small", "always", 1, ((0,), (1,))), "does not show small"),
        (Finding("unknown", "always", 0, ((0,),)), "no property unknown"),
    ],
    ids=["deadlock", "legal", "always", "unknown"],
)
def test_a_path_that_does_not_show_what_it_claims_is_an_internal_error(
    finding: Finding, why: str
) -> None:
    small = prop("small", "always", less(read("n", Range(0, 3)), number(3)))
    machine = replace(counter(), properties=(small,))
    with pytest.raises(InternalError, match=why):
        rebuild(machine, finding)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_everything_that_a_search_finds_can_be_rebuilt(known: object) -> None:
    machine = known.machine  # type: ignore[attr-defined]
    for finding in explore_reference(machine, Limits(keep_going=True)).findings:
        trace = rebuild(machine, finding)
        assert trace.states == finding.path


def test_of_many_initial_states_only_those_before_the_first_are_executed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = machine_of("termination_detection", "default", {"nodes": 5})
    first = next(initial_steps(machine))
    assert first.state is not None
    executed = []
    real = execute_module.executions

    def counted(*arguments: Any) -> Iterator[Any]:
        for execution in real(*arguments):
            executed.append(execution)
            yield execution

    monkeypatch.setattr(successors_module, "executions", counted)
    found = Finding("is_detected", "sometimes", 0, (first.state,))
    monkeypatch.setattr(rebuild_module, "shown", lambda *_: None)
    monkeypatch.setattr(rebuild_module, "_reasons", lambda *_: ())
    assert rebuild(machine, found).steps[0].state == first.state
    assert len(executed) == 1  # of 5,120
