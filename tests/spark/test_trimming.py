"""Goal: trimming keeps exactly the states that a weakly fair run can use, and no fewer of strong.

The oracle is the local engine's fixpoint on the same graphs, many side by side.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from graphs import space_of
from random_machines import lively_machine

from checker.flow import machine_of
from checker.graph.components import OUTSIDE
from checker.graph.fairness import fair_states
from checker.graph.state_graph import StateGraph
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import Machine
from checker.search.outcome import liveness_of
from checker.spark.drafts import Drafts, sized_for
from checker.spark.trimming import Trimming, owing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Edge = tuple[int, int, int]
"""Source, target, and the label of the fair instance that makes the step; -1: none."""


SHIPPED = (
    ("alternating_bit", "weak_channels"),
    ("dining_philosophers", "default"),
    ("dining_philosophers", "unfair"),
    ("peterson", "default"),
    ("peterson", "unfair"),
    ("readers_writers", "two_actors"),
    ("share_delivery", "kafka_17541"),
    ("share_delivery", "kafka_19476_for_ever"),
    ("share_group", "kafka_19204_never"),
    ("termination_detection", "default"),
    ("termination_detection", "resting_token"),
)


@dataclass
class Regions:
    """What properties of machines look at, side by side: a copy of a graph for each property."""

    states: int = 0
    labels: int = 0
    edges: list[Edge] = field(default_factory=list)
    owes: set[int] = field(default_factory=set)
    raises: set[int] = field(default_factory=set)

    def add(self, machine: Machine) -> None:
        space = space_of(machine)
        graph = space.graph
        sources = np.repeat(np.arange(graph.states), np.diff(graph.offsets))
        for place, item in enumerate(liveness_of(machine)):
            condition = space.flag(CONDITION + place)
            condition[-1] = True
            premise = np.zeros(graph.states, np.bool_)
            premise[graph.initial] = True
            if item.kind == "leads_to":
                premise = space.flag(PREMISE + place)
            steps = zip(
                sources.tolist(), graph.targets.tolist(), graph.labels.tolist(), strict=True
            )
            self.edges += [
                (self.states + a, self.states + b, label if label < 0 else self.labels + label)
                for a, b, label in steps
            ]
            self.owes |= set((self.states + np.flatnonzero(~condition)).tolist())
            self.raises |= set((self.states + np.flatnonzero(premise & ~condition)).tolist())
            self.states += graph.states
            self.labels += len(graph.strong)


def random_regions(graphs: int) -> Regions:
    choose = random.Random(11)  # noqa: S311
    found = Regions(labels=3)
    for _ in range(graphs):
        size = choose.randint(1, 7)
        states = range(found.states, found.states + size)
        for source in states:
            targets = [choose.choice(states) for _ in range(choose.randint(1, 4))]
            labels = [choose.choice((-1, 0, 0, 0, 1, 2)) for _ in targets]
            found.edges += [
                (source, target, label)
                for target, label in sorted(zip(targets, labels, strict=True))
                if source != target
            ]
        found.owes |= {state for state in states if choose.randrange(5)}
        found.raises |= {state for state in states if choose.randrange(2)}
        found.states += size
    found.raises &= found.owes
    return found


def reached(starts: set[int], edges: Iterable[tuple[int, int]]) -> set[int]:
    """`starts`, and what one comes to from there."""
    graph = nx.DiGraph(edges)
    graph.add_edges_from((-1, start) for start in starts)
    return set(nx.descendants(graph, -1)) if starts else set()


def usable(regions: Regions, alive: set[int], *, strong: bool) -> set[int]:
    """The states of `alive` from which a fair run can go on in `alive` for ever."""
    edges = regions.edges
    counts = np.bincount([source for source, _, _ in edges], minlength=regions.states)
    graph = StateGraph(
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        targets=np.array([target for _, target, _ in edges], np.int32),
        labels=np.array([label for _, _, label in edges], np.int32),
        strong=np.full(regions.labels, strong),
        initial=np.array([0]),
        cut=np.zeros(regions.states, np.bool_),
    )
    inside = np.array([state in alive for state in range(regions.states)])
    fair = set(np.flatnonzero(fair_states(graph, inside) != OUTSIDE).tolist())
    return reached(fair, ((b, a) for a, b, _ in edges if {a, b} <= alive))


def assert_trimmed(
    session: SparkSession, root: Path, regions: Regions
) -> tuple[set[int], set[int]]:
    """Hold what is owed and what trimming leaves to the oracle; return both."""
    inner = [
        (source, place, target, label)
        for place, (source, target, label) in enumerate(regions.edges)
        if {source, target} <= regions.owes
    ]
    enabled = sorted({(source, label) for source, _, label in regions.edges if label >= 0})
    owed = reached(regions.raises, ((source, target) for source, _, target, _ in inner))
    rounds: list[str] = []

    def tell(doing: str, _left: int) -> None:
        rounds.append(doing)

    with sized_for(session, 0), Drafts(session, (root / "drafts").as_uri()) as drafts:
        columns = "source bigint, ordinal int, target bigint, label int"
        alive, between = owing(
            drafts,
            session.createDataFrame([(state,) for state in sorted(regions.raises)], "id bigint"),
            session.createDataFrame(inner, columns),
            tell,
        )
        assert {row[0] for row in alive.collect()} == owed
        asked = drafts.add("enabled", session.createDataFrame(enabled, "id bigint, label int"))
        trimming = Trimming(drafts, alive, between, asked, tell)
        left = trimming.run(enough=0)
        kept = {row[0] for row in trimming.alive.collect()}
        steps = trimming.inner.collect()
    assert kept == usable(regions, owed, strong=False)
    assert {tuple(row) for row in steps} == {
        edge for edge in inner if edge[0] in kept and edge[2] in kept
    }
    assert left == len(kept) + len(steps)
    assert {"going forward", "dropping", "looking for what is never taken"} <= set(rounds)
    return owed, kept


@pytest.mark.slow
def test_random_graphs_are_trimmed_to_what_is_usable(session: SparkSession, tmp_path: Path) -> None:
    regions = random_regions(120)
    owed, kept = assert_trimmed(session, tmp_path, regions)
    assert kept > usable(regions, owed, strong=True)
    assert 20 < len(kept) < len(owed) - 20


@pytest.mark.slow
def test_regions_of_machines_are_trimmed_to_what_is_usable(
    session: SparkSession, tmp_path: Path
) -> None:
    regions = Regions()
    for names in SHIPPED:
        regions.add(machine_of(*names, {}))
    for seed in range(12):
        regions.add(lively_machine(seed, states=60))
    owed, kept = assert_trimmed(session, tmp_path, regions)
    assert 100 < len(kept) < len(owed) - 100


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
