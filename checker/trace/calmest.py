"""Other shortest runs to what a trace shows: the calmest one first, then ones unlike it.

The contract's choice among the shortest runs is the least by order, which is nobody's reading
order. Calm is a run with few faults and few changes of who acts. They are found in the state graph
without symmetry, as far as the trace is long; where that is too large nothing is said.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from checker.errors import Interruption
from checker.graph.labelled import LabelledGraph, labelled_graph
from checker.machine.machine import Machine
from checker.search.finding import Finding
from checker.search.progress import Interrupt, interrupted
from checker.semantics.successor import State, Successor
from checker.trace.calmest_lasso import calmest_lassos
from checker.trace.calmness import TRIED_MAX, Cost, as_taken, calmness, parties
from checker.trace.claim import contradiction
from checker.trace.rebuild import rebuild
from checker.trace.trace import Trace

STATES_MAX = 1_000_000
"""States of the graph, up to the trace's length."""

JUDGED_MAX = 40_000
"""Ends of runs that are judged one by one, by the reference semantics."""

NEAR_STATES, NEAR_JUDGED = 100_000, 500
"""The same where nobody asked: what is found in a second or two."""

SHOWN = ("always", "step", "refines", "legal", "deadlock")
"""What an end of a run shows by itself."""

Edge = tuple[int, int]
"""Where a step leads, and the number of its label."""


def calmest(
    trace: Trace,
    count: int,
    interrupt: Interrupt | None = None,
    states_max: int = STATES_MAX,
    judged_max: int = JUDGED_MAX,
) -> tuple[Trace, ...]:
    """Return at most so many shortest runs that show what `trace` shows, the calmest first.

    No two of them take the same rows, each as often, in whatever order: that is one run told in
    several ways. None where they cannot be found out. Interruption where `interrupt` says to stop.
    """
    if count < 1:
        return ()
    if trace.loop is not None:
        return calmest_lassos(trace, count, interrupt, states_max)
    if trace.kind not in SHOWN or not trace.length:
        return ()
    machine = replace(trace.machine, symmetry=False)
    graph = labelled_graph(machine, states_max, interrupt, depth_max=trace.length, rows_only=True)
    if graph is None:
        return ()
    ends = _ends(trace, machine, graph, judged_max, interrupt)
    if not ends:
        return ()
    search = _Search(machine, graph, trace.length, ends)
    found = []
    for states, labels in search.paths(count):
        path = tuple(graph.values(np.array(states)))
        finding = Finding(trace.property_name, trace.kind, trace.length, path)
        found.append(as_taken(rebuild(trace.machine, finding), path, graph, labels))
    return tuple(found)


def near(trace: Trace, interrupt: Interrupt | None = None) -> tuple[Trace, ...]:
    """Return the calmest run where it is soon found: `trace` itself where none is calmer.

    None where a run that ends beyond the bounds may be calmer: those are not looked at.
    """
    states = NEAR_STATES if trace.loop is None else NEAR_STATES // 5
    found = calmest(trace, 1, interrupt, states, NEAR_JUDGED)
    machine = trace.machine
    bounded = trace.loop is None and trace.kind != "deadlock"
    if bounded and (machine.bounds or machine.step_bounds):
        return tuple(one for one in found if calmness(one) < calmness(trace))
    return tuple(one if calmness(one) < calmness(trace) else trace for one in found)


def _ends(
    trace: Trace,
    machine: Machine,
    graph: LabelledGraph,
    judged_max: int,
    interrupt: Interrupt | None,
) -> dict[Edge, list[Edge]]:
    """Return the last steps of runs that show it, by state and label; every step into an end."""
    sources = graph.sources
    last = (graph.depths[sources] == trace.length - 1) & (graph.targets >= 0)
    steps = np.flatnonzero(last)
    by_edge = trace.kind in {"step", "refines", "legal"}
    if not by_edge:
        steps = steps[graph.depths[graph.targets[steps]] == trace.length]
    # One row may break what another one between the same states does not.
    edge = [sources[steps], graph.names[steps]] if by_edge else [steps * 0, steps * 0]
    keys = np.stack([*edge, graph.targets[steps]], axis=1)
    different, which = np.unique(keys, axis=0, return_inverse=True)
    if not len(steps) or len(different) > judged_max:
        return {}
    shows = np.zeros(len(different), bool)
    for number, (source, label, target) in enumerate(different.tolist()):
        if interrupted(interrupt):
            raise Interruption(f"{number:,} of {len(different):,} ends of runs were judged")
        path: tuple[State, ...] = (graph.state(target),)
        made = None
        if by_edge:
            path = (graph.state(source), *path)
            made = partial(_is_of, graph.labels[label].row)
        said = contradiction(machine, trace.property_name, trace.kind, path, None, made)
        shows[number] = said is None
    found: dict[Edge, list[Edge]] = defaultdict(list)
    for step in steps[shows[which.reshape(-1)]].tolist():
        found[int(sources[step]), trace.length - 1].append(
            (int(graph.targets[step]), int(graph.names[step]))
        )
    return found


def _is_of(row: str, step: Successor) -> bool:
    return step.action == row


class _Search:
    """The steps of all shortest runs to some ends, and the calmest ways through them."""

    def __init__(
        self,
        machine: Machine,
        graph: LabelledGraph,
        length: int,
        ends: Mapping[Edge, list[Edge]],
    ) -> None:
        self.graph = graph
        self.length = length
        self.parties = parties(machine, graph)
        self.steps: dict[int, list[Edge]] = {
            state: sorted(edges, key=lambda edge: edge[::-1]) for (state, _), edges in ends.items()
        }
        self._cone(length - 1)
        self.costs: dict[tuple[int, str], Cost] = {}
        self._judge()

    def _cone(self, level: int) -> None:
        """Find the steps of each level, from the last but one to the first, that lead to ends."""
        graph, sources = self.graph, self.graph.sources
        wanted = np.zeros(graph.states, bool)
        wanted[list(self.steps)] = True
        for depth in range(level - 1, -1, -1):
            here = (graph.depths[sources] == depth) & (graph.targets >= 0)
            steps = np.flatnonzero(here)
            targets = graph.targets[steps]
            steps = steps[wanted[targets] & (graph.depths[targets] == depth + 1)]
            wanted[sources[steps]] = True
            for step in steps.tolist():
                edge = int(graph.targets[step]), int(graph.names[step])
                self.steps.setdefault(int(sources[step]), []).append(edge)

    def _judge(self) -> None:
        """Find the least cost from each state on, for each who acted last, backwards by depth."""
        actors = dict.fromkeys(party.actor for party in self.parties)
        depths = self.graph.depths
        for state in sorted(self.steps, key=lambda number: -int(depths[number])):
            for last in ("", *actors):
                self.costs[state, last] = min(
                    self._after(edge, last, int(depths[state])) for edge in self.steps[state]
                )

    def _after(self, edge: Edge, last: str, depth: int) -> Cost:
        """Return the least cost of a step and of what follows it."""
        target, label = edge
        faults, changes = self.parties[label].cost(last)
        if depth + 1 < self.length:
            further = self.costs[target, self.parties[label].actor]
            faults, changes = faults + further[0], changes + further[1]
        return faults, changes

    def paths(self, count: int) -> Iterator[tuple[list[int], list[int]]]:
        """Yield states and labels of runs, the calmest first, none with the rows of another."""
        begins = [int(state) for state in self.graph.initial if int(state) in self.steps]
        heap: list[tuple[Cost, tuple[int, ...], tuple[int, ...], str, Cost]] = []
        for state in begins:
            heapq.heappush(heap, (self.costs[state, ""], (state,), (), "", (0, 0)))
        told: set[tuple[str, ...]] = set()
        for _ in range(TRIED_MAX):
            if not heap or len(told) >= count:
                return
            _, states, labels, last, cost = heapq.heappop(heap)
            depth = len(labels)
            if depth == self.length:
                rows = tuple(sorted(self.graph.labels[label].row for label in labels))
                if rows not in told:
                    told.add(rows)
                    yield list(states), list(labels)
                continue
            for target, label in self.steps[states[-1]]:
                faults, changes = self.parties[label].cost(last)
                spent = cost[0] + faults, cost[1] + changes
                whole = self._after((target, label), last, depth)
                estimate = cost[0] + whole[0], cost[1] + whole[1]
                actor = self.parties[label].actor
                entry = estimate, (*states, target), (*labels, label), actor, spent
                heapq.heappush(heap, entry)
