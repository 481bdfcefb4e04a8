"""Judges the liveness properties of a machine on its Space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from checker.graph.liveness import Judgement, eventually, leads_to
from checker.graph.space import OUTSIDE_RAISED, Space
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import Machine, Property
from checker.search.exploration import Finding
from checker.search.outcome import CUT_OFF, Liveness, Outcome, liveness_of
from checker.semantics.successor import State


def judge_liveness(machine: Machine, space: Space) -> Liveness:
    """Judge each liveness property by itself."""
    outcomes: dict[str, Outcome] = {}
    findings: list[Finding] = []
    for place, item in enumerate(liveness_of(machine)):
        judgement = _judge(space, item, place)
        reason = CUT_OFF if judgement.verdict == "unknown" else ""
        outcomes[item.name] = Outcome(judgement.verdict, reason)
        if judgement.lasso is not None:
            states = [space.state(number) for number in judgement.lasso.states]
            findings.append(lasso_finding(item, states, judgement.lasso.loop))
    return Liveness(outcomes, tuple(findings))


def _judge(space: Space, item: Property, place: int) -> Judgement:
    """Judge a property. It has a value everywhere: the search was exhaustive.

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
