"""Takes a Machine and a Finding at the end of a long way, makes one at the end of a shorter way.

Steps are left out, many at a time and then fewer, as long as what is left still goes wrong in the
same way: the minimizing of Zeller and Hildebrandt 2002 ("Simplifying and Isolating Failure-Inducing
Input"). A step is a row with its bindings and picks; one that cannot be done any more, because what
it needs was left out, is passed over. By the reference semantics alone. The way that is left is one
that nothing can be left out of; that it is a shortest one nobody says.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from checker.errors import EvaluationError
from checker.frozen import frozen
from checker.machine.machine import OF_STEPS, Action, Machine
from checker.search.finding import Finding
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State, Successor
from checker.semantics.successors import (
    as_mapping,
    deadlocked,
    step_violations,
    successors,
    successors_by,
)
from checker.trace.rebuild import rebuild

SECONDS = 20.0
"""After so long a way is taken as it is by then."""


@frozen()
class _Label:
    """What a step is known by: a row, and the values that its name has."""

    row: str
    bindings: tuple[tuple[str, object], ...]
    picks: tuple[tuple[str, object], ...]


def shorten(machine: Machine, finding: Finding, seconds: float = SECONDS) -> Finding:
    """Return `finding` at the end of a way of which no step can be left out, or half-way there.

    Findings of endless runs, and errors that are not a row's, are returned as they are.
    """
    if finding.loop is not None or (finding.kind == "error" and finding.action is None):
        return finding
    end = time.perf_counter() + seconds
    trace = rebuild(machine, finding)
    labels = [
        _Label(step.row, step.bindings, step.picks) for step in trace.steps[1 : len(finding.path)]
    ]
    ways = _Ways(machine, finding)
    best = ways.follow(_Way((), finding.path[:1]), labels)
    if best is None:
        return finding
    parts = 2
    while len(best.labels) > 1 and time.perf_counter() < end:
        size = -(-len(best.labels) // parts)
        shorter = None
        for begin in range(0, len(best.labels), size):
            before = _Way(best.labels[:begin], best.states[: begin + 1])
            shorter = ways.follow(before, best.labels[begin + size :])
            if shorter is not None or time.perf_counter() >= end:
                break
        if shorter is not None:
            best = shorter
            parts = max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(best.labels))
    return replace(finding, path=best.states, depth=len(best.states) - 1)


@frozen()
class _Way:
    """Steps that end in what was found, with the states from the initial one on."""

    labels: tuple[_Label, ...]
    states: tuple[State, ...]


@dataclass
class _Ways:
    """Ways of one machine to what a finding claims; `known` are the steps that were tried."""

    machine: Machine
    finding: Finding
    known: dict[tuple[State, _Label], Successor | None] = field(default_factory=dict)

    @cached_property
    def _actions(self) -> dict[str, Action]:
        return {action.name: action for action in self.machine.actions}

    def follow(self, before: _Way, labels: Sequence[_Label]) -> _Way | None:
        """Return the way that goes on by those of the steps that can be done.

        None if nothing breaks.
        """
        states = list(before.states)
        done = list(before.labels)
        for label in labels:
            step = self._step(states[-1], label)
            if step is None or step.state is None:
                continue
            wrong = self._breaks(states[-1], step, step.state)
            if step.cut is not None and not wrong:
                continue
            states.append(step.state)
            done.append(label)
            if wrong:
                return _Way(tuple(done), tuple(states))
        return _Way(tuple(done), tuple(states)) if self._ends(states[-1]) else None

    def _step(self, state: State, label: _Label) -> Successor | None:
        """Return what a step does in a state; None where it cannot be done."""
        if (state, label) not in self.known:
            self.known[state, label] = self._found(state, label)
        return self.known[state, label]

    def _found(self, state: State, label: _Label) -> Successor | None:
        for step in successors_by(self.machine, (self._actions[label.row],), state):
            if step.bindings == label.bindings and step.picks == label.picks:
                return step
        return None

    def _breaks(self, before: State, step: Successor, after: State) -> bool:
        """Whether a step, or the state it leads to, is what was found."""
        if self.finding.kind == "legal":
            return bool(step.illegal)
        if self.finding.kind in OF_STEPS:
            return self.finding.property in step_violations(self.machine, before, step)
        if self.finding.kind not in ("always", "sometimes"):
            return False
        declared = next(
            item for item in self.machine.properties if item.name == self.finding.property
        )
        try:
            holds = evaluate(declared.condition, Context(as_mapping(self.machine, after), {}))
        except EvaluationError:
            return False
        return bool(holds) == (self.finding.kind == "sometimes")

    def _ends(self, state: State) -> bool:
        """Whether what was found is that a state has no step, or that a row fails in it."""
        if self.finding.kind == "deadlock":
            try:
                return deadlocked(self.machine, state, successors(self.machine, state))
            except EvaluationError:  # nobody knows
                return False
        if self.finding.kind == "error" and self.finding.action is not None:
            action = self._actions[self.finding.action]
            return any(step.error for step in successors_by(self.machine, (action,), state))
        return False
