"""Judges formulas of temporal logic: no fair run of a graph may be one that an automaton accepts.

The automaton reads the states of a run; the product has a node for each state with each node of
the automaton that reads it. It is judged as a state graph of its own: that a node of some set must
come again and again is weak fairness of a promise that is enabled in all others and never taken.
What is enabled in a state is enabled in all its nodes, also where the automaton cannot go on.
A run may stand still in every node: without `next` no formula can tell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.graph.components import OUTSIDE
from checker.graph.fairness import fair_states
from checker.graph.lasso import Lasso, shortest_lasso
from checker.graph.liveness import Judgement
from checker.graph.quotient import require_room
from checker.graph.state_graph import StateGraph, Turning
from checker.llvm.compiled import compiled
from checker.machine.temporal import Automaton
from checker.search.board import Numbers
from checker.search.recording import bytes_of_judging

_BYTES_OF_A_PAIR = 16
"""What making the product takes of each of its nodes, beside judging it."""
_BYTES_OF_A_TURN = 2


def no_run_of(graph: StateGraph, automaton: Automaton, atoms: list[NDArray[np.bool_]]) -> Judgement:
    """Judge whether no fair run of `graph` is accepted by `automaton`.

    `atoms` are bool (states,); the last state stands for what was cut, and nothing is known of it.
    NoRoomError where there is no memory for the product.
    """
    reads = _reads(automaton, atoms, graph.states)
    number, pairs = _reached(graph, automaton, reads)
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
            return Judgement("violated", Lasso(way, lasso.loop, lasso.names))
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
    sizes = np.zeros(len(pairs), np.int64)
    _sizes(graph.offsets, graph.targets, graph.labels, reads, following, unpaid, pairs, sizes)
    offsets = np.zeros(len(pairs) + 2, np.int64)
    np.cumsum(sizes, out=offsets[1:-1])
    offsets[-1] = offsets[-2]
    turning, edges = graph.turning, int(offsets[-1])
    turned = 0 if turning is None else edges
    require_room(
        len(pairs) + 1,
        bytes_of_judging(len(pairs), edges)
        + _BYTES_OF_A_PAIR * len(pairs)
        + _BYTES_OF_A_TURN * turned,
    )
    targets, labels = np.empty(edges, np.int32), np.empty(edges, np.int32)
    turns = np.empty(turned, np.uint16)
    _fill(
        graph.offsets, graph.targets, graph.labels, turns if turning is None else turning.turns,
        reads, following, unpaid, pairs, number, len(graph.strong), targets, labels, turns,
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
        turning=None if turning is None else _along(turning, turns, states, len(unpaid)),
    ), states


def _along(
    turning: Turning, turns: NDArray[np.uint16], states: NDArray[np.int64], unpaid: int
) -> Turning:
    """Return the turning of a product whose nodes have these states, with more promises."""
    return turning.along(turns, lambda nodes: turning.stays(states[nodes]), unpaid)


def _reached(
    graph: StateGraph, automaton: Automaton, reads: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the nodes of the product as a search breadth-first finds them.

    Returns the number of each pair `state * nodes + node`, -1 of none, and the pairs in order.
    """
    nodes = len(automaton.following)
    most = sum(int(np.count_nonzero(reads >> node & 1)) for node in range(nodes))
    require_room(most, 4 * len(reads) * nodes + _BYTES_OF_A_PAIR * most)
    number = np.full(len(reads) * nodes, -1, np.int32)
    pairs = np.empty(most, np.int64)
    following = np.array(automaton.following, np.int64)
    found = _reach(
        graph.offsets, graph.targets, reads, following, graph.initial, automaton.initial,
        number, pairs,
    )  # fmt: skip
    return number, pairs[:found].copy()


@compiled
def _reach(
    offsets: Numbers,
    targets: NDArray[np.int32],
    reads: Numbers,
    following: Numbers,
    initial: Numbers,
    begins: int,
    number: NDArray[np.int32],
    pairs: Numbers,
) -> int:
    """Write what `_reached` returns; return how many pairs there are."""
    nodes = len(following)
    found = 0
    for place in range(len(initial)):
        state = initial[place]
        for node in range(nodes):
            pair = state * nodes + node
            if ((begins & reads[state]) >> node) & 1 and number[pair] < 0:
                number[pair] = found
                pairs[found] = pair
                found += 1
    head = 0
    while head < found:
        state = pairs[head] // nodes
        here = pairs[head] - state * nodes
        head += 1
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            ways = following[here] & reads[target]
            for node in range(nodes):
                pair = target * nodes + node
                if (ways >> node) & 1 and number[pair] < 0:
                    number[pair] = found
                    pairs[found] = pair
                    found += 1
    return found


@compiled
def _sizes(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    reads: Numbers,
    following: Numbers,
    unpaid: Numbers,
    pairs: Numbers,
    sizes: Numbers,
) -> None:
    """Add up in `sizes` how many edges each node of the product has."""
    nodes = len(following)
    for place in range(len(pairs)):
        state = pairs[place] // nodes
        here = pairs[place] - state * nodes
        for edge in range(offsets[state], offsets[state + 1]):
            ways = following[here] & reads[targets[edge]]
            if ways == 0:
                sizes[place] += labels[edge] >= 0
            while ways != 0:
                ways &= ways - 1
                sizes[place] += 1
        for promise in range(len(unpaid)):
            sizes[place] += (unpaid[promise] >> here) & 1


@compiled
def _fill(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    turns: NDArray[np.uint16],
    reads: Numbers,
    following: Numbers,
    unpaid: Numbers,
    pairs: Numbers,
    number: NDArray[np.int32],
    promises: int,
    to: NDArray[np.int32],
    marks: NDArray[np.int32],
    twists: NDArray[np.uint16],
) -> None:
    """Write the edges of the product, in the order of `_sizes`; how they turn, where any do."""
    turned = len(turns) != 0
    nodes = len(following)
    filled = 0
    for place in range(len(pairs)):
        state = pairs[place] // nodes
        here = pairs[place] - state * nodes
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            ways = following[here] & reads[target]
            if ways == 0 and labels[edge] >= 0:
                to[filled] = len(pairs)
                marks[filled] = labels[edge]
                filled += 1
            for node in range(nodes):
                if (ways >> node) & 1:
                    if turned:
                        twists[filled] = turns[edge]
                    to[filled] = number[target * nodes + node]
                    marks[filled] = labels[edge]
                    filled += 1
        for promise in range(len(unpaid)):
            if (unpaid[promise] >> here) & 1:
                to[filled] = len(pairs)
                marks[filled] = promises + promise
                filled += 1
