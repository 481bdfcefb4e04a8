"""Goal: random walks are the same for the same seed whatever the threads, stop at whatever is
wrong, and say truly how they went.
"""

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from flagged_graphs import Edge, Graph, kernel_of
from native_kernels import grid

import checker.search.simulate as simulate_module
from checker.kernel.calls import TooManyStepsError
from checker.llvm.meta import CHECK_ERROR, CUT, DROPPED, ERROR, ILLEGAL, STEP
from checker.search.simulate import Simulation, simulate

LAYOUT: Any = SimpleNamespace(bits=20.0)


@pytest.fixture(autouse=True)
def packed_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let findings show packed states: these kernels have no layout."""
    monkeypatch.setattr(
        simulate_module,
        "decode_all",
        lambda _layout, states: [tuple(state) for state in states.tolist()],
    )


def machine(*, far: str = "sometimes", deadlock: bool = True) -> Any:
    kinds = {"bad": "always", "seen": "sometimes", "rises": "step", "far": far}
    properties = [SimpleNamespace(name=name, kind=kind, asks=False) for name, kind in kinds.items()]
    return SimpleNamespace(properties=properties, deadlock=deadlock, expectation=None)


def walk_graph(graph: Graph, **options: Any) -> Simulation:
    kernel = kernel_of(graph, ("a", "b"), ("bad", "seen"), ("rises",))
    settings = {"walks": 50, "depth": 20, "seed": 1, **options}
    return simulate(machine(), LAYOUT, kernel, workers=2, **settings)


def same(simulation: Simulation) -> tuple[object, ...]:
    return (
        simulation.walks,
        simulation.steps,
        simulation.finding,
        simulation.walk,
        simulation.witnessed,
        simulation.rows,
    )


@pytest.mark.parametrize("far", ["sometimes", "always"])
@pytest.mark.parametrize("words", [1, 2])
def test_a_seed_decides_everything_and_threads_nothing(words: int, far: str) -> None:
    kernel = grid(4, 8, words)
    runs = [
        simulate(machine(far=far), LAYOUT, kernel, 6000, 24, seed=3, workers=workers)
        for workers in (1, 2, 3)
    ]
    assert same(runs[0]) == same(runs[1]) == same(runs[2])
    other = simulate(machine(far=far), LAYOUT, kernel, 6000, 24, seed=4, workers=1)
    assert other.rows != runs[0].rows
    assert all(run.complete for run in runs)


def test_walks_stop_at_their_depth_and_count_what_they_did() -> None:
    found = simulate(machine(), LAYOUT, grid(4, 8, 1), 1000, 10, seed=0, workers=2)
    assert (found.walks, found.steps, found.finding) == (1000, 10000, None)
    assert sum(row.taken for row in found.rows) == 10000
    for row in found.rows:
        assert 2200 < row.taken < 2800
        assert row.enabled == row.fired > 9000


def test_lengths_and_first_walks_are_those_of_the_walks_one_by_one() -> None:
    def made(walks: int, workers: int = 1) -> Simulation:
        return simulate(machine(), LAYOUT, grid(4, 3, 1), walks, 9, seed=5, workers=workers)

    whole = made(60, workers=3)
    assert sum(whole.lengths) == whole.walks == 60
    assert sum(length * count for length, count in enumerate(whole.lengths)) == whole.steps
    assert whole.lengths == made(60).lengths
    for place, row in enumerate(whole.rows):
        assert row.first is not None
        assert made(row.first + 1).rows[place].taken > 0
        if row.first:
            assert made(row.first).rows[place].taken == 0


def test_the_shortest_violating_walk_is_shown_with_its_path() -> None:
    found = simulate(machine(far="always"), LAYOUT, grid(2, 9, 1), 5000, 40, seed=2, workers=2)
    assert found.finding is not None
    assert found.walk is not None
    assert (found.finding.property, found.finding.kind) == ("far", "always")
    assert found.finding.depth == 12 == len(found.finding.path) - 1
    assert found.finding.path[0] == (0,)


def test_a_walk_ends_in_a_deadlock() -> None:
    graph = Graph([(0, 0)], {0: [Edge(0, 1)], 1: [Edge(1, 2)]}, dead=frozenset({2}))
    found = walk_graph(graph)
    assert found.finding is not None
    assert (found.finding.kind, found.finding.depth) == ("deadlock", 2)
    assert found.finding.path == tuple(graph.encode(node) for node in (0, 1, 2))
    assert found.walk == 0


@pytest.mark.parametrize(
    ("flag", "kind", "name", "depth"),
    [
        (ERROR, "error", "error", 1),
        (ILLEGAL, "legal", "legal", 2),
        (1 << STEP, "step", "rises", 2),
    ],
)
def test_a_walk_ends_in_a_wrong_step(flag: int, kind: str, name: str, depth: int) -> None:
    found = walk_graph(Graph([(0, 0)], {0: [Edge(0, 1)], 1: [Edge(1, 2, flag)], 2: [Edge(0, 2)]}))
    assert found.finding is not None
    assert (found.finding.kind, found.finding.property) == (kind, name)
    assert found.finding.depth == depth == len(found.finding.path) - 1
    assert found.finding.action == ("b" if kind == "error" else None)


@pytest.mark.parametrize(("flags", "name"), [(1, "bad"), (CHECK_ERROR, "error")])
def test_a_walk_ends_in_a_wrong_state_also_outside_the_bounds(flags: int, name: str) -> None:
    graph = Graph([(0, 0)], {0: [Edge(0, 1, CUT)]}, checks={1: flags})
    found = walk_graph(graph)
    assert found.finding is not None
    assert (found.finding.property, found.finding.depth) == (name, 1)


@pytest.mark.parametrize("flag", [CUT, DROPPED])
def test_cuts_end_walks_without_anything_wrong(flag: int) -> None:
    graph = Graph([(0, 0), (1, 0)], {0: [Edge(0, 0), Edge(1, 2, flag)], 1: [Edge(0, 0)]})
    found = walk_graph(graph, depth=1000)
    assert found.finding is None
    assert (found.walks, found.complete) == (50, True)
    assert found.steps < 500


def test_a_row_that_fails_in_an_initial_state_is_named() -> None:
    found = walk_graph(Graph([(0, 0)], {0: [Edge(1, 1, ERROR)]}))
    assert found.finding is not None
    assert (found.finding.kind, found.finding.action, found.finding.depth) == ("error", "b", 0)
    found = walk_graph(Graph([(0, ERROR)], {0: [Edge(1, 1)]}))
    assert found.finding is not None
    assert (found.finding.kind, found.finding.action, found.finding.depth) == ("error", None, 0)


def test_a_walk_ends_in_a_state_whose_terminal_conditions_fail() -> None:
    found = walk_graph(Graph([(0, 0)], {0: [Edge(0, 1)]}, unclear=frozenset({1})))
    assert found.finding is not None
    assert (found.finding.kind, found.finding.action, found.finding.depth) == ("error", None, 1)


def test_witnesses_are_named() -> None:
    assert walk_graph(Graph([(0, 0)], {0: [Edge(0, 0)]}, checks={0: 2})).witnessed == ("seen",)
    assert walk_graph(Graph([(0, 0)], {0: [Edge(0, 0)]})).witnessed == ()


def test_a_state_with_more_successors_than_there_was_room_for() -> None:
    many = [Edge(0, target) for target in range(5000)]
    graph = Graph([(0, 0)], {target: [Edge(1, 0)] for target in range(1, 5000)} | {0: many})
    found = walk_graph(graph, walks=20, depth=6)
    assert found.steps == 120


def test_a_state_whose_successors_do_not_fit_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Edge(0, target) for target in range(5000)]
    graph = Graph([(0, 0)], {target: [Edge(1, 0)] for target in range(1, 5000)} | {0: many})
    monkeypatch.setattr("checker.kernel.calls.default_limit", lambda: 60_000)
    with pytest.raises(TooManyStepsError, match="one state has more steps than fit the memory"):
        walk_graph(graph, walks=20, depth=6)


def test_no_initial_state_at_all() -> None:
    found = walk_graph(Graph([], {}))
    assert (found.walks, found.steps, found.finding) == (50, 0, None)


def test_time_and_the_user_can_end_it() -> None:
    kernel = grid(1, 2, 1)
    still = machine(deadlock=False)
    started = time.perf_counter()
    found = simulate(still, LAYOUT, kernel, 10**12, 10, seed=0, workers=2, seconds=0.3)
    assert not found.complete
    assert found.walks > 0
    event = threading.Event()
    event.set()
    found = simulate(still, LAYOUT, kernel, 10**12, 10, seed=0, workers=2, interrupt=event)
    assert not found.complete
    assert time.perf_counter() - started < 60  # 10^12 walks would take days
