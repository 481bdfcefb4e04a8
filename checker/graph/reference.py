"""Makes a Space with the reference interpreter: slow, and meant to be obviously right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checker.errors import InternalError
from checker.graph.space import OUTSIDE, OUTSIDE_RAISED, Space
from checker.graph.state_graph import StateGraph
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import Machine
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.fairness import UNFAIR, fair_rows, strengths
from checker.semantics.successor import State, Successor
from checker.semantics.successors import as_mapping, initial_states, successors


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
    every = (1 << len(machine.watches)) - 1
    if step.state is None:
        return every | OUTSIDE
    flags = observe(machine, step.state)
    pending = ~(flags >> CONDITION) & every
    raised = (flags >> PREMISE) & pending
    return OUTSIDE | pending | raised << OUTSIDE_RAISED


def reference_space(machine: Machine, states: Sequence[State]) -> Space:
    """Return the Space over `states`, all distinct ones within the bounds.

    InternalError where a step fails or leads to a state that is not among them.
    """
    numbers = {state: number for number, state in enumerate(states)}
    fair = fair_rows(machine)
    everything_else = len(states)
    offsets, targets, labels = [0], list[int](), list[int]()
    outside = np.zeros(len(states), np.int64)
    for source, state in enumerate(states):
        for step in successors(machine, state):
            target = everything_else
            if step.cut is not None:
                outside[source] |= beyond(machine, step)
            elif step.state in numbers:
                target = numbers[step.state]
            else:
                raise InternalError(f"{step.action} leads out of what the search found")
            if target != source:
                promised = fair.of(step) or (UNFAIR,)
                targets += [target] * len(promised)
                labels += promised
        offsets.append(len(targets))
    initial = initial_states(machine)
    stored = [numbers[step.state] for step in initial if step.state is not None and not step.cut]
    outside_initially = 0
    for step in initial:
        outside_initially |= 0 if step.cut is None else beyond(machine, step)
    return Space(
        graph=StateGraph(
            offsets=np.array([*offsets, len(targets)], np.int64),
            targets=np.array(targets, np.int32),
            labels=np.array(labels, np.int32),
            strong=strengths(fair),
            initial=np.array(list(dict.fromkeys(stored)), np.int64),
            cut=np.append(outside != 0, False),
        ),
        flags=np.array([observe(machine, state) for state in states], np.int64),
        outside=outside,
        outside_initially=outside_initially,
        state=lambda number: states[number],
    )
