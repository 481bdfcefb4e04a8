"""Other endless runs like the one a trace shows: as long, with a loop as long, the calmest first.

The way in and the loop are walks of exactly so many steps through the whole state graph, without
symmetry and without steps that change nothing. They are looked through by cost, never more than
what is left costs at least, and a loop is told only when it is fair and shows the same property.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from checker.graph.build import build_space
from checker.graph.components import OUTSIDE
from checker.graph.fairness import fair_states
from checker.graph.labelled import LabelledGraph, labelled_graph
from checker.graph.liveness import owing_and_fair
from checker.graph.space import Space
from checker.kernel import build
from checker.layout import pack
from checker.layout.codec import packed_cells, unpack
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import Machine, Property
from checker.machine.temporal import satisfied
from checker.search.finding import Finding
from checker.search.progress import Interrupt
from checker.semantics.fairness import fair_rows
from checker.trace.calmness import TRIED_MAX, Cost, Party, as_taken, parties
from checker.trace.rebuild import rebuild
from checker.trace.trace import Trace

CELLS_MAX = 200_000_000
"""Costs that are kept: one for each state, who acted last, and step of the way in."""

_FAULT = 1 << 10
"""What a fault costs, in changes of who acts: more than there can be."""
_FAR = (1 << 15) - 1
_AT_ONCE = 1 << 16


def calmest_lassos(
    trace: Trace, count: int, interrupt: Interrupt | None, states_max: int
) -> tuple[Trace, ...]:
    """Return at most so many runs that show what a lasso shows, the calmest first.

    Each enters its loop after as many steps and goes round in as many; no two take the same rows,
    each as often. None where the graph is larger than `states_max` or the search too long.
    """
    assert trace.loop is not None
    machine = replace(trace.machine, symmetry=False)
    item = next(item for item in machine.properties if item.name == trace.property_name)
    machine = replace(machine, properties=(item,))
    graph = labelled_graph(machine, states_max, interrupt, rows_only=True)
    if graph is None:
        return ()
    space = _space(machine, graph, interrupt)
    if space is None:
        return ()
    lassos = _Lassos(graph, _Sight(space, item), parties(machine, graph), trace)
    found = []
    for states, labels in lassos.paths(count):
        path = tuple(graph.values(np.array(states)))
        finding = Finding(item.name, trace.kind, trace.length, path, loop=trace.loop.start)
        found.append(as_taken(rebuild(trace.machine, finding), path, graph, labels))
    return tuple(found)


def _space(machine: Machine, graph: LabelledGraph, interrupt: Interrupt | None) -> Space | None:
    """Return what fairness and the property are judged on; its states are numbered as `graph`'s."""
    layout = pack(machine)
    kernel = build(machine, layout, prompt=True)
    own = len(layout.leaves)
    pieces = [
        packed_cells(layout, unpack(graph.layout, graph.words[first : first + _AT_ONCE])[:, :own])
        for first in range(0, graph.states, _AT_ONCE)
    ]
    steps = len(graph.targets) * fair_rows(machine).width
    states = np.concatenate(pieces)
    return build_space(machine, layout, kernel.best, states, steps, 1, interrupt)


class _Sight:
    """What a property sees in each state: whether something is owed there, where a loop may be."""

    def __init__(self, space: Space, item: Property) -> None:
        self.item = item
        self.graph = space.graph
        states = space.graph.states
        begins = np.zeros(states, np.bool_)
        begins[space.graph.initial] = True
        self.atoms = [space.flag(CONDITION + place) for place in range(len(item.atoms))]
        if item.formula is not None:
            if item.initially is not None:
                begins &= space.flag(CONDITION + len(item.atoms))
            self.raised = self.pending = np.ones(states, np.bool_)
            self.pending[-1] = False
            self.fair = fair_states(space.graph, self.pending.copy())
        else:
            self.pending = ~space.flag(CONDITION)
            self.pending[-1] = False
            premise = space.flag(PREMISE)
            if item.kind == "eventually":
                begins &= premise if item.initially is not None else True
                premise = begins
            elif item.initially is not None:
                begins &= space.flag(CONDITION + 1)
            self.raised = premise
            _, self.fair = owing_and_fair(space.graph, premise, self.pending)
        self.initial = begins[:-1]

    def shows(self, states: list[int], start: int) -> bool:
        """Whether a run of such states, which goes on from `start` after the last but one, does."""
        loop = set(states[start:])
        if not self._is_fair(states[start:], loop):
            return False
        if self.item.formula is None:
            return True
        run = states[:-1] if start < len(states) - 1 else states
        word = [[bool(atom[state]) for atom in self.atoms] for state in run]
        return not satisfied(self.item.formula, word, start)

    def _is_fair(self, walk: list[int], loop: set[int]) -> bool:
        graph = self.graph
        taken: set[int] = set()
        for source, target in pairwise(walk):
            edges = slice(graph.offsets[source], graph.offsets[source + 1])
            taken |= set(graph.labels[edges][graph.targets[edges] == target].tolist())
        enabled = [self._enabled(state) for state in loop]
        ever = set().union(*enabled) - taken
        always = set.intersection(*enabled)
        return not any(number in always or graph.strong[number] for number in ever)

    def _enabled(self, state: int) -> set[int]:
        edges = slice(self.graph.offsets[state], self.graph.offsets[state + 1])
        changing = self.graph.targets[edges] != state
        return set(self.graph.labels[edges][changing].tolist()) - {-1}


@dataclass(frozen=True, order=True)
class _Begun:
    """The beginning of a run: what the whole costs at least, its states, labels, what it cost."""

    least: int
    states: tuple[int, ...]
    labels: tuple[int, ...]
    last: str
    spent: int


class _Lassos:
    """The calmest ways in and loops of a given length."""

    def __init__(self, graph: LabelledGraph, sight: _Sight, who: list[Party], trace: Trace) -> None:
        assert trace.loop is not None
        self.graph, self.sight, self.parties = graph, sight, who
        self.stem, self.length = trace.loop.start, trace.length
        self.actors = {name: i for i, name in enumerate(dict.fromkeys(p.actor for p in who), 1)}
        self.loops: dict[int, _Loop] = {}

    def paths(self, count: int) -> Iterator[tuple[list[int], list[int]]]:
        """Yield states and labels of runs, the calmest first, none with the rows of another."""
        size = self.graph.states * (len(self.actors) + 1) * 2 * (self.stem + 1)
        if size > CELLS_MAX:
            return
        heap: list[_Begun] = []
        for state in np.flatnonzero(self.sight.initial).tolist():
            self._push(heap, _Begun(0, (state,), (), "", 0))
        told: set[tuple[str, ...]] = set()
        for _ in range(TRIED_MAX):
            if not heap or len(told) >= count:
                return
            begun = heapq.heappop(heap)
            if len(begun.labels) == self.length:
                rows = tuple(sorted(self.graph.labels[label].row for label in begun.labels))
                if rows not in told and self.sight.shows(list(begun.states), self.stem):
                    told.add(rows)
                    yield list(begun.states), list(begun.labels)
                continue
            for target, label in self.steps(begun.states[-1]):
                party = self.parties[label]
                spent = begun.spent + _weight(party.cost(begun.last))
                states, labels = (*begun.states, target), (*begun.labels, label)
                self._push(heap, _Begun(0, states, labels, party.actor, spent))

    def _push(self, heap: list[_Begun], begun: _Begun) -> None:
        """Put a beginning where its least cost belongs; nowhere where it comes to no loop."""
        done = len(begun.labels)
        if done < self.stem:
            owed = self._owed(begun.states)
            actor = self.actors.get(begun.last, 0)
            left = int(self.ahead[done][owed][actor][begun.states[-1]])
        elif done == self.stem:
            if not self._owed(begun.states) or self.sight.fair[begun.states[-1]] == OUTSIDE:
                return
            left = self._loop(begun.states[-1]).least(0, begun.states[-1], begun.last)
        else:
            loop = self._loop(begun.states[self.stem])
            left = loop.least(done - self.stem, begun.states[-1], begun.last)
        if left < _FAR:
            heapq.heappush(heap, replace(begun, least=begun.spent + left))

    def _owed(self, states: tuple[int, ...]) -> int:
        owed = False
        for state in states:
            owed = bool(self.sight.pending[state] and (owed or self.sight.raised[state]))
        return int(owed)

    def _loop(self, anchor: int) -> _Loop:
        if anchor not in self.loops:
            self.loops[anchor] = _Loop(self, anchor, self.length - self.stem)
        return self.loops[anchor]

    def steps(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield where the steps that change a state lead, and their labels."""
        edges = slice(self.graph.offsets[state], self.graph.offsets[state + 1])
        targets, names = self.graph.targets[edges].tolist(), self.graph.names[edges].tolist()
        for target, label in zip(targets, names, strict=True):
            if target >= 0 and target != state:
                yield target, label

    @cached_property
    def ahead(self) -> list[NDArray[np.int16]]:
        """The least cost of the rest of the way in: by steps made, whether owed, actor, state."""
        graph, sight = self.graph, self.sight
        pending, raised = sight.pending[:-1], sight.raised[:-1]
        costs = np.array([_FAULT * party.fault for party in self.parties], np.int32)
        actors = np.array([self.actors[party.actor] for party in self.parties], np.int32)
        found = [np.full((2, len(self.actors) + 1, graph.states), _FAR, np.int16)]
        found[0][1][:, sight.fair[:-1] != OUTSIDE] = 0
        sources = graph.sources
        for made in range(self.stem - 1, -1, -1):
            # States are numbered by depth: what lies deeper than the steps made is not met then.
            last = int(np.searchsorted(graph.depths, made, side="right"))
            here = slice(0, int(graph.offsets[last]))
            steps = np.flatnonzero(
                (graph.targets[here] >= 0) & (graph.targets[here] != sources[here])
            )
            before, after = sources[steps], graph.targets[steps]
            actor, price = actors[graph.names[steps]], costs[graph.names[steps]]
            layer = np.full_like(found[0], _FAR)
            for owed in (0, 1):
                then = (pending[after] & (raised[after] | bool(owed))).astype(np.int8)
                rest = np.minimum(price + found[0][then, actor, after], _FAR)
                by_actor = np.full((len(self.actors) + 1, graph.states), _FAR, np.int32)
                np.minimum.at(by_actor, (actor, before), rest)
                least = by_actor.min(axis=0)
                by_actor = np.minimum(by_actor, least + 1)
                by_actor[0] = least
                layer[owed] = np.minimum(by_actor, _FAR)
            found.insert(0, layer)
        return found


class _Loop:
    """The walks of so many steps from a state back to it, within its fair component."""

    def __init__(self, lassos: _Lassos, anchor: int, length: int) -> None:
        self.lassos, self.anchor, self.length = lassos, anchor, length
        fair = lassos.sight.fair
        ahead = [{anchor}]
        for _ in range(length):
            ahead.append(
                {
                    target
                    for state in ahead[-1]
                    for target, _ in lassos.steps(state)
                    if fair[target] == fair[anchor]
                }
            )
        self.costs: list[dict[int, dict[str, int]]] = [{} for _ in ahead]
        self.costs[length] = {anchor: {}} if anchor in ahead[length] else {}
        for made in range(length - 1, -1, -1):
            for state in ahead[made]:
                by_actor: dict[str, int] = {}
                for target, label in lassos.steps(state):
                    if target in self.costs[made + 1]:
                        party = lassos.parties[label]
                        rest = self.least(made + 1, target, party.actor) + _FAULT * party.fault
                        by_actor[party.actor] = min(rest, by_actor.get(party.actor, _FAR))
                if by_actor:
                    self.costs[made][state] = by_actor

    def least(self, made: int, state: int, last: str) -> int:
        """Return the least cost from a state back, after so many steps, the last one by `last`."""
        found = self.costs[made].get(state)
        if found is None:
            return _FAR
        if made == self.length:
            return 0
        least = min(found.values())
        return least if not last else min(least + 1, found.get(last, _FAR))


def _weight(cost: Cost) -> int:
    return _FAULT * cost[0] + cost[1]
