"""Judges the liveness properties of a machine on its Space."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Literal

import numpy as np

from checker.frozen import frozen
from checker.graph.automata import no_run_of
from checker.graph.lasso import Lasso, reachable
from checker.graph.liveness import Judgement, eventually, leads_to
from checker.graph.quotient import NoRoomError
from checker.graph.space import Space
from checker.graph.state_graph import StateGraph
from checker.graph.threads import thread
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import LIVENESS, Machine, Property
from checker.machine.temporal import Formula, automaton_of, negation
from checker.search.beyond import NO_STATE, OUTSIDE, OUTSIDE_RAISED
from checker.search.finding import Finding
from checker.search.outcome import (
    CUT_OFF,
    NO_MEMORY,
    WITHIN_BOUNDS,
    Liveness,
    Outcome,
    liveness_of,
)
from checker.semantics.successor import State


@frozen()
class _Claim:
    """Properties that are judged as one, by their numbers and the places of their watches.

    There are several where each state stands for its orbit, and renaming makes them of each other.
    """

    members: tuple[int, ...]
    places: tuple[int, ...]
    item: Property


def judge_liveness(machine: Machine, space: Space, threads: int = 1) -> Liveness:
    """Judge each liveness property by itself, so many at a time."""
    properties = list(placed(machine))
    claims = list(_claims(space, properties))
    said: dict[int, tuple[Outcome, Lasso | None]] = {}
    for claim, found in zip(claims, _judged(space, claims, threads), strict=True):
        said.update(zip(claim.members, found, strict=True))
    outcomes: dict[str, Outcome] = {}
    findings: list[Finding] = []
    for number, (item, _) in enumerate(properties):
        same = number if space.properties is None else int(space.properties[0, number])
        outcomes[item.name], lasso = said[same]
        if lasso is not None:
            findings.append(lasso_finding(item, _states(space, lasso), lasso.loop))
    return Liveness(outcomes, tuple(findings))


def _states(space: Space, lasso: Lasso) -> list[State]:
    names = lasso.names or (0,) * len(lasso.states)
    return [space.state(*named) for named in zip(lasso.states, names, strict=True)]


def _claims(space: Space, properties: Sequence[tuple[Property, int]]) -> Iterator[_Claim]:
    """Yield the properties, those together that renaming makes of each other."""
    for number, (item, _) in enumerate(properties):
        same = [number] if space.properties is None else space.properties[:, number].tolist()
        if min(same) == number:
            members = tuple(sorted(set(same)))
            yield _Claim(members, tuple(properties[member][1] for member in members), item)


Found = list[tuple[Outcome, Lasso | None]]
"""What is said of each property of a claim."""


def _judged(space: Space, claims: Sequence[_Claim], threads: int) -> Iterator[Found]:
    """Yield what is found of each claim, in order.

    A formula has a graph of its own, and so have claims of several properties: no two of them are
    judged at a time.
    """
    alone = threading.Lock()

    def judged(claim: _Claim) -> Found:
        large = claim.item.formula is not None or len(claim.members) > 1
        with alone if large else nullcontext():
            try:
                return _found(space, claim)
            except NoRoomError:
                return [(Outcome("unknown", NO_MEMORY), None)] * len(claim.members)

    if threads == 1 or len(claims) == 1:
        yield from map(judged, claims)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="judge") as pool:
        yield from pool.map(judged, claims)


def _found(space: Space, claim: _Claim) -> Found:
    turning = space.graph.turning
    if turning is None:
        judgement = _judge(space, claim.item, claim.places[0])
        return [(outcome_of(claim.item, judgement.verdict), judgement.lasso)]
    followed = thread(space, turning, claim.members, claim.places, len(claim.item.watches))
    judgement = _judge(followed.space, claim.item, claim.places[0])
    outcome, lasso = outcome_of(claim.item, judgement.verdict), judgement.lasso
    return [
        (outcome, None if lasso is None else followed.lasso_of(lasso, member))
        for member in range(len(claim.members))
    ]


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
    outside = space.outside
    if item.kind == "eventually":
        begins = None if item.initially is None else space.flag(PREMISE + place)
        judgement = eventually(graph, condition, begins)
    else:
        graph, premise = _from(graph, space, item, place), space.flag(PREMISE + place)
        if item.initially is not None:
            # What other runs come to is not spoken of, nor what was cut there.
            spoken = reachable(graph, graph.initial, np.ones(graph.states, np.bool_))
            premise &= spoken
            outside = outside[spoken[:-1]]
        judgement = leads_to(graph, premise, condition)
    told = int(np.bitwise_or.reduce(outside, initial=0))
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
    if judgement.verdict == "holds" and any(_spoken(item, place, space.outside_initially)):
        return Judgement("unknown")
    return judgement


def owed_beyond(item: Property, place: int, initially: Sequence[int], told: int) -> bool:
    """Whether a state beyond the bounds itself begins to owe a property, the one at `place`.

    `initially` and `told` are what each initial state that was cut, and all cut steps, tell: see
    `Space`.
    """
    if item.kind == "eventually":
        raised = 0 if item.initially is None else OUTSIDE_RAISED
        return any(word >> (raised + place) & 1 for word in initially)
    words = (*_spoken(item, place, initially), told)
    return any(word >> (OUTSIDE_RAISED + place) & 1 for word in words)


def _spoken(item: Property, place: int, initially: Sequence[int]) -> Iterator[int]:
    """Yield what those initial states tell of which a property speaks, the one at `place`.

    Of one that is no state, because ids ran out, nothing is known.
    """
    last = place + len(item.watches) - 1
    for word in initially:
        if item.initially is None or word & NO_STATE or not word >> last & 1:
            yield word


def lasso_finding(item: Property, states: list[State], loop: int) -> Finding:
    """Return a lasso as a path that ends where it goes round from."""
    path = (*states, states[loop]) if loop < len(states) - 1 else tuple(states)
    assert item.kind in LIVENESS
    return Finding(item.name, item.kind, len(path) - 1, path, loop=loop)
