"""Goal: the lasso does not depend on the order of sources, but for the one that `entries` asks for.

The whole graph's search knows all orders; here only the deepest few sources are put in order.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from checker.graph.components import OUTSIDE
from checker.graph.entries import entries
from checker.graph.lasso import lasso_from, search_from, shortest_lasso
from checker.graph.liveness import owing_and_fair
from checker.graph.state_graph import StateGraph

STATES = 12

edge = st.tuples(st.integers(0, STATES - 1), st.integers(0, STATES - 1), st.integers(-1, 1))


def graph_of(edges: list[tuple[int, int, int]], strong: list[bool]) -> StateGraph:
    """Return a graph whose edges are in the order given, so not in that of their targets."""
    order = sorted(range(len(edges)), key=lambda place: edges[place][0])
    counts = np.bincount([source for source, _, _ in edges], minlength=STATES)
    return StateGraph(
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        targets=np.array([edges[place][1] for place in order], np.int32),
        labels=np.array([edges[place][2] for place in order], np.int32),
        strong=np.array(strong, np.bool_),
        initial=np.array([1, 0]),
        cut=np.zeros(STATES, np.bool_),
    )


@given(
    st.lists(edge, min_size=STATES, max_size=3 * STATES),
    st.lists(st.booleans(), min_size=2, max_size=2),
    st.sets(st.integers(0, STATES - 1)),
    st.sets(st.integers(0, STATES - 1), max_size=4),
)
def test_a_source_in_front_is_enough(
    edges: list[tuple[int, int, int]], strong: list[bool], raised: set[int], met: set[int]
) -> None:
    graph = graph_of([one for one in edges if one[0] != one[1]], strong)
    premise = np.array([state in raised for state in range(STATES)])
    pending = np.array([state not in met for state in range(STATES)])
    before = search_from(graph, graph.initial, np.ones(STATES, np.bool_))
    premise &= before.distance >= 0
    _, fair = owing_and_fair(graph, premise, pending)
    wanted = shortest_lasso(graph, premise, pending, fair) if (fair != OUTSIDE).any() else None
    rank = {state: place for place, state in enumerate(before.order.tolist())}
    sources = np.flatnonzero(premise & pending)

    def in_front(goal: NDArray[np.bool_]) -> NDArray[np.int64]:
        candidates = entries(graph, sources, before.distance, pending, goal).tolist()
        assert len({int(before.distance[state]) for state in candidates}) <= 1
        first = min(candidates, key=rank.__getitem__, default=-1)
        backwards = sorted(
            sources.tolist(),
            key=lambda state: (before.distance[state], state != first, -rank[state]),
        )
        return np.array(backwards, np.int64)

    found = lasso_from(graph, in_front, before.distance, pending, fair)
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        way = before.way(found.states[0])[:-1]
        assert (*way, *found.states) == wanted.states
        assert len(way) + found.loop == wanted.loop
