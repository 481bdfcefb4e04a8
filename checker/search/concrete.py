"""Concrete runs to what the reference search found among representatives.

A search under symmetry expands one state of each orbit. From a representative a run goes on to
the representative of its successor, and so on: its states are real, but no step leads from one to
the next. A counterexample is a real run, so it is walked again, from a real initial state, always
by the first step that leads to an orbit from which the finding is as near as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from checker.errors import EvaluationError, InternalError
from checker.machine.machine import Machine
from checker.search.finding import Finding
from checker.semantics.successor import State, Successor
from checker.semantics.successors import (
    deadlocked,
    failing,
    initial_states,
    step_violations,
    successors,
    unjudged,
    witnessed,
)

Item = TypeVar("Item")

Canonical = Callable[[State], State]
"""From a state to the representative of its orbit."""


def concrete_path(
    machine: Machine, finding: Finding, levels: Sequence[Sequence[State]], canonical: Canonical
) -> tuple[State, ...]:
    """Return the least shortest real run to `finding`; `levels[d]` are representatives at depth d.

    Not for a failure of the initial action, which comes before all runs.
    InternalError when there is none: then the machine does not treat the ids alike.
    """
    in_source = finding.kind == "deadlock" or finding.action is not None
    last = finding.depth if in_source else finding.depth - 1
    marks = _marks(machine, finding, levels[: last + 1], canonical)
    path: list[State] = []
    steps, source = initial_states(machine), None
    for marked in marks:
        source = _first(state for state in _stored(steps) if canonical(state) in marked)
        path.append(source)
        steps = successors(machine, source)
    if not in_source:
        found = _first(step for step in steps if _shows(machine, finding, source, step))
        assert found.state is not None
        path.append(found.state)
    return tuple(path)


def _marks(
    machine: Machine, finding: Finding, levels: Sequence[Sequence[State]], canonical: Canonical
) -> list[set[State]]:
    """Return of each level the representatives from which the finding is as near as can be."""
    marks: list[set[State]] = [set() for _ in levels]
    for depth in reversed(range(len(levels))):
        for state in levels[depth]:
            steps = successors(machine, state)
            if depth + 1 < len(levels):
                leads = any(canonical(other) in marks[depth + 1] for other in _stored(steps))
            elif finding.kind == "deadlock" or finding.action is not None:
                leads = _ends(machine, finding, state, steps)
            else:
                leads = any(_shows(machine, finding, state, step) for step in steps)
            if leads:
                marks[depth].add(state)
    return marks


def _stored(steps: Sequence[Successor]) -> list[State]:
    """Return the states that steps lead to within the bounds."""
    return [step.state for step in steps if step.state is not None and step.cut is None]


def _ends(machine: Machine, finding: Finding, state: State, steps: Sequence[Successor]) -> bool:
    """Whether `state`, with these steps, is the deadlock or the source of the failed step."""
    if finding.action is not None:
        return any(step.error is not None and step.action == finding.action for step in steps)
    try:
        return deadlocked(machine, state, steps)
    except EvaluationError:
        return False


def _shows(machine: Machine, finding: Finding, source: State | None, step: Successor) -> bool:
    """Whether a step, or the state it leads to, shows the finding."""
    if step.state is None:
        return False
    match finding.kind:
        case "legal":
            return bool(step.illegal)
        case "step" | "refines":
            return finding.property in step_violations(machine, source, step)
        case "error":
            return _fails(machine, step.state)
    found = failing(machine, step.state) + witnessed(machine, step.state)
    return (finding.property, None) in found


def _fails(machine: Machine, state: State) -> bool:
    """Whether a property or a terminal condition cannot be evaluated in `state`."""
    if unjudged(machine, state):
        return True
    if any(error for _, error in failing(machine, state) + witnessed(machine, state)):
        return True
    try:
        deadlocked(machine, state, successors(machine, state))
    except EvaluationError:
        return True
    return False


def _first(items: Iterator[Item]) -> Item:
    for item in items:
        return item
    raise InternalError("what was found among representatives has no real run")
