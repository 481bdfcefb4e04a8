"""Goal: a search that does not fit its memory finds on disk exactly what it would in memory."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flagged_graphs import Graph, kernel_of
from native_kernels import grid
from numpy.typing import NDArray
from test_explore import ACTIONS, CHECKS, LAYOUT, STEPS, compare, random_graph
from test_explore import machine as graph_machine

import checker.search.crew as crew_module
import checker.search.local as local_module
from checker.errors import EnvironmentFailure
from checker.kernel.kernel import Kernel
from checker.search import paths, runs
from checker.search.board import Desk
from checker.search.disk import Disk
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.spill import Spill
from checker.search.visited import SEGMENTS, insert, locate

MACHINE: Any = SimpleNamespace(
    properties=[SimpleNamespace(name="far", kind="sometimes", asks=False)],
    deadlock=True,
    expectation=None,
)
KERNELS = {words: grid(5, 8, words) for words in (1, 2, 3)}
_WORDS = np.array([0, 1], np.int64)
GO, HALT = _WORDS[:1].ctypes.data, _WORDS[1:].ctypes.data
SMALL = {words: grid(4, 8, words) for words in (1, 2, 3)}


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
    """Begin with hardly any room, so that a small limit is a tight one."""
    monkeypatch.setattr(
        local_module, "Crew", partial(crew_module.Crew, capacity=2, out_capacity=64)
    )


def run(
    words: int,
    memory: int | None,
    workers: int = 1,
    limits: Limits | None = None,
    kernels: dict[int, Kernel] = KERNELS,
    **options: Any,
) -> Exploration:
    wanted = replace(limits or Limits(), memory_bytes=memory)
    return explore(MACHINE, LAYOUT, kernels[words], wanted, workers, options=Options(**options))


def told(found: Exploration) -> object:
    rows = [(row.row, row.enabled, row.fired) for row in found.rows]
    return (
        (found.distinct, found.generated, found.levels, found.cuts, found.deadlocks),
        (found.exhaustive, found.stopped_by, found.depth_complete),
        rows,
        found.findings,
    )


def memory_for(words: int, workers: int, states: int) -> int:
    """Return a limit under which the table holds about so many states."""
    desks = workers * 64 * (8 * words + 24)
    return desks + 8 * max(64, 256) * workers + int(states * 8 * words / 0.9)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("states", [300, 3000, 20000])
def test_a_grid_on_disk_is_the_grid_in_memory(words: int, workers: int, states: int) -> None:
    notices: list[str] = []
    kernels = SMALL if states == 300 else KERNELS
    memory = memory_for(words, workers, states)
    found = run(words, memory, workers, kernels=kernels, notice=notices.append)
    assert told(found) == told(run(words, None, kernels=kernels))
    assert all(row.new == row.fired for row in found.rows)
    assert "levels are kept on disk" in notices[0]
    assert "visited set is kept on disk" in notices[1]
    assert len(notices) == 2


@pytest.mark.usefixtures("tiny")
def test_what_leads_to_a_finding_is_kept_on_disk_where_it_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every state of the grid leads to its only deadlock, so each has a mark."""
    held: list[int] = []
    all_marks: list[int] = []

    class Told(paths.Shelf):
        def keep(self, marks: NDArray[np.int64]) -> NDArray[np.int64]:
            all_marks.append(marks.nbytes)
            kept = super().keep(marks)
            held.append(self.bytes)
            return kept

    monkeypatch.setattr(paths, "Shelf", Told)
    memory = memory_for(2, 2, 300)
    found = run(2, memory, 2, kernels=SMALL)
    assert found.findings == run(2, None, kernels=SMALL).findings
    assert sum(all_marks[:29]) == 8 * 3 * 8**4
    assert held[28] <= memory < sum(all_marks[:29])


@pytest.mark.usefixtures("tiny")
def test_a_path_through_a_state_whose_steps_do_not_fit_is_no_contradiction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search may have looked at fewer: without those that commute."""
    monkeypatch.setattr(paths, "Desk", lambda kernel, _capacity: Desk(kernel, 1))
    assert run(2, None, 2, kernels=SMALL).findings == run(2, None, kernels=SMALL).findings
    monkeypatch.setattr(paths, "_bytes_of_states", lambda _crew: 1 << 60)
    with pytest.raises(EnvironmentFailure, match="give it more with --memory"):
        run(2, None, 2, kernels=SMALL)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("keep_going", [False, True])
def test_random_graphs_with_everything_on_disk(words: int, *, keep_going: bool) -> None:
    spilled = 0
    for seed in range(40 if words == 1 else 200):
        # The smallest index holds 102 states, the smallest table of states of one word fewer.
        graph: Graph = random_graph(seed, words, 120 if words == 1 else 600)
        if words > 1 and len(graph.edges) < 600:
            continue
        kernel = kernel_of(graph, ACTIONS, tuple(name for name, _ in CHECKS), tuple(STEPS))
        notices: list[str] = []
        found = explore(
            graph_machine(),
            LAYOUT,
            kernel,
            Limits(keep_going=keep_going, memory_bytes=1),
            1 + seed % 3,
            options=Options(notice=notices.append),
        )
        compare(graph, found, keep_going=keep_going)
        spilled += len(notices) == 2
    assert spilled > 5


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("limit", [1, 500, 5000, 8**5 - 1, 8**5])
def test_a_limit_of_states_is_kept_on_disk(limit: int) -> None:
    found = run(1, memory_for(1, 2, 400), 2, Limits(states=limit))
    assert limit - 256 <= found.distinct <= limit
    assert found.stopped_by == (None if limit == 8**5 else "states")
    assert sum(found.levels) == found.distinct


@pytest.mark.usefixtures("tiny")
def test_depth_limits_and_checkpoints_go_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "_ADOPTED", 500)
    memory = memory_for(2, 1, 800)
    cut = run(2, memory, 1, Limits(depth=12), checkpoint=tmp_path)
    assert told(cut) == told(run(2, None, 1, Limits(depth=12)))
    # Into memory, and again into too little of it.
    assert told(run(2, None, resume=tmp_path)) == told(run(2, None))
    assert told(run(2, memory, 2, resume=tmp_path)) == told(run(2, None))


@pytest.mark.usefixtures("tiny")
def test_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("checker.search.disk.IN_MEMORY", 0)
    seen: list[list[Path]] = []
    run(1, memory_for(1, 1, 400), notice=lambda _: seen.append(list(tmp_path.iterdir())))
    assert seen == [[], []]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("free", [0, 1 << 18])
def test_a_full_disk_stops_the_search_honestly(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.search.disk.IN_MEMORY", 0)
    monkeypatch.setattr(Disk, "free", lambda _self: free)
    found = run(1, memory_for(1, 1, 400))
    assert (found.stopped_by, found.exhaustive) == ("memory", False)
    assert found.distinct == sum(found.levels) < 8**5
    whole = run(1, None).levels
    assert found.levels[: found.depth_complete + 2] == whole[: found.depth_complete + 2]


@pytest.mark.usefixtures("tiny")
def test_a_disk_that_holds_the_queue_and_no_runs_stops_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The table, which was an index into the queue, is empty then: nothing may go on with it."""
    monkeypatch.setattr(Spill, "adopt", lambda *_: False)
    notices: list[str] = []
    found = run(2, memory_for(2, 1, 300), kernels=SMALL, compact="off", notice=notices.append)
    assert (found.stopped_by, found.exhaustive, len(notices)) == ("memory", False, 1)
    whole = run(2, None, kernels=SMALL).levels
    assert found.levels[:-1] == whole[: len(found.levels) - 1]
    assert 0 < found.levels[-1] <= whole[len(found.levels) - 1]


@pytest.mark.usefixtures("tiny")
def test_an_interrupt_counts_what_was_found_on_disk() -> None:
    stop = Event()

    def notice(text: str) -> None:
        if "visited set" in text:
            stop.set()

    limits = Limits(memory_bytes=memory_for(1, 2, 2000))
    found = explore(
        MACHINE, LAYOUT, KERNELS[1], limits, 2, interrupt=stop, options=Options(notice=notice)
    )
    assert found.stopped_by == "interrupt"
    assert found.distinct == sum(found.levels) > 0


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("words", "part"),
    [(1, "flush"), (2, "_united"), (1, "_without"), (2, "_enqueue"), (1, "_add"), (2, "adopt")],
)
def test_an_interrupt_is_heard_while_the_disk_is_put_in_order(
    words: int, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is done after it, and what counts are the levels that were settled."""
    stop = Event()
    pieces: list[int] = []
    whole, each = getattr(Spill, part), Spill._each

    def stopped(spill: Spill, *given: Any) -> Any:
        if spill.known > (0 if part == "adopt" else 3000):
            stop.set()
        return whole(spill, *given)

    def counted(spill: Spill, work: Any) -> Any:
        found = each(spill, work)
        if stop.is_set():
            pieces.extend(found)
        return found

    monkeypatch.setattr(Spill, part, stopped)
    monkeypatch.setattr(Spill, "_each", counted)
    monkeypatch.setattr(crew_module, "_ADOPTED", 100)
    found = explore(
        MACHINE, LAYOUT, KERNELS[words], Limits(memory_bytes=memory_for(words, 1, 400)), 1,
        interrupt=stop,
    )  # fmt: skip
    assert (found.stopped_by, found.exhaustive, pieces) == ("interrupt", False, [])
    levels = run(words, None).levels
    assert found.distinct == sum(found.levels)
    if part != "adopt":
        assert 0 < len(found.levels) < len(levels)
        assert found.levels == levels[: len(found.levels)]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("words", [1, 2])
def test_an_interrupt_is_heard_while_the_queue_goes_to_disk(
    words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, notices = Event(), list[str]()
    share = Disk.share

    def stopped(disk: Disk) -> int:
        stop.set()
        return share(disk)

    monkeypatch.setattr(Disk, "share", stopped)
    found = explore(
        MACHINE, LAYOUT, SMALL[words], Limits(memory_bytes=memory_for(words, 1, 300)), 1,
        interrupt=stop, options=Options(notice=notices.append),
    )  # fmt: skip
    assert (found.stopped_by, notices) == ("interrupt", [])
    assert found.distinct == sum(found.levels) > 0


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("words", [1, 2])
def test_an_interrupt_is_heard_while_a_checkpoint_is_taken_up(
    words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "_ADOPTED", 100)
    kept = run(words, None, 1, Limits(depth=12), checkpoint=tmp_path)
    stop, adopt, calls = Event(), Spill.adopt, list[int]()

    def stopped(spill: Spill, states: NDArray[np.int64]) -> bool:
        calls.append(len(states))
        if len(calls) == 3:
            stop.set()
        return adopt(spill, states)

    monkeypatch.setattr(Spill, "adopt", stopped)
    limits = Limits(memory_bytes=memory_for(words, 1, 400))
    options = Options(resume=tmp_path)
    found = explore(MACHINE, LAYOUT, KERNELS[words], limits, 1, interrupt=stop, options=options)
    assert (found.stopped_by, len(calls)) == ("interrupt", 3)
    assert (found.distinct, found.levels, found.generated, found.depth_complete) == (
        (kept.distinct, kept.levels, kept.generated, kept.depth_complete)
    )


@pytest.mark.usefixtures("tiny")
def test_what_a_level_shows_is_found_though_its_states_are_not_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = Event()
    settle = Spill.settle

    def stopped(spill: Spill, most: int | None) -> int | None:
        if spill.fixed > 8**4 - 10:
            stop.set()
        return settle(spill, most)

    monkeypatch.setattr(Spill, "settle", stopped)
    limits = Limits(memory_bytes=memory_for(1, 1, 300))
    found = explore(MACHINE, LAYOUT, SMALL[1], limits, 1, interrupt=stop)
    assert found.findings == tuple(
        item
        for item in run(1, None, kernels=SMALL).findings
        if item.depth <= found.depth_complete + 2
    )
    assert found.findings


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("load", [0.1, 0.9, 1.0])
def test_a_segment_comes_out_sorted_and_whole(words: int, load: float) -> None:
    choose = np.random.default_rng(words)
    capacity, bits = 200, 8
    count = int(capacity * load)
    states = choose.integers(0, 1 << 62, (count, words), dtype=np.int64)
    table = np.zeros((SEGMENTS << bits) * words, np.int64)
    slots = np.zeros(count, np.int64)
    locate(table.ctypes.data, capacity, bits, words, states.ctypes.data, count, slots.ctypes.data)
    slots &= (1 << bits) - 1  # all into segment 0: what is homeless elsewhere lives here
    for index in range(count):
        place = states.ctypes.data + 8 * words * index
        insert(table.ctypes.data, int(slots[index]), capacity, bits, words, place, True)
    out, held = np.zeros((count + 1, words), np.int64), np.zeros(words, np.int64)
    first = table.ctypes.data
    assert runs.count_present(first, capacity, words) == count
    # Homes are computed without the segment's bits, so one segment alone is ordered by the rest.
    found = runs.take_sorted(first, capacity, words, out.ctypes.data, held.ctypes.data, GO)
    assert found == count
    assert {tuple(state) for state in out[:count].tolist()} == {tuple(s) for s in states.tolist()}
    assert runs.count_present(first, capacity, words) == 0
    again = np.zeros((count + 1, words), np.int64)
    one, two = out.ctypes.data, again.ctypes.data
    whole = runs.unite(one, count, one, count, words, two, GO)
    assert whole == count
    assert (again[:count] == out[:count]).all()


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize(("few", "many"), [(0, 50), (50, 0), (5, 5000), (5000, 5), (999, 1000)])
def test_sets_of_runs(words: int, few: int, many: int) -> None:
    choose = np.random.default_rng(few)

    def sorted_run(count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        states = np.unique(choose.integers(0, 4000, (count, words), dtype=np.int64), axis=0)
        single, out = np.zeros((1, words), np.int64), np.zeros((0, words), np.int64)
        del single
        for piece in np.array_split(states, max(len(states), 1)):
            joined = np.zeros((len(out) + len(piece), words), np.int64)
            size = runs.unite(
                out.ctypes.data,
                len(out),
                np.ascontiguousarray(piece).ctypes.data,
                len(piece),
                words,
                joined.ctypes.data,
                GO,
            )
            out = joined[:size]
        return out

    left, right = sorted_run(few), sorted_run(many)
    wanted = {tuple(s) for s in left.tolist()} - {tuple(s) for s in right.tolist()}
    kept = runs.subtract(left.ctypes.data, len(left), right.ctypes.data, len(right), words, GO)
    assert [tuple(state) for state in left[:kept].tolist()] == [
        tuple(state) for state in left[:kept].tolist() if tuple(state) in wanted
    ]
    assert kept == len(wanted)
    given_up = runs.subtract(left.ctypes.data, kept, right.ctypes.data, len(right), words, HALT)
    assert given_up == 0
