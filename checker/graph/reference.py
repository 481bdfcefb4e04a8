"""Makes a Space with the reference interpreter: slow, and meant to be obviously right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from checker.errors import InternalError, UsageError
from checker.graph.space import Named, Space
from checker.graph.state_graph import StateGraph, Turning
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import Machine
from checker.search.beyond import NO_STATE, of_no_state, told_by
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.fairness import UNFAIR, fair_rows, strengths
from checker.semantics.renamings import Renamings, renamings_for
from checker.semantics.successor import State, Successor
from checker.semantics.successors import as_mapping, initial_states, successors
from checker.semantics.symmetry import permute_state, reduces, representative


def observe(machine: Machine, state: State) -> int:
    """Return what the liveness properties see in `state`, in the bits of `Kernel.observe`.

    In a state that an exhaustive search found each of them has a value.
    """
    context = Context(as_mapping(machine, state), {})
    flags = 0
    for place, item in enumerate(machine.watches):
        for first, term in ((CONDITION, item.condition), (PREMISE, item.premise)):
            if term is not None and evaluate(term, context):
                flags |= 1 << (first + place)
    return flags


def beyond(machine: Machine, step: Successor) -> int:
    """Return what a step that was cut tells of what lies behind it, in the bits of `Space`."""
    properties = len(machine.watches)
    if step.state is None:
        return of_no_state(properties)
    return told_by(observe(machine, step.state), properties)


def begun_beyond(machine: Machine, step: Successor) -> int:
    """Return what an initial state that was cut tells, as `beyond` does, and NO_STATE."""
    return beyond(machine, step) | (NO_STATE if step.state is None else 0)


class _Places:
    """Where states are among those that a search found, themselves or what stands for them."""

    def __init__(self, machine: Machine, states: Sequence[State]) -> None:
        self._machine = machine
        self._numbers = {state: number for number, state in enumerate(states)}
        self._states = states
        self.renamings = renamings_for(machine) if reduces(machine) else None

    def number(self, state: State) -> int | None:
        """Return the number of the state that stands for one; None where it was not found."""
        same = state if self.renamings is None else representative(self._machine, state)
        return self._numbers.get(same)

    def turn(self, state: State, number: int) -> int:
        """Return the first renaming that makes `state` of the one with a number."""
        if self.renamings is None:
            return 0
        found = self._states[number]
        return next(
            place
            for place, given in enumerate(self.renamings.maps)
            if permute_state(self._machine, found, given) == state
        )

    def turning(self, turns: list[int]) -> Turning | None:
        """Return how edges are turned, if states stand for their orbits."""
        renamings = self.renamings
        if renamings is None:
            return None

        def stays(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
            return np.array(
                [
                    [
                        permute_state(self._machine, state, given) == state
                        for given in renamings.maps
                    ]
                    for state in (self._states[number] for number in numbers.tolist())
                ],
                np.bool_,
            ).reshape(len(numbers), renamings.count)

        return Turning.of(renamings, np.array(turns, np.uint16), stays)


def reference_space(machine: Machine, states: Sequence[State]) -> Space:
    """Return the Space over `states`, all distinct ones within the bounds.

    InternalError where a step fails or leads to a state that is not among them; UsageError where
    temporal properties have more conditions than a state's flags have bits for.
    """
    most = CONDITION - PREMISE
    if len(machine.watches) > most:
        raise UsageError(
            f"{machine.name}: {len(machine.watches)} conditions in temporal properties, and at "
            f"most {most} are judged together; judge some at a time (--property)"
        )
    places = _Places(machine, states)
    fair = fair_rows(machine)
    offsets, targets, labels, turns = [0], list[int](), list[int](), list[int]()
    outside = np.zeros(len(states), np.int64)
    for source, state in enumerate(states):
        for step in successors(machine, state):
            target: int | None = len(states)
            turn = 0
            if step.cut is not None and step.state == state:
                target = source  # nothing changes, whatever the bounds say of such a step
            elif step.cut is not None:
                outside[source] |= beyond(machine, step)
            elif step.state is not None:
                target = places.number(step.state)
                turn = 0 if target is None else places.turn(step.state, target)
            if target is None or step.error is not None:
                raise InternalError(f"{step.action} leads out of what the search found")
            if target != source or turn:
                promised = fair.of(step) or (UNFAIR,)
                targets += [target] * len(promised)
                turns += [turn] * len(promised)
                labels += promised
        offsets.append(len(targets))
    initial = initial_states(machine)
    stored = [
        places.number(step.state) for step in initial if step.state is not None and not step.cut
    ]
    return Space(
        graph=StateGraph(
            offsets=np.array([*offsets, len(targets)], np.int64),
            targets=np.array(targets, np.int32),
            labels=np.array(labels, np.int32),
            strong=strengths(fair),
            initial=np.array(list(dict.fromkeys(stored)), np.int64),
            cut=np.append(outside != 0, False),
            turning=places.turning(turns),
        ),
        flags=np.array([observe(machine, state) for state in states], np.int64),
        outside=outside,
        outside_initially=tuple(
            sorted({begun_beyond(machine, step) for step in initial if step.cut is not None})
        ),
        state=_named(machine, states, places.renamings),
        properties=None if places.renamings is None else places.renamings.properties,
    )


def _named(machine: Machine, states: Sequence[State], renamings: Renamings | None) -> Named:
    def state(number: int, renaming: int = 0) -> State:
        found = states[number]
        return permute_state(machine, found, renamings.maps[renaming]) if renamings else found

    return state
