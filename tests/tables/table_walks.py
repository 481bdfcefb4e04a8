"""Steps of a machine, one by one, for what is said of state tables."""

from __future__ import annotations

from collections import deque

from checker.machine.machine import Machine
from checker.machine.types import Map
from checker.semantics.successor import State
from checker.semantics.successors import initial_states, successors
from checker.semantics.values import MapValue


def walked(machine: Machine, count: int) -> list[tuple[State, str, State]]:
    """Return the steps out of the first so many states, by breadth."""
    queue = deque(step.state for step in initial_states(machine) if step.state is not None)
    seen, steps = set(queue), []
    for _ in range(count):
        if not queue:
            break
        state = queue.popleft()
        for step in successors(machine, state):
            if step.state is not None:
                steps.append((state, step.action, step.state))
                if step.state not in seen and step.cut is None:
                    seen.add(step.state)
                    queue.append(step.state)
    return steps


def parts(machine: Machine, state: State, name: str) -> dict[object, str]:
    """Return the states of the machines of a variable, by their ids."""
    place = [variable.name for variable in machine.variables].index(name)
    value = state[place]
    if isinstance(machine.variable(name).type, Map):
        assert isinstance(value, MapValue)
        return {key: str(item) for key, item in value.items()}
    return {(): str(value)}
