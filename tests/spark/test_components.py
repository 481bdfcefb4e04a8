"""Goal: terminal components found by joins are those of networkx, whoever does the last part.

Many random graphs side by side are one graph, so that a few rounds on Spark try all of them.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from graphs import graph_of
from graphs import side_by_side as graphs_side_by_side
from hypothesis import given
from hypothesis import strategies as st
from random_teams import random_team

from checker.flow import machine_of
from checker.spark.components import terminal_members, terminal_of
from checker.spark.drafts import Drafts, sized_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Edge = tuple[int, int]
Found = set[frozenset[int]]


def wanted(states: range, edges: list[Edge]) -> Found:
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(states)
    condensed = nx.condensation(graph)
    return {
        frozenset(condensed.nodes[node]["members"])
        for node in condensed
        if condensed.out_degree(node) == 0
    }


def grouped(members: list[tuple[int, int]]) -> Found:
    found: dict[int, set[int]] = {}
    for state, component in members:
        found.setdefault(component, set()).add(state)
    assert len({state for state, _ in members}) == len(members)
    return {frozenset(states) for states in found.values()}


def by_joins(
    session: SparkSession, root: Path, states: range, edges: list[Edge], enough: int
) -> Found:
    with sized_for(session, 0), Drafts(session, root.as_uri()) as drafts:
        found = terminal_members(
            drafts,
            session.createDataFrame([(state,) for state in states], "id bigint"),
            session.createDataFrame(edges, "source bigint, target bigint"),
            enough,
        )
        members = [(row["id"], row["component"]) for row in found.collect()]
    assert not root.exists()
    return grouped(members)


def side_by_side(graphs: int) -> tuple[range, list[Edge]]:
    """Return random graphs of up to nine states, and a ring with a long way into it."""
    choose = random.Random(7)  # noqa: S311
    edges: list[Edge] = []
    first = 0
    for _ in range(graphs):
        size = choose.randint(1, 9)
        numbers = list(range(first, first + size))
        choose.shuffle(numbers)
        count = choose.randint(0, 3 * size)
        edges += [(choose.choice(numbers), choose.choice(numbers)) for _ in range(count)]
        first += size
    chain = list(range(first, first + 12))
    edges += [*itertools.pairwise(chain), (chain[-1], chain[6]), (chain[3], chain[0])]
    return range(first + len(chain)), edges


@pytest.mark.parametrize("enough", [10_000, pytest.param(0, marks=pytest.mark.slow)])
def test_random_graphs(session: SparkSession, tmp_path: Path, enough: int) -> None:
    states, edges = side_by_side(80)
    found = by_joins(session, tmp_path / "drafts", states, edges, enough)
    assert found == wanted(states, edges)
    sizes = [len(component) for component in found]
    assert sizes.count(1) > 20
    assert sum(size > 1 for size in sizes) > 10


SHIPPED = (
    ("alternating_bit", "default"),
    ("classic_group", "kafka_10870_fixed"),
    ("coffee_can", "ten_beans"),
    ("die_hard", "witness"),
    ("dining_philosophers", "default"),
    ("peterson", "default"),
    ("share_delivery", "fixed_failed_write"),
    ("share_partition", "three_deliveries"),
    ("termination_detection", "default"),
    ("two_phase", "default"),
)


@pytest.mark.slow
def test_graphs_of_machines(session: SparkSession, tmp_path: Path) -> None:
    machines = [random_team(seed) for seed in range(40)]
    machines += [machine_of(*names, {}) for names in SHIPPED]
    graphs = [graph_of(machine) for machine in machines]
    whole = graphs_side_by_side(graph for graph in graphs if graph.states <= 600)
    found = by_joins(session, tmp_path / "drafts", range(whole.states), list(whole.edges), 0)
    assert found == wanted(range(whole.states), list(whole.edges))
    sizes = [len(component) for component in found]
    assert sizes.count(1) > 20
    assert sum(size > 1 for size in sizes) > 10
    assert max(sizes) > 100


def test_a_graph_without_an_edge(session: SparkSession, tmp_path: Path) -> None:
    found = by_joins(session, tmp_path / "drafts", range(3), [(1, 1)], 0)
    assert found == {frozenset({state}) for state in range(3)}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=20))
def test_what_the_driver_does(edges: list[Edge]) -> None:
    states = sorted(set(itertools.chain.from_iterable(edges)))
    steps = np.array([edge for edge in edges if edge[0] != edge[1]], np.int64).reshape(-1, 2)
    found = terminal_of(1000 * steps[:, 0], 1000 * steps[:, 1])
    members = [(int(a) // 1000, int(b) // 1000) for a, b in zip(*found, strict=True)]
    whole = wanted(range(0), edges)
    assert grouped(members) == {component for component in whole if len(component) > 1}
    assert {state for state, _ in members} <= set(states)
