"""Judges formulas of temporal logic: no fair run of a graph may be one that an automaton accepts.

The automaton reads the states of a run; the product has a node for each state with each node of
the automaton that reads it. It is judged as a state graph of its own: that a node of some set must
come again and again is weak fairness of a promise that is enabled in all others and never taken.
What is enabled in a state is enabled in all its nodes, also where the automaton cannot go on.
A run may stand still in every node: without `next` no formula can tell.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.graph.components import OUTSIDE
from checker.graph.fairness import fair_states
from checker.graph.lasso import Lasso, shortest_lasso
from checker.graph.liveness import Judgement
from checker.graph.state_graph import StateGraph
from checker.machine.temporal import Automaton


def no_run_of(graph: StateGraph, automaton: Automaton, atoms: list[NDArray[np.bool_]]) -> Judgement:
    """Judge whether no fair run of `graph` is accepted by `automaton`.

    `atoms` are bool (states,); the last state stands for what was cut, and nothing is known of it.
    """
    reads = _reads(automaton, atoms, graph.states)
    number, pairs = _reach(
        graph.offsets,
        graph.targets,
        reads,
        np.array(automaton.following, np.int64),
        graph.initial,
        automaton.initial,
    )
    product, states = _product(graph, automaton, reads, number, pairs)
    inside = np.ones(product.states, np.bool_)
    inside[-1] = False
    fair = fair_states(product, inside)
    if (fair != OUTSIDE).any():
        begins = np.zeros(product.states, np.bool_)
        begins[product.initial] = True
        lasso = shortest_lasso(product, begins, inside, fair)
        if lasso is not None:
            way = tuple(int(states[node]) for node in lasso.states)
            return Judgement("violated", Lasso(way, lasso.loop))
    return Judgement("unknown" if product.cut.any() else "holds")


def _reads(automaton: Automaton, atoms: list[NDArray[np.bool_]], states: int) -> NDArray[np.int64]:
    """Return int64 (states,): the nodes of the automaton that may read each state."""
    reads = np.zeros(states, np.int64)
    for node, (required, forbidden) in enumerate(
        zip(automaton.required, automaton.forbidden, strict=True)
    ):
        fits = np.ones(states, np.bool_)
        for place, held in enumerate(atoms):
            if required >> place & 1:
                fits &= held
            if forbidden >> place & 1:
                fits &= ~held
        reads[fits] |= 1 << node
    reads[-1] = 0
    return reads


def _product(
    graph: StateGraph,
    automaton: Automaton,
    reads: NDArray[np.int64],
    number: NDArray[np.int32],
    pairs: NDArray[np.int64],
) -> tuple[StateGraph, NDArray[np.int64]]:
    """Return the product, whose last node is where the automaton cannot go on, and its states."""
    nodes = len(automaton.following)
    unpaid = np.array([~mask for mask in automaton.accepting], np.int64)
    following = np.array(automaton.following, np.int64)
    sizes = _sizes(graph.offsets, graph.targets, graph.labels, reads, following, unpaid, pairs)
    offsets = np.zeros(len(pairs) + 2, np.int64)
    np.cumsum(sizes, out=offsets[1:-1])
    offsets[-1] = offsets[-2]
    targets = np.empty(int(offsets[-1]), np.int32)
    labels = np.empty(int(offsets[-1]), np.int32)
    _fill(
        graph.offsets, graph.targets, graph.labels, reads, following, unpaid, pairs, number,
        len(graph.strong), targets, labels,
    )  # fmt: skip
    states = pairs // nodes
    initial = [
        int(number[state * nodes + node])
        for state in graph.initial
        for node in range(nodes)
        if automaton.initial & reads[state] & (1 << node)
    ]
    return StateGraph(
        offsets=offsets,
        targets=targets,
        labels=labels,
        strong=np.append(graph.strong, np.zeros(len(unpaid), np.bool_)),
        initial=np.array(initial, np.int64),
        cut=np.append(graph.cut[states], False),
    ), states


@njit(cache=True, nogil=True)
def _reach(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    reads: NDArray[np.int64],
    following: NDArray[np.int64],
    initial: NDArray[np.int64],
    begins: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the nodes of the product as a search breadth-first finds them.

    Returns the number of each pair `state * nodes + node`, -1 of none, and the pairs in order.
    """
    nodes = len(following)
    number = np.full(len(reads) * nodes, -1, np.int32)
    pairs = np.empty(1024, np.int64)
    found = 0
    for state in initial:
        for node in range(nodes):
            if (begins & reads[state]) >> node & 1 and number[state * nodes + node] < 0:
                if found == len(pairs):
                    pairs = _longer(pairs)
                number[state * nodes + node] = found
                pairs[found] = state * nodes + node
                found += 1
    head = 0
    while head < found:
        state, here = pairs[head] // nodes, pairs[head] % nodes
        head += 1
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            ways = following[here] & reads[target]
            for node in range(nodes):
                if ways >> node & 1 and number[target * nodes + node] < 0:
                    if found == len(pairs):
                        pairs = _longer(pairs)
                    number[target * nodes + node] = found
                    pairs[found] = target * nodes + node
                    found += 1
    return number, pairs[:found].copy()


@njit(cache=True, nogil=True)
def _longer(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    more = np.empty(2 * len(pairs), np.int64)
    more[: len(pairs)] = pairs
    return more


@njit(cache=True, nogil=True)
def _sizes(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    reads: NDArray[np.int64],
    following: NDArray[np.int64],
    unpaid: NDArray[np.int64],
    pairs: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return how many edges each node of the product has."""
    nodes = len(following)
    sizes = np.zeros(len(pairs), np.int64)
    for place in range(len(pairs)):
        state, here = pairs[place] // nodes, pairs[place] % nodes
        for edge in range(offsets[state], offsets[state + 1]):
            ways = following[here] & reads[targets[edge]]
            if ways == 0:
                sizes[place] += labels[edge] >= 0
            while ways != 0:
                ways &= ways - 1
                sizes[place] += 1
        for mask in unpaid:
            sizes[place] += mask >> here & 1
    return sizes


@njit(cache=True, nogil=True)
def _fill(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    reads: NDArray[np.int64],
    following: NDArray[np.int64],
    unpaid: NDArray[np.int64],
    pairs: NDArray[np.int64],
    number: NDArray[np.int32],
    promises: int,
    to: NDArray[np.int32],
    marks: NDArray[np.int32],
) -> None:
    """Write the edges of the product, in the order of `_sizes`."""
    nodes = len(following)
    filled = 0
    for place in range(len(pairs)):
        state, here = pairs[place] // nodes, pairs[place] % nodes
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            ways = following[here] & reads[target]
            if ways == 0 and labels[edge] >= 0:
                to[filled] = len(pairs)
                marks[filled] = labels[edge]
                filled += 1
            for node in range(nodes):
                if ways >> node & 1:
                    to[filled] = number[target * nodes + node]
                    marks[filled] = labels[edge]
                    filled += 1
        for promise in range(len(unpaid)):
            if unpaid[promise] >> here & 1:
                to[filled] = len(pairs)
                marks[filled] = promises + promise
                filled += 1
