"""Concrete runs to what the reference search found among representatives.

A search under symmetry expands one state of each orbit. From a representative a run goes on to
the representative of its successor, and so on: its states are real, but no step leads from one to
the next. A counterexample is a real run, so it is walked again, from a real initial state, always
by the first step that leads to an orbit from which the finding is as near as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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


def concrete(
    machine: Machine,
    finding: Finding,
    levels: Sequence[Sequence[State]],
    canonical: Canonical,
    *,
    in_source: bool,
) -> Finding:
    """Return `finding` with the least shortest real run to it.

    `levels[d]` are representatives at depth d. `in_source`: it was seen in a state that was
    expanded, else on a step, or in the state that it leads to. Not for a failure of the initial
    action, which comes before all runs. InternalError where there is no run: then the machine does
    not treat the ids alike.
    """
    last = finding.depth if in_source else finding.depth - 1
    marks = _marks(machine, finding, levels[: last + 1], canonical, in_source=in_source)
    path: list[State] = []
    steps, source = initial_states(machine), None
    for marked in marks:
        source = _first(state for state in _stored(steps) if canonical(state) in marked)
        path.append(source)
        steps = successors(machine, source)
    if in_source:
        failed = next((step.action for step in steps if step.error is not None), None)
        action = failed if finding.kind == "error" else None
        return replace(finding, path=tuple(path), action=action)
    found = _first(step for step in steps if _shows(machine, finding, source, step))
    assert found.state is not None
    return replace(finding, path=(*path, found.state))


def _marks(
    machine: Machine,
    finding: Finding,
    levels: Sequence[Sequence[State]],
    canonical: Canonical,
    *,
    in_source: bool,
) -> list[set[State]]:
    """Return of each level the representatives from which the finding is as near as can be."""
    marks: list[set[State]] = [set() for _ in levels]
    for depth in reversed(range(len(levels))):
        for state in levels[depth]:
            steps = successors(machine, state)
            if depth + 1 < len(levels):
                leads = any(canonical(other) in marks[depth + 1] for other in _stored(steps))
            elif in_source:
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
    """Whether `state`, with these steps, is the deadlock; or a step, or what ends runs, fails."""
    fails = finding.kind == "error"
    if fails and any(step.error is not None for step in steps):
        return True
    try:
        return deadlocked(machine, state, steps) and not fails
    except EvaluationError:
        return fails


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
    """Whether a property cannot be evaluated in `state`."""
    judged = failing(machine, state) + witnessed(machine, state)
    return bool(unjudged(machine, state)) or any(error for _, error in judged)


def _first(items: Iterator[Item]) -> Item:
    for item in items:
        return item
    raise InternalError("what was found among representatives has no real run")
