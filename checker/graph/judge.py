"""Judges the liveness properties of a machine on its Space."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Literal

import numpy as np

from checker.graph.automata import no_run_of
from checker.graph.liveness import Judgement, eventually, leads_to
from checker.graph.space import OUTSIDE, OUTSIDE_RAISED, Space
from checker.graph.state_graph import StateGraph
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import LIVENESS, Machine, Property
from checker.machine.temporal import Formula, automaton_of, negation
from checker.search.exploration import Finding
from checker.search.outcome import CUT_OFF, WITHIN_BOUNDS, Liveness, Outcome, liveness_of
from checker.semantics.successor import State


def judge_liveness(machine: Machine, space: Space, threads: int = 1) -> Liveness:
    """Judge each liveness property by itself, so many at a time."""
    outcomes: dict[str, Outcome] = {}
    findings: list[Finding] = []
    properties = list(placed(machine))
    for (item, _), judgement in zip(properties, _judged(space, properties, threads), strict=True):
        outcomes[item.name] = outcome_of(item, judgement.verdict)
        if judgement.lasso is not None:
            states = [space.state(number) for number in judgement.lasso.states]
            findings.append(lasso_finding(item, states, judgement.lasso.loop))
    return Liveness(outcomes, tuple(findings))


def _judged(
    space: Space, properties: Sequence[tuple[Property, int]], threads: int
) -> Iterator[Judgement]:
    """Yield what is found of each property, in order.

    A formula has a graph of its own, so no two are judged at a time.
    """
    alone = threading.Lock()

    def judged(given: tuple[Property, int]) -> Judgement:
        with nullcontext() if given[0].formula is None else alone:
            return _judge(space, *given)

    if threads == 1 or len(properties) == 1:
        yield from map(judged, properties)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="judge") as pool:
        yield from pool.map(judged, properties)


def placed(machine: Machine) -> Iterator[tuple[Property, int]]:
    """Yield the liveness properties, each with the place of its first watch."""
    place = 0
    for item in liveness_of(machine):
        yield item, place
        place += len(item.watches)


def outcome_of(item: Property, verdict: Literal["holds", "violated", "unknown"]) -> Outcome:
    """Return what judging with all that is known says; `unknown` is because of what was cut."""
    if verdict != "unknown":
        return Outcome(verdict)
    if item.within_bounds:
        return Outcome("holds", WITHIN_BOUNDS)
    return Outcome("unknown", CUT_OFF)


def _judge(space: Space, item: Property, place: int) -> Judgement:
    """Judge a property. It has a value everywhere: the search was exhaustive.

    The state that stands for what was cut owes nothing; that a run may owe something there is said
    of the states before it.
    """
    if item.formula is not None:
        return _judge_formula(space, item, item.formula, place)
    condition = space.flag(CONDITION + place)
    condition[-1] = True
    graph = replace(space.graph, cut=space.beyond(place))
    if item.kind == "eventually":
        begins = None if item.initially is None else space.flag(PREMISE + place)
        judgement = eventually(graph, condition, begins)
    else:
        graph = _from(graph, space, item, place)
        judgement = leads_to(graph, space.flag(PREMISE + place), condition)
    told = int(np.bitwise_or.reduce(space.outside, initial=0))
    if judgement.verdict == "holds" and owed_beyond(item, place, space.outside_initially, told):
        return Judgement("unknown")
    return judgement


def _from(graph: StateGraph, space: Space, item: Property, place: int) -> StateGraph:
    """Return the graph with the initial states only that a property speaks of."""
    if item.initially is None:
        return graph
    begins = space.flag(CONDITION + place + len(item.watches) - 1)
    return replace(graph, initial=graph.initial[begins[graph.initial]])


def _judge_formula(space: Space, item: Property, formula: Formula, place: int) -> Judgement:
    """Judge a formula by the runs of an automaton of all that it forbids."""
    atoms = [space.flag(CONDITION + place + number) for number in range(len(item.atoms))]
    cut = space.beyond(OUTSIDE.bit_length() - 1)
    graph = replace(_from(space.graph, space, item, place), cut=cut)
    judgement = no_run_of(graph, automaton_of(negation(formula)), atoms)
    if judgement.verdict == "holds" and space.outside_initially & OUTSIDE:
        return Judgement("unknown")
    return judgement


def owed_beyond(item: Property, place: int, initially: int, told: int) -> bool:
    """Whether a state beyond the bounds itself begins to owe a property, the one at `place`.

    `initially` and `told` are what all initial states that were cut, and all cut steps, tell: see
    `Space.outside`.
    """
    if item.kind == "eventually":
        raised = 0 if item.initially is None else OUTSIDE_RAISED
        return bool(initially >> (raised + place) & 1)
    return bool((initially | told) >> (OUTSIDE_RAISED + place) & 1)


def lasso_finding(item: Property, states: list[State], loop: int) -> Finding:
    """Return a lasso as a path that ends where it goes round from."""
    path = (*states, states[loop]) if loop < len(states) - 1 else tuple(states)
    assert item.kind in LIVENESS
    return Finding(item.name, item.kind, len(path) - 1, path, loop=loop)
