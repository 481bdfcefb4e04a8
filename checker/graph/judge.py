"""Judges the liveness properties of a machine on its Space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from checker.errors import InternalError
from checker.graph.lasso import search_from
from checker.graph.liveness import Judgement, eventually, leads_to
from checker.graph.reference import beyond
from checker.graph.space import OUTSIDE_FAILED, OUTSIDE_RAISED, Space
from checker.llvm.meta import CONDITION, FAILED, PREMISE
from checker.machine.machine import Machine, Property
from checker.search.exploration import Finding
from checker.search.outcome import CUT_OFF, FAILS, Liveness, Outcome, liveness_of
from checker.semantics.successor import State, Successor
from checker.semantics.successors import initial_states, successors


def judge_liveness(machine: Machine, space: Space) -> Liveness:
    """Judge each liveness property by itself."""
    outcomes: dict[str, Outcome] = {}
    findings: list[Finding] = []
    failed = False
    for place, item in enumerate(liveness_of(machine)):
        if _fails(space, place):
            outcomes[item.name] = Outcome("unknown", FAILS)
            failed = True
            continue
        judgement = _judge(space, item, place)
        reason = CUT_OFF if judgement.verdict == "unknown" else ""
        outcomes[item.name] = Outcome(judgement.verdict, reason)
        if judgement.lasso is not None:
            states = [space.state(number) for number in judgement.lasso.states]
            findings.append(lasso_finding(item, states, judgement.lasso.loop))
    if failed:
        findings.append(_error(machine, space))
    return Liveness(outcomes, tuple(findings))


def _judge(space: Space, item: Property, place: int) -> Judgement:
    """Judge a property that can be evaluated everywhere.

    The state that stands for what was cut owes nothing; that a run may owe something there is said
    of the states before it.
    """
    condition = space.flag(CONDITION + place)
    condition[-1] = True
    graph = replace(space.graph, cut=space.beyond(place))
    if item.kind == "eventually":
        judgement = eventually(graph, condition)
    else:
        judgement = leads_to(graph, space.flag(PREMISE + place), condition)
    told = int(np.bitwise_or.reduce(space.outside, initial=0))
    if judgement.verdict == "holds" and owed_beyond(item, place, space.outside_initially, told):
        return Judgement("unknown")
    return judgement


def owed_beyond(item: Property, place: int, initially: int, told: int) -> bool:
    """Whether a state beyond the bounds itself begins to owe a property, the one at `place`.

    `initially` and `told` are what all initial states that were cut, and all cut steps, tell: see
    `Space.outside`.
    """
    if item.kind == "eventually":
        return bool(initially >> place & 1)
    return bool((initially | told) >> (OUTSIDE_RAISED + place) & 1)


def lasso_finding(item: Property, states: list[State], loop: int) -> Finding:
    """Return a lasso as a path that ends where it goes round from."""
    path = (*states, states[loop]) if loop < len(states) - 1 else tuple(states)
    assert item.kind in ("eventually", "leads_to")
    return Finding(item.name, item.kind, len(path) - 1, path, loop=loop)


# ------------------------------------------------------------------------------------- errors


def _fails(space: Space, place: int) -> bool:
    """Whether a property has no value somewhere, also where a step was cut."""
    if space.outside_initially >> (OUTSIDE_FAILED + place) & 1:
        return True
    return bool(space.flag(FAILED + place).any() or space.beyond(OUTSIDE_FAILED + place).any())


def _error(machine: Machine, space: Space) -> Finding:
    """Return the least shortest path to a state in which some liveness property has no value."""
    if space.outside_initially >> OUTSIDE_FAILED:
        return Finding("error", "error", 0, (failing(machine, initial_states(machine)),))
    everywhere = np.ones(space.graph.states, np.bool_)
    reached = search_from(space.graph, space.graph.initial, everywhere)
    places = range(len(liveness_of(machine)))
    here = _any(space.graph.states, [space.flag(FAILED + place) for place in places])
    near = _any(space.graph.states, [space.beyond(OUTSIDE_FAILED + place) for place in places])
    inside, edge = (reached.order[marked[reached.order]][:1] for marked in (here, near))
    if len(inside) and not (
        len(edge) and reached.distance[edge[0]] + 1 < reached.distance[inside[0]]
    ):
        path = [space.state(number) for number in reached.way(int(inside[0]))]
    else:
        path = [space.state(number) for number in reached.way(int(edge[0]))]
        path.append(failing(machine, successors(machine, path[-1])))
    return Finding("error", "error", len(path) - 1, tuple(path))


def _any(states: int, marks: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    found = np.zeros(states, np.bool_)
    for mark in marks:
        found |= mark
    return found


def failing(machine: Machine, steps: list[Successor]) -> State:
    """Return the first state that was cut and in which a liveness property has no value."""
    for step in steps:
        if step.state is not None and step.cut and beyond(machine, step) >> OUTSIDE_FAILED:
            return step.state
    raise InternalError("the reference semantics finds no evaluation error beyond the bounds")
