"""Where a shortest stem may begin, when only the depths of its sources are known, not their order.

A breadth-first search that enters sources at their depth comes first to the goal whose stem begins
at the first of the deepest sources on any shortest stem: of two states at the same distance, a
source stands before what other states led to, and each state leads on to the next distance in its
own order. So of all sources only those have to be put in order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.graph.lasso import staged_search
from checker.graph.state_graph import StateGraph
from checker.llvm.compiled import compiled
from checker.search.board import Numbers


def entries(
    graph: StateGraph,
    sources: NDArray[np.int64],
    start: NDArray[np.int32],
    pending: NDArray[np.bool_],
    goal: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return the sources, all of one depth, one of which a search breadth-first comes from.

    `start` int32 (states,) are their depths, `pending` and `goal` bool, (states,). Nothing where
    no source leads to a goal.
    """
    ordered = sources[np.argsort(start[sources], kind="stable")]
    nowhere = np.zeros(graph.states, np.bool_)
    distance = staged_search(graph, ordered, start, pending, nowhere).distance
    reached = goal & (distance >= 0)
    if not reached.any():
        return np.empty(0, np.int64)
    last = int(distance[reached].min())
    on_way = reached & (distance == last)
    order = np.argsort(-distance, kind="stable")
    _lead_back(graph.offsets, graph.targets, pending, distance, order, last, on_way)
    fresh = np.zeros(graph.states, np.bool_)
    fresh[sources] = distance[sources] == start[sources]
    _strike_found(graph.offsets, graph.targets, distance, fresh)
    candidates = np.flatnonzero(on_way & fresh)
    deepest: NDArray[np.int64] = candidates[distance[candidates] == distance[candidates].max()]
    return deepest


@compiled
def _lead_back(
    offsets: Numbers,
    targets: NDArray[np.int32],
    pending: NDArray[np.bool_],
    distance: NDArray[np.int32],
    order: Numbers,
    last: int,
    on_way: NDArray[np.bool_],
) -> None:
    """Enter in `on_way` the states on shortest ways to those in it; `order`: the farthest first."""
    for place in range(len(order)):
        state = order[place]
        if distance[state] < 0 or distance[state] >= last or not pending[state]:
            continue
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            if on_way[target] and distance[target] == distance[state] + 1:
                on_way[state] = True


@compiled
def _strike_found(
    offsets: Numbers,
    targets: NDArray[np.int32],
    distance: NDArray[np.int32],
    fresh: NDArray[np.bool_],
) -> None:
    """Strike from `fresh` what a state one step nearer leads to: it is found from there."""
    for state in range(len(distance)):
        if distance[state] >= 0:
            for edge in range(offsets[state], offsets[state + 1]):
                if distance[targets[edge]] == distance[state] + 1:
                    fresh[targets[edge]] = False
