"""Every reachable state of a small machine by the reference semantics, with what led there."""

from collections import deque
from dataclasses import dataclass, field

from checker.machine.machine import Machine
from checker.semantics.successor import State, Successor
from checker.semantics.successors import as_mapping, initial_states, successors

LIMIT = 5_000


@dataclass
class Walked:
    """What was reached: states as name to value, steps taken, errors met."""

    machine: Machine
    states: list[dict[str, object]] = field(default_factory=list)
    steps: list[Successor] = field(default_factory=list)

    @property
    def errors(self) -> set[tuple[str, str]]:
        return {(step.action, step.error.code) for step in self.steps if step.error}

    @property
    def events(self) -> set[tuple[str, str]]:
        return {(step.action, event.label) for step in self.steps for event in step.events}

    def values(self, variable: str) -> set[str]:
        return {str(state[variable]) for state in self.states}

    def taken(self, action: str) -> list[Successor]:
        return [step for step in self.steps if step.action == action]


def walk(machine: Machine) -> Walked:
    found = Walked(machine)
    seen: set[State] = set()
    waiting: deque[State] = deque()

    def reach(step: Successor) -> None:
        if step.state is not None and step.cut is None and step.state not in seen:
            seen.add(step.state)
            waiting.append(step.state)
            found.states.append(as_mapping(machine, step.state))

    for step in initial_states(machine):
        found.steps += [step] if step.error else []
        reach(step)
    while waiting:
        assert len(seen) < LIMIT
        for step in successors(machine, waiting.popleft()):
            found.steps.append(step)
            reach(step)
    return found
