"""Goal: trimming keeps exactly the states that a weakly fair run can use, and no fewer of strong.

The oracle is the local engine's fixpoint on the same random graphs, all of them side by side.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest

from checker.graph.components import OUTSIDE
from checker.graph.fairness import fair_states
from checker.graph.state_graph import StateGraph
from checker.spark.drafts import Drafts, sized_for
from checker.spark.trimming import Trimming, owing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Edge = tuple[int, int, int]
LABELS = 3


def random_graphs(graphs: int) -> tuple[int, list[Edge], set[int], set[int]]:
    """Return how many states there are, edges with labels, the states that owe, and raise."""
    choose = random.Random(11)  # noqa: S311
    edges: list[Edge] = []
    owes, raises = set[int](), set[int]()
    first = 0
    for _ in range(graphs):
        size = choose.randint(1, 7)
        states = range(first, first + size)
        for source in states:
            for _ in range(choose.randint(1, 4)):
                target = choose.choice(states)
                if source != target:
                    edges.append((source, target, choose.choice((-1, 0, 0, 0, 1, 2))))
        owes |= {state for state in states if choose.randrange(5)}
        raises |= {state for state in states if choose.randrange(2)}
        first += size
    return first, sorted(edges), owes, raises & owes


def usable(states: int, edges: list[Edge], alive: set[int], *, strong: bool) -> set[int]:
    """Return the states of `alive` from which a fair run can go on in `alive` for ever."""
    counts = np.bincount([source for source, _, _ in edges], minlength=states)
    graph = StateGraph(
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        targets=np.array([target for _, target, _ in edges], np.int32),
        labels=np.array([label for _, _, label in edges], np.int32),
        strong=np.full(LABELS, strong),
        initial=np.array([0]),
        cut=np.zeros(states, np.bool_),
    )
    inside = np.array([state in alive for state in range(states)])
    fair = np.flatnonzero(fair_states(graph, inside) != OUTSIDE).tolist()
    ways = nx.DiGraph([(a, b) for a, b, _ in edges if {a, b} <= alive])
    ways.add_nodes_from(alive)
    return set(fair).union(*(nx.ancestors(ways, state) for state in fair))


@pytest.mark.slow
def test_random_graphs_are_trimmed_to_what_is_usable(session: SparkSession, tmp_path: Path) -> None:
    states, edges, owes, raises = random_graphs(120)
    inner = [
        (source, place, target, label)
        for place, (source, target, label) in enumerate(edges)
        if {source, target} <= owes
    ]
    enabled = sorted({(source, label) for source, _, label in edges if label >= 0})
    reach = nx.DiGraph([(source, target) for source, _, target, _ in inner])
    reach.add_nodes_from(owes)
    owed = raises.union(*(nx.descendants(reach, state) for state in raises))
    rounds: list[str] = []

    def tell(doing: str, _left: int) -> None:
        rounds.append(doing)

    root = (tmp_path / "drafts").as_uri()
    with sized_for(session, 0), Drafts(session, root) as drafts:
        columns = "source bigint, ordinal int, target bigint, label int"
        alive, between = owing(
            drafts,
            session.createDataFrame([(state,) for state in raises], "id bigint"),
            session.createDataFrame(inner, columns),
            tell,
        )
        assert {row[0] for row in alive.collect()} == owed
        asked = drafts.add("enabled", session.createDataFrame(enabled, "id bigint, label int"))
        trimming = Trimming(drafts, alive, between, asked, tell)
        left = trimming.run(enough=0)
        kept = {row[0] for row in trimming.alive.collect()}
        steps = trimming.inner.collect()
    assert kept == usable(states, edges, owed, strong=False)
    assert kept > usable(states, edges, owed, strong=True)
    assert 20 < len(kept) < len(owed) - 20
    assert {tuple(row) for row in steps} == {
        edge for edge in inner if edge[0] in kept and edge[2] in kept
    }
    assert left == len(kept) + len(steps)
    assert {"going forward", "dropping", "looking for what is never taken"} <= set(rounds)


def test_trimming_stops_where_little_is_left(session: SparkSession, tmp_path: Path) -> None:
    # 0 -> 1 -> 2 and nothing goes on: without `enough`, all would be dropped, one by one.
    ways = [(0, 0, 1, 0), (1, 0, 2, 0)]
    with sized_for(session, 0), Drafts(session, (tmp_path / "drafts").as_uri()) as drafts:
        trimming = Trimming(
            drafts,
            session.createDataFrame([(0,), (1,), (2,)], "id bigint"),
            session.createDataFrame(ways, "source bigint, ordinal int, target bigint, label int"),
            session.createDataFrame([(0, 0), (1, 0), (2, 0)], "id bigint, label int"),
            lambda _doing, _left: None,
        )
        assert trimming.run(enough=3) == 3
        assert sorted(row[0] for row in trimming.alive.collect()) == [0, 1]
