"""Goal: states kept in halves are the states, whatever else a search does: counts, paths, limits,
interrupts, checkpoints and the disk are those of a search that keeps them whole.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flagged_graphs import kernel_of
from native_kernels import grid
from test_explore import ACTIONS, CHECKS, LAYOUT, STEPS, compare, random_graph
from test_explore import machine as graph_machine

import checker.search.crew as crew_module
import checker.search.local as local_module
from checker.search import board as places
from checker.search import compact, halves
from checker.search.disk import Disk
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.roots import Form
from checker.search.spill import Spill
from checker.search.splitting import SAMPLE, pieces_of, split_of
from checker.search.store import Store
from checker.search.worker import NO_HALVES, TOO_NARROW

MACHINE: Any = SimpleNamespace(
    properties=[SimpleNamespace(name="far", kind="sometimes", asks=False)],
    deadlock=True,
    expectation=None,
)
KERNELS = {words: grid(5, 8, words) for words in (2, 3, 4, 5)}


@pytest.fixture(autouse=True)
def packed_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let findings show packed states: these kernels have no layout."""
    monkeypatch.setattr(
        local_module,
        "Decoder",
        lambda _layout: SimpleNamespace(states=lambda found: map(tuple, found.tolist())),
    )


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with hardly any room, and with halves as soon as there are a few states."""
    monkeypatch.setattr(
        local_module, "Crew", partial(crew_module.Crew, capacity=2, out_capacity=64)
    )
    monkeypatch.setattr(compact, "MANY", 100)
    monkeypatch.setattr(compact, "_AT_ONCE", 1000)
    monkeypatch.setattr(compact, "_CAPACITY", 8)


def run(
    words: int,
    workers: int = 1,
    limits: Limits | None = None,
    interrupt: Event | None = None,
    **options: Any,
) -> Exploration:
    asked = Options(**{"compact": "on", "checkpoint_seconds": 1e9, **options})
    wanted = limits or Limits()
    return explore(
        MACHINE, LAYOUT, KERNELS[words], wanted, workers, interrupt=interrupt, options=asked
    )


def told(found: Exploration) -> object:
    return replace(found, seconds=0.0, checkpoint=None, bytes_per_state=0.0, workers=0)


def plain(words: int, **more: Any) -> object:
    return told(run(words, compact="off", **more))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("words", [2, 3, 4, 5])
def test_a_grid_in_halves_is_the_grid(words: int, workers: int) -> None:
    notices: list[str] = []
    found = run(words, workers, notice=notices.append)
    assert told(found) == plain(words)
    assert len(notices) == 1
    assert "kept in halves" in notices[0]


@pytest.mark.parametrize("words", [2, 3])
@pytest.mark.parametrize("keep_going", [False, True])
def test_random_graphs_in_halves(words: int, *, keep_going: bool) -> None:
    halved = 0
    for seed in range(120):
        graph = random_graph(seed, words, 400)
        if len(graph.edges) < 400:
            continue  # there would be no halves
        kernel = kernel_of(graph, ACTIONS, tuple(name for name, _ in CHECKS), tuple(STEPS))
        notices: list[str] = []
        found = explore(
            graph_machine(),
            LAYOUT,
            kernel,
            Limits(keep_going=keep_going),
            1 + seed % 3,
            options=Options(notice=notices.append, compact="on"),
        )
        compare(graph, found, keep_going=keep_going)
        halved += len(notices)
    assert halved > 5


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("words", [2, 3])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_from_whole_states_to_halves_to_the_disk(words: int, workers: int, share: float) -> None:
    notices: list[str] = []
    limit = int(share * 8**5 * (8 * words + 10)) + 16384 * workers
    found = run(words, workers, Limits(memory_bytes=limit), compact="auto", notice=notices.append)
    assert told(found) == plain(words)
    assert "kept in halves" in notices[0]
    assert (len(notices) == 3) == (share == 0.1)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("share", [0.2, 0.3, 0.5])
def test_table_halves_and_queue_together_stay_within_the_limit(
    share: float, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A root takes a word in the queue until its level is expanded."""
    taken: list[int] = []

    class Told(crew_module.Crew):
        def _provide(self, results: set[int]) -> Any:
            self.tell()
            return super()._provide(results)

        def _close_holes(self) -> None:
            self.tell()
            super()._close_holes()

        def tell(self) -> None:
            if self.compact is not None:
                beside = self.compact.bytes + 8 * (self.tail - self.compact.kept)
                taken.append(self.store.table_bytes + beside + self.store.overhead)

    monkeypatch.setattr(local_module, "Crew", partial(Told, capacity=2, out_capacity=64))
    limit = int(share * 8**5 * 26) + 4608 * workers
    run(2, workers, Limits(memory_bytes=limit), compact="auto")
    assert 0.5 * limit < max(taken) <= limit


@pytest.mark.parametrize("words", [2, 3])
def test_halves_that_are_not_worth_it_leave_the_search_as_it_was(
    words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is short then, and an index that is fuller than it may become is made again."""
    monkeypatch.setattr(compact.Compact, "grow", lambda *_: False)
    limits = Limits(memory_bytes=int(0.3 * 8**5 * (8 * words + 10)) + 16384)
    assert told(run(words, 1, limits, compact="auto")) == plain(words)
    monkeypatch.setattr(Disk, "growing", lambda *_: None)
    notices: list[str] = []
    found = run(words, 1, limits, compact="auto", notice=notices.append)
    assert found.stopped_by == "memory"
    assert found.levels[:-1] == run(words, compact="off").levels[: len(found.levels) - 1]
    assert notices == []


def test_paths_are_read_from_where_the_states_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue went from halves to the disk, and there was no room there for the visited set."""
    monkeypatch.setattr(Spill, "adopt", lambda *_: False)
    seen: list[tuple[bool, int]] = []

    def rebuild(crew: crew_module.Crew, *_: object) -> list[object]:
        seen.append((crew.store.file is None, int(crew.board[places.SPLIT])))
        return []

    monkeypatch.setattr(local_module, "rebuild", rebuild)
    limits = Limits(memory_bytes=int(0.1 * 8**5 * 26) + 16384)
    notices: list[str] = []
    found = run(2, 1, limits, compact="auto", notice=notices.append)
    assert found.stopped_by == "memory"
    assert len(notices) == 2
    assert seen == [(False, 0)]


@pytest.mark.parametrize("limit", [500, 5000, 8**5 - 1, 8**5])
def test_a_limit_of_states_is_kept(limit: int) -> None:
    found = run(2, 2, Limits(states=limit))
    assert found.distinct == sum(found.levels) == limit
    assert found.stopped_by == (None if limit == 8**5 else "states")


@pytest.mark.parametrize("workers", [1, 2])
def test_checkpoints_of_halves_are_those_of_whole_states(tmp_path: Path, workers: int) -> None:
    for depth in (6, 15, 22):
        resume = tmp_path if depth > 6 else None
        run(3, workers, Limits(depth=depth), checkpoint=tmp_path, resume=resume)
    assert told(run(3, workers, resume=tmp_path)) == plain(3)
    assert told(run(3, workers, resume=tmp_path, compact="off")) == plain(3)


def test_checkpoints_after_every_level(tmp_path: Path) -> None:
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    run(2, 1, Limits(depth=18), checkpoint=whole, checkpoint_seconds=0, compact="off")
    run(2, 1, Limits(depth=18), checkpoint=halved, checkpoint_seconds=0)
    files = sorted(path.name for path in whole.glob("states-*"))
    assert files == sorted(path.name for path in halved.glob("states-*"))
    for name in files:
        one, two = (np.fromfile(at / name, np.int64).reshape(-1, 2) for at in (whole, halved))
        assert {tuple(state) for state in one} == {tuple(state) for state in two}


def test_an_interrupt_in_a_level_counts_and_goes_on(tmp_path: Path) -> None:
    stop = Event()

    def notice(_text: str) -> None:
        stop.set()

    found = run(2, 2, interrupt=stop, notice=notice, checkpoint=tmp_path)
    assert found.stopped_by == "interrupt"
    assert 0 < found.distinct == sum(found.levels) < 8**5
    assert told(run(2, 1, resume=tmp_path)) == plain(2)


@pytest.mark.parametrize("workers", [1, 2])
def test_kept_states_are_all_states(workers: int) -> None:
    one, two = (run(2, workers, keep=True, compact=how).states for how in ("on", "off"))
    assert isinstance(one, np.ndarray)
    assert isinstance(two, np.ndarray)
    assert len(one) == len(two) == 8**5
    assert {tuple(state) for state in one.tolist()} == {tuple(state) for state in two.tolist()}


def test_states_that_have_no_halves_in_common_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew_module, "_LITTLE", 0)
    # Nothing but one piece varies, so one side has as many halves as there are states.
    monkeypatch.setattr(local_module, "pieces_of", lambda _words: [(0, -1), (1, -1)])
    notices: list[str] = []
    kernel = grid(1, 1000, 2)
    asked = Options(compact="on", notice=notices.append)
    found = explore(MACHINE, LAYOUT, kernel, Limits(), 1, options=asked)
    assert (found.distinct, notices) == (1000, [])
    assert found.stopped_by is None


def test_a_search_deeper_than_a_slot_says_goes_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "DEPTH_MAX", 12)
    notices: list[str] = []
    assert told(run(2, 1, notice=notices.append)) == plain(2)
    assert "halves" in notices[0]
    assert "disk" in notices[1]


def test_dictionaries_that_are_full_send_the_search_to_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compact, "LOW_BITS", 7)
    monkeypatch.setattr(compact, "HIGH_BITS", 0)
    notices: list[str] = []
    assert told(run(2, 2, notice=notices.append)) == plain(2)
    assert "halves" in notices[0]
    assert "disk" in notices[1]


def test_halves_may_be_gone_when_a_thread_has_no_room_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Narrow(crew_module.Crew):
        """Where one thread has no room for halves, a state of another one has too many steps."""

        def run(self, *given: Any) -> set[int]:
            results = super().run(*given)
            return results | {TOO_NARROW} if NO_HALVES in results else results

        def _widen(self) -> bool:
            return self.store.file is not None

    monkeypatch.setattr(local_module, "Crew", partial(Narrow, capacity=2, out_capacity=64))
    assert told(run(2)) == plain(2)


# -------------------------------------------------------------------------------------- the parts


def test_roots_are_states() -> None:
    choose = np.random.default_rng(1)
    states = choose.integers(0, 20, (3000, 3), dtype=np.int64)
    states[:, 2] -= 1  # negative words, too
    store = Store(3, 1 << 24, 0, 1024, keeps_arrivals=False)
    store.become_roots(Form())
    assert store.make_room(3000)
    held = compact.Compact(store, np.array([-1, 3, 0], np.int64), 1)
    roots, cutter = np.empty(3000, np.int64), held.cutters[0].numbers.ctypes.data
    done = 0
    while done < 3000:
        rest, place = states[done:], roots[done:]
        given = rest.ctypes.data, len(rest), place.ctypes.data
        done += halves.write_roots(held.address, cutter, *given)
        if done < 3000:
            assert held.grow(1 << 22, done, None, 1)  # type: ignore[arg-type]
    assert (held.states(roots) == states).all()
    assert len(np.unique(roots)) == len(np.unique(states, axis=0))
    assert held.halves == (
        len(np.unique(states & [-1, 3, 0], axis=0)),
        len(np.unique(states & [0, -4, -1], axis=0)),
    )


def test_a_split_puts_together_what_changes_together() -> None:
    choose = np.random.default_rng(2)
    # Nibbles 0 and 2 say the same, and so do 1 and 3: 16 * 16 states of 16 halves each.
    one, two = choose.integers(0, 16, (2, SAMPLE), dtype=np.int64)
    states = np.stack([one | two << 4, one << 8 | two << 12], axis=1)
    mask = split_of(states, pieces_of(2))
    assert sorted([tuple(mask), tuple(mask ^ [0xFF, 0xFF00])]) == [(0xF, 0xF00), (0xF0, 0xF000)]
