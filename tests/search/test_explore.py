"""Goal: the local engine finds exactly what the plainest search finds, with any number of threads
and words, from tables that have to grow, and stops where its limits say.

Kernels are grids and paths with known answers, and random graphs with every flag a kernel has.
"""

import random
import threading
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from flagged_graphs import Edge, Graph, kernel_of
from graph_oracle import expected
from native_kernels import grid

import checker.search.crew as crew_module
import checker.search.local as local_module
from checker.llvm.meta import CHECK_ERROR, CUT, DROPPED, ERROR, ILLEGAL, STEP
from checker.search import board as places
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.progress import Progress
from checker.search.worker import HALTED, work

ACTIONS = ("a", "b", "c")
CHECKS = [("first", "always"), ("second", "sometimes"), ("third", "always")]
STEPS = ["rises", "falls"]
LAYOUT: Any = SimpleNamespace(bits=20.5, leaves=())


@pytest.fixture(autouse=True)
def packed_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let findings show packed states: these kernels have no layout."""
    monkeypatch.setattr(
        local_module,
        "Decoder",
        lambda _layout: SimpleNamespace(states=lambda found: map(tuple, found.tolist())),
    )


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with so little room that everything has to grow, several times."""
    monkeypatch.setattr(local_module, "Crew", partial(crew_module.Crew, capacity=2, out_capacity=4))


def machine(*, deadlock: bool = True) -> Any:
    properties = [SimpleNamespace(name=name, kind=kind, asks=False) for name, kind in CHECKS]
    properties += [SimpleNamespace(name=name, kind="step", asks=False) for name in STEPS]
    properties.append(SimpleNamespace(name="far", kind="sometimes", asks=False))
    return SimpleNamespace(properties=properties, deadlock=deadlock, expectation=None)


def explore_graph(graph: Graph, limits: Limits, workers: int) -> Exploration:
    kernel = kernel_of(graph, ACTIONS, tuple(name for name, _ in CHECKS), tuple(STEPS))
    return explore(machine(), LAYOUT, kernel, limits, workers)


def random_graph(seed: int, words: int, most: int = 120) -> Graph:
    """A graph of up to `most` nodes in which each kind of flag is rare, or absent."""
    choose = random.Random(seed)  # noqa: S311 (graphs are no secrets)
    count = choose.choice([3, 12, 40, most])
    rare = choose.choice([0.0, 0.01, 0.05])
    cut = frozenset(node for node in range(count) if choose.random() < rare)

    def flags(target: int) -> int:
        special = [ERROR, DROPPED] if choose.random() < 0.3 else [DROPPED]
        value = CUT if target in cut else 0
        if choose.random() < rare:
            value |= choose.choice([ILLEGAL, STEP_FLAG, 2 * STEP_FLAG, *special])
        return value & ~CUT if value & (ERROR | DROPPED) else value

    def edges() -> list[Edge]:
        targets = [choose.randrange(count) for _ in range(choose.randrange(4))]
        actions = sorted(choose.randrange(len(ACTIONS)) for _ in targets)
        return [
            Edge(action, target, flags(target))
            for action, target in zip(actions, targets, strict=True)
        ]

    everything = {node: edges() for node in range(count)}
    nodes = [choose.randrange(count) for _ in range(choose.randrange(1, 4))]
    return Graph(
        initial=[(node, CUT if node in cut else 0) for node in nodes],
        edges=everything,
        dead=frozenset(node for node in range(count) if choose.random() < rare),
        unclear=frozenset(
            node
            for node, out in everything.items()
            if choose.random() < rare / 4 and not any(edge.flags & ERROR for edge in out)
        ),
        checks={
            node: choose.choice([1, 2, 4, 3, CHECK_ERROR])
            for node in range(count)
            if choose.random() < rare
        },
        words=words,
    )


STEP_FLAG = 1 << STEP


def compare(graph: Graph, found: Exploration, *, keep_going: bool) -> None:
    wanted = expected(graph, CHECKS, STEPS, keep_going=keep_going)
    assert list(found.levels) == wanted.levels
    assert found.distinct == sum(wanted.levels)
    assert found.generated == wanted.generated
    assert found.cuts == wanted.cuts
    assert found.deadlocks == wanted.deadlocks
    assert {
        (item.property, item.kind): (item.depth, item.path, item.action) for item in found.findings
    } == {
        key: (
            depth,
            tuple(graph.encode(node) for node in path),
            None if action is None else ACTIONS[action],
        )
        for key, (depth, path, action) in wanted.findings.items()
    }


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("keep_going", [False, True])
def test_random_graphs_are_explored_as_the_plainest_search_does(
    words: int, *, keep_going: bool
) -> None:
    kinds = set()
    for seed in range(120):
        graph = random_graph(seed, words)
        found = explore_graph(graph, Limits(keep_going=keep_going), workers=1 + seed % 2)
        compare(graph, found, keep_going=keep_going)
        kinds |= {item.kind for item in found.findings}
    assert kinds == {"always", "sometimes", "step", "legal", "deadlock", "error"}


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("words", [1, 2])
def test_random_graphs_with_hardly_any_room(words: int) -> None:
    for seed in range(60):
        graph = random_graph(seed, words)
        compare(graph, explore_graph(graph, Limits(keep_going=True), workers=3), keep_going=True)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_rows_count_steps_and_those_that_change_something(workers: int) -> None:
    graph = Graph(
        initial=[(0, 0)],
        edges={
            0: [Edge(0, 1), Edge(0, 1), Edge(1, 2), Edge(2, 0)],
            1: [Edge(0, 3), Edge(1, 3)],
            2: [Edge(1, 3), Edge(2, 4)],
        },
    )
    rows = explore_graph(graph, Limits(), workers=workers).rows
    assert [(row.row, row.enabled, row.fired, row.new) for row in rows] == [
        ("a", 2, 3, 3),
        ("b", 3, 3, 3),
        ("c", 2, 2, 1),
    ]


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("words", [1, 2, 5])
def test_a_grid_has_as_many_states_as_it_must(words: int, workers: int) -> None:
    counters, size = 5, 8
    found = explore(machine(), LAYOUT, grid(counters, size, words), Limits(), workers)
    assert found.distinct == size**counters
    assert found.generated == 1 + counters * (size - 1) * size ** (counters - 1)
    assert found.depth == found.depth_complete == counters * (size - 1)
    assert found.exhaustive
    assert found.stopped_by is None
    assert found.deadlocks == 1
    assert all(row.new == row.fired for row in found.rows)
    assert {row.fired for row in found.rows} == {(size - 1) * size ** (counters - 1)}
    assert found.state_bits == 21
    assert found.bytes_per_state >= 8 * words


@pytest.mark.usefixtures("tiny")
def test_growing_from_nothing_loses_no_state_and_changes_no_path() -> None:
    kernel = grid(6, 8, 2)
    found = [explore(machine(), LAYOUT, kernel, Limits(), workers) for workers in (1, 2, 4)]
    assert {item.distinct for item in found} == {8**6}
    assert {item.levels for item in found} == {found[0].levels}
    assert {item.findings for item in found} == {found[0].findings}
    far, deadlock = found[0].findings
    assert (far.property, far.depth, far.kind) == ("far", 31, "sometimes")
    assert (deadlock.property, deadlock.depth) == ("deadlock", 42)
    # Canonical order raises counter 0 to its end first, then counter 1, and so on.
    assert far.path[7] == (7, 0)
    assert far.path[8] == (7, 1)


def test_a_small_table_takes_at_most_twice_what_it_must() -> None:
    found = explore(machine(), LAYOUT, grid(6, 9, 1), Limits(), 2)
    assert 8 / 0.8 <= found.bytes_per_state <= 8 * 2 / 0.8


def test_the_diamond_path_is_the_least_of_the_shortest() -> None:
    """Two shortest paths meet again; the second node is found first by the greater path."""
    graph = Graph(
        initial=[(9, 0), (0, 0)],
        edges={
            9: [Edge(0, 2)],
            0: [Edge(0, 1), Edge(1, 2)],
            2: [Edge(0, 4)],
            1: [Edge(2, 3), Edge(2, 4)],
            3: [Edge(0, 5)],
            4: [Edge(0, 5)],
        },
        checks={5: 1},
    )
    found = explore_graph(graph, Limits(), workers=1)
    assert found.findings[0].path == tuple(graph.encode(node) for node in (9, 2, 4, 5))


def test_findings_stand_in_the_order_of_their_levels_then_of_declaration() -> None:
    graph = Graph(
        initial=[(0, 0)],
        edges={0: [Edge(0, 1), Edge(1, 2, ILLEGAL), Edge(2, 3, STEP_FLAG)]},
        checks={0: 2, 1: 4, 2: 1},
    )
    found = explore_graph(graph, Limits(), workers=1)
    names = [item.property for item in found.findings]
    assert names == ["second", "legal", "rises", "first", "third"]
    assert found.stopped_by == "violation"
    assert found.depth_complete == 0
    assert not found.exhaustive


def test_a_violation_in_the_last_level_leaves_nothing_unexplored() -> None:
    found = explore_graph(Graph([(0, 0)], {0: [Edge(0, 0, ILLEGAL)]}), Limits(), workers=1)
    assert found.exhaustive
    assert found.stopped_by is None
    assert found.findings[0].path == ((0,), (0,))


def test_a_failed_step_names_its_row_and_ends_in_its_source() -> None:
    graph = Graph([(0, 0)], {0: [Edge(0, 1)], 1: [Edge(1, 1, ERROR), Edge(0, 2)]})
    found = explore_graph(graph, Limits(keep_going=True), workers=1)
    (finding,) = found.findings
    assert (finding.kind, finding.action, finding.depth) == ("error", "b", 1)
    assert finding.path == (graph.encode(0), graph.encode(1))
    assert found.stopped_by == "evaluation_error"
    assert found.generated == 3
    assert found.levels == (1, 1, 1)


def test_a_terminal_condition_that_fails_names_no_row() -> None:
    graph = Graph([(0, 0)], {0: [Edge(0, 1)], 1: []}, unclear=frozenset({1}))
    found = explore_graph(graph, Limits(), workers=1)
    (finding,) = found.findings
    assert (finding.kind, finding.action, finding.depth, len(finding.path)) == ("error", None, 1, 2)
    assert found.deadlocks == 0


def test_an_initial_state_that_fails() -> None:
    found = explore_graph(Graph([(3, ERROR), (1, 0)], {}), Limits(), workers=1)
    (finding,) = found.findings
    assert (finding.kind, finding.depth, len(finding.path)) == ("error", 0, 0)
    assert found.stopped_by == "evaluation_error"
    assert found.depth_complete == -1


def test_no_initial_state_at_all() -> None:
    found = explore_graph(Graph([], {}), Limits(), workers=1)
    assert (found.distinct, found.levels, found.exhaustive) == (0, (), True)


def test_a_deadlock_is_counted_even_where_it_is_no_violation() -> None:
    graph = Graph([(0, 0)], {0: [Edge(0, 1)]}, dead=frozenset({1}))
    kernel = kernel_of(graph, ACTIONS)
    found = explore(machine(deadlock=False), LAYOUT, kernel, Limits(), 1)
    assert (found.deadlocks, found.findings, found.exhaustive) == (1, (), True)


def test_a_depth_limit_finishes_a_level() -> None:
    found = explore(machine(), LAYOUT, grid(3, 50, 1), Limits(depth=4), 2)
    assert found.levels == (1, 3, 6, 10, 15)
    assert (found.stopped_by, found.depth_complete, found.exhaustive) == ("depth", 3, False)


def test_a_depth_limit_that_is_not_reached_stops_nothing() -> None:
    found = explore(machine(), LAYOUT, grid(1, 5, 1), Limits(depth=4), 1)
    assert (found.stopped_by, found.depth_complete) == ("depth", 3)
    found = explore(machine(), LAYOUT, grid(1, 5, 1), Limits(depth=5), 1)
    assert found.stopped_by is None


@pytest.mark.parametrize("limit", [1, 100, 1000, 5000])
def test_a_limit_of_states_is_never_exceeded(limit: int) -> None:
    found = explore(machine(), LAYOUT, grid(3, 50, 1), Limits(states=limit), 1)
    assert (found.distinct, found.stopped_by, found.exhaustive) == (limit, "states", False)
    assert sum(found.levels) == limit
    threads = explore(machine(), LAYOUT, grid(3, 50, 1), Limits(states=limit), 2)
    assert limit - 256 <= threads.distinct <= limit
    assert threads.stopped_by == "states"


def test_where_states_may_have_many_successors_threads_do_the_work() -> None:
    with crew_module.Crew(grid(5, 8, 1), 2, 1 << 24, None, out_capacity=8) as crew:
        here = threading.get_ident()

        def who(states: int) -> set[int]:
            return crew.run(lambda *_: threading.get_ident(), crew.desks, states, lambda: None)

        assert who(512) == {here}
        crew.desks[0].enlarge(1 << 20)
        assert who(2) == {here}
        assert here not in who(512)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("words", [1, 2])
def test_initial_states_are_taken_some_at_a_time(
    words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All at once would need more memory than the states, and nobody would count it."""
    monkeypatch.setattr(crew_module, "_INITIAL_AT_ONCE", 16)
    widest: list[int] = []
    real = crew_module.Crew.expand_level

    def told(crew: crew_module.Crew, *given: Any) -> Any:
        widest.append(max(desk.capacity for desk in crew.desks))
        return real(crew, *given)

    monkeypatch.setattr(crew_module.Crew, "expand_level", told)
    nodes = [*range(60, 200), *range(100)]
    graph = Graph(
        initial=[(node, 0) for node in nodes],
        edges={node: [Edge(0, node // 2), Edge(1, node + 1 if node < 250 else 7)]
               for node in range(251)},
        checks={3: 1},
        words=words,
    )  # fmt: skip
    for memory in (None, 1, 40_000):
        limits = Limits(keep_going=True, memory_bytes=memory)
        compare(graph, explore_graph(graph, limits, 2), keep_going=True)
    assert max(widest[:15]) == 16
    found = explore_graph(graph, Limits(states=70), 1)
    assert (found.distinct, found.levels, found.stopped_by) == (70, (70,), "states")


def test_buffers_that_held_many_initial_states_are_given_back() -> None:
    kernel = kernel_of(Graph([(node, 0) for node in range(99)], {}), ACTIONS)
    with crew_module.Crew(kernel, 1, 1 << 24, None, out_capacity=8) as crew:
        assert crew.begin(lambda: None) is None
        assert (crew.tail, crew.desks[0].capacity) == (99, 8)


def test_a_halt_is_heard_within_a_block() -> None:
    with crew_module.Crew(grid(5, 8, 1), 1, 1 << 24, None, out_capacity=8) as crew:
        crew.begin(lambda: None)
        crew.expand_level(0, 1, lambda: None)
        desk = crew.desks[0].numbers
        desk[[places.BLOCK, places.BLOCK_END]] = 1, 6
        crew.board[places.HALT] = 1
        assert work(crew.board, desk, crew.board.ctypes.data) == HALTED
        assert desk[places.BLOCK] == 1


def test_a_limit_of_states_that_is_just_enough_stops_nothing() -> None:
    found = explore(machine(), LAYOUT, grid(3, 20, 1), Limits(states=8000), 1)
    assert (found.distinct, found.stopped_by, found.exhaustive) == (8000, None, True)


def test_a_limit_of_memory_stops_the_search_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.search.disk.Disk.free", lambda _: 0)  # nor is there a disk
    limit = 2 << 20
    found = explore(machine(), LAYOUT, grid(6, 16, 1), Limits(memory_bytes=limit), 2)
    assert (found.stopped_by, found.exhaustive) == ("memory", False)
    assert found.distinct * 8 + found.bytes_per_state * found.distinct < limit
    assert found.distinct * 16 > limit // 4


@pytest.mark.parametrize("workers", [1, 2])
def test_beside_a_state_with_more_steps_than_fit_a_path_is_found(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.search.disk.Disk.free", lambda _: 0)
    wide = [Edge(0, 3 + number % 7) for number in range(20_000)]
    graph = Graph([(0, 0)], {0: [Edge(0, 1), Edge(1, 2)], 1: [Edge(2, 1, ILLEGAL)], 2: wide})
    found = explore_graph(graph, Limits(memory_bytes=1 << 20), workers)
    assert found.stopped_by == "memory_of_one_state"
    (finding,) = found.findings
    assert finding.path == tuple(graph.encode(node) for node in (0, 1, 1))


def test_a_limit_of_seconds() -> None:
    started = time.perf_counter()
    found = explore(machine(), LAYOUT, grid(8, 64, 1), Limits(seconds=0.3), 2)
    assert found.stopped_by == "seconds"
    assert found.depth_complete in {len(found.levels) - 2, len(found.levels) - 3}
    assert time.perf_counter() - started < 30  # far less than the whole grid would take


@pytest.mark.parametrize("callable_", [False, True])
def test_an_interrupt_stops_cleanly(*, callable_: bool) -> None:
    event = threading.Event()
    timer = threading.Timer(0.3, event.set)
    timer.start()
    started = time.perf_counter()
    interrupt = event.is_set if callable_ else event
    found = explore(machine(), LAYOUT, grid(8, 64, 1), Limits(), 2, interrupt=interrupt)
    assert time.perf_counter() - started < 30  # far less than the whole grid would take
    assert found.stopped_by == "interrupt"
    assert found.distinct == sum(found.levels) > 0
    assert not found.exhaustive
    timer.join()


def test_progress_is_told_in_the_calling_thread() -> None:
    told: list[tuple[Progress, int]] = []

    def listen(progress: Progress) -> None:
        told.append((progress, threading.get_ident()))

    explore(machine(), LAYOUT, grid(8, 64, 1), Limits(seconds=1.4), 2, progress=listen)
    assert 1 <= len(told) <= 3
    progress, thread = told[-1]
    assert thread == threading.get_ident()
    assert progress.distinct > 0
    assert progress.generated > progress.distinct
    assert progress.table_bytes > 0
    assert progress.rate > 0


def test_a_program_that_raises_while_it_listens_leaves_no_thread_behind() -> None:
    class GoneAwayError(Exception):
        pass

    def listen(_progress: Progress) -> None:
        raise GoneAwayError

    with pytest.raises(GoneAwayError):
        explore(machine(), LAYOUT, grid(8, 64, 1), Limits(), 2, progress=listen)
    assert not [thread for thread in threading.enumerate() if "search" in thread.name]
