"""Goal: fair runs are judged as the definition says, on graphs small enough to try everything.

The oracle looks at every set of states in which a run could stay for ever.
"""

import time
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.graph.components import components
from checker.graph.liveness import leads_to
from checker.graph.state_graph import StateGraph, steps_into

Edge = tuple[int, int, int]


def graph_of(states: int, edges: list[Edge], strong: list[bool], cut: set[int]) -> StateGraph:
    ordered = sorted(edges)
    counts = np.bincount([source for source, _, _ in ordered], minlength=states)
    return StateGraph(
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        targets=np.array([target for _, target, _ in ordered], np.int32),
        labels=np.array([label for _, _, label in ordered], np.int32),
        strong=np.array(strong, np.bool_),
        initial=np.array([0]),
        cut=np.array([state in cut for state in range(states)]),
    )


def enabled(edges: list[Edge], state: int) -> set[int]:
    return {label for source, target, label in edges if source == state != target} - {-1}


def taken(edges: list[Edge], states: set[int]) -> set[int]:
    return {
        label for source, target, label in edges if source != target and {source, target} <= states
    }


def is_fair(edges: list[Edge], strong: list[bool], states: set[int]) -> bool:
    done = taken(edges, states)
    for label, is_strong in enumerate(strong):
        where = [label in enabled(edges, state) for state in states]
        asked = any(where) if is_strong else all(where)
        if asked and label not in done:
            return False
    return True


def stays(edges: list[Edge], states: set[int]) -> bool:
    inner = nx.DiGraph([(a, b) for a, b, _ in edges if {a, b} <= states])
    inner.add_nodes_from(states)
    return bool(nx.is_strongly_connected(inner))


def oracle(
    count: int, edges: list[Edge], strong: list[bool], premise: set[int], condition: set[int]
) -> bool:
    """Whether a fair run violates premise ~> condition."""
    whole = nx.DiGraph([(a, b) for a, b, _ in edges])
    whole.add_nodes_from(range(count))
    pending = whole.subgraph(set(range(count)) - condition)
    raised = premise & set(nx.descendants(whole, 0) | {0}) & set(pending)
    owing = {t for s in raised for t in nx.descendants(pending, s) | {s}}
    return any(
        stays(edges, set(part)) and is_fair(edges, strong, set(part))
        for size in range(1, len(owing) + 1)
        for part in combinations(sorted(owing), size)
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[Edge], list[bool], set[int], set[int]]:
    count = draw(st.integers(1, 6))
    strong = draw(st.lists(st.booleans(), max_size=3))
    state = st.integers(0, count - 1)
    edges = draw(
        st.lists(
            st.tuples(state, state, st.integers(-1, len(strong) - 1)), max_size=14, unique=True
        )
    )
    return count, edges, strong, draw(st.sets(state)), draw(st.sets(state))


@given(cases())
def test_judgement_is_the_definition(
    case: tuple[int, list[Edge], list[bool], set[int], set[int]],
) -> None:
    count, edges, strong, premise, condition = case
    graph = graph_of(count, edges, strong, set())
    judgement = leads_to(
        graph,
        np.array([state in premise for state in range(count)]),
        np.array([state in condition for state in range(count)]),
    )
    assert (judgement.verdict == "violated") == oracle(count, edges, strong, premise, condition)
    if judgement.lasso is None:
        return
    states, loop = judgement.lasso.states, judgement.lasso.loop
    steps = {(source, target) for source, target, _ in edges}
    assert states[0] == 0
    assert all(step in steps for step in pairwise(states))
    turn = set(states[loop:])
    assert len(turn) == 1 or (states[-1], states[loop]) in steps
    assert not turn & condition
    first = max(i for i, state in enumerate(states[: loop + 1]) if state in premise)
    assert not set(states[first:]) & condition
    walked = {
        label
        for source, target in zip(states[loop:], [*states[loop + 1 :], states[loop]], strict=True)
        for a, b, label in edges
        if (a, b) == (source, target) and a != b
    }
    for label, is_strong in enumerate(strong):
        where = [label in enabled(edges, state) for state in turn]
        assert label in walked or not (any(where) if is_strong else all(where))


def test_a_cut_makes_it_unknown_only_under_an_obligation() -> None:
    edges = [(0, 1, 0), (1, 2, 0)]
    premise, condition = np.array([True, False, False]), np.array([False, False, True])
    judge = lambda cut: leads_to(graph_of(3, edges, [False], cut), premise, condition)  # noqa: E731
    assert judge(set()).verdict == "holds"
    assert judge({1}).verdict == "unknown"
    assert judge({2}).verdict == "holds"


@pytest.mark.parametrize("steps", [40, 60, 90, 180])
@pytest.mark.parametrize("seed", range(5))
def test_components_equal_those_of_networkx(seed: int, steps: int) -> None:
    generator = np.random.default_rng(seed)
    edges = [(int(a), int(b), -1) for a, b in generator.integers(0, 60, (steps, 2))]
    graph = graph_of(60, edges, [], set())
    inside = generator.random(60) < 0.9
    component, count = components(graph.offsets, graph.targets, graph.into(), inside)
    whole = nx.DiGraph([(a, b) for a, b, _ in edges])
    whole.add_nodes_from(range(60))
    expected = list(nx.strongly_connected_components(whole.subgraph(np.flatnonzero(inside))))
    assert count == len(expected)
    assert {frozenset(np.flatnonzero(component == k).tolist()) for k in range(count)} == {
        frozenset(int(state) for state in part) for part in expected
    }


def test_many_components_in_a_row_cost_no_more_than_their_steps() -> None:
    """Rings of three, each leading to the next, of which no trimming takes any."""
    rings = 100_000
    ring = np.arange(3 * rings).reshape(rings, 3)
    targets = np.concatenate((np.roll(ring, -1, axis=1), ring[:, :1] + 3), axis=1)
    targets[-1, 3] = targets[-1, 0]
    order = targets[:, [0, 3, 1, 2]].astype(np.int32).reshape(-1)
    offsets = np.concatenate(([0], np.cumsum(np.tile([2, 1, 1], rings)))).astype(np.int64)
    for flip in (False, True):
        into = steps_into(offsets, order)
        ahead = (into.offsets, into.sources) if flip else (offsets, order)
        everywhere = np.ones(3 * rings, np.bool_)
        begun = time.process_time()
        component, count = components(*ahead, steps_into(*ahead), everywhere)
        assert time.process_time() - begun < 2
        assert count == rings
        assert (component.reshape(rings, 3) == component[::3, None]).all()
