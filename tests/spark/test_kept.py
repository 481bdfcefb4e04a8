"""Goal: what owners keep on a host holds the states of finished levels, or nothing at all.

Processes are killed while they enter, files are damaged, attempts run at the same time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from numpy.typing import NDArray

from checker.kernel.kernel import Words
from checker.spark import index, kept, scratch
from checker.spark.kept import Kept
from checker.spark.scratch import Place, Scratch, remove, remove_stale


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "disk"))
    given = Place(uuid.uuid4().hex, str(tmp_path / "memory"))
    yield given
    remove(given)


def numbers(start: int, end: int, words: int = 1) -> Words:
    states = np.zeros((end - start, words), np.int64)
    states[:, -1] = np.arange(start, end)
    return states


def arrived(states: Words) -> tuple[Words, NDArray[np.uint16]]:
    """States with arrivals that tell them apart."""
    return states, (states[:, -1] & 0xFFFF).astype(np.uint16)


def held(known: kept.Index | None, states: Words) -> list[bool]:
    """Which of the states an index holds."""
    assert known is not None
    left, actions = known.absent(states, np.zeros(len(states), np.uint16))
    assert len(left) == len(actions)
    absent = {state.tobytes() for state in left}
    return [state.tobytes() not in absent for state in states]


def start(place: Place, count: int) -> Kept:
    """Level 0, entered; `count` states of level 1 are a frontier of job "one"."""
    owner = Kept(Scratch(place), 0, 1)
    with owner.rebuilt(0, 10, [numbers(0, 10)]) as known:
        assert all(held(known, numbers(0, 10)))
    owner.put_frontier("one", *arrived(numbers(10, 10 + count)))
    return owner


@pytest.mark.parametrize("words", [1, 2, 3])
def test_levels_are_entered_one_after_the_other(place: Place, words: int) -> None:
    owner = Kept(Scratch(place), 3, words)
    choose = np.random.default_rng(words)
    every = np.unique(choose.integers(0, 1 << 62, (60_000, words)), axis=0)
    choose.shuffle(every)
    ends = [5, 40, 900, 4_000, 30_000, 50_000]
    with owner.rebuilt(0, 5, [every[:5]]):
        pass
    for level, (first, last) in enumerate(pairwise(ends), 1):
        put = arrived(every[first:last])
        owner.put_frontier(str(level), *put)
        found = owner.frontier(str(level), last - first)
        assert found is not None
        assert all((one == other).all() for one, other in zip(found, put, strict=True))
        for _ in range(2):  # a retry finds it done
            with owner.up_to(level, last, str(level), last - first) as known:
                assert known is not None
                left, _ = known.absent(every, np.zeros(len(every), np.uint16))
                assert (left == every[last:]).all()
        owner.forget_frontiers(str(level))
    assert len(list(owner.scratch.folder.glob("*.states"))) == 1
    assert not list(owner.scratch.folder.glob("*.tmp"))


def test_what_another_job_found_is_not_entered(place: Place) -> None:
    owner = start(place, 5)
    owner.put_frontier("dropped", *arrived(numbers(100, 107)))
    with owner.up_to(1, 15, "one", 5) as known:
        assert held(known, numbers(100, 107)) == [False] * 7
        assert all(held(known, numbers(0, 15)))


def in_a_process(work: Callable[[], None]) -> int:
    """Do some work in a copy of this process; return how that ended."""
    process = os.fork()
    if process == 0:
        work()
        os._exit(0)
    return os.waitpid(process, 0)[1]


def killed(*_: object) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


@pytest.mark.parametrize(
    ("where", "name", "count"),
    [(index, "add", 5), (index, "move", 5_000), (Scratch, "keep", 5_000)],
    ids=["entering", "growing", "before the new one has its name"],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_worker_that_dies_while_it_enters_leaves_a_cold_shard(
    place: Place, monkeypatch: pytest.MonkeyPatch, where: object, name: str, count: int
) -> None:
    owner = start(place, count)

    def enter() -> None:
        monkeypatch.setattr(where, name, killed)
        with owner.up_to(1, 10 + count, "one", count):
            pass

    assert os.WTERMSIG(in_a_process(enter)) == signal.SIGKILL
    with owner.up_to(1, 10 + count, "one", count) as known:
        assert known is None
    states = numbers(0, 10 + count)
    with owner.rebuilt(1, len(states), [states[:7], states[7:]]) as known:
        assert all(held(known, states))
    assert not list(owner.scratch.folder.glob("*.tmp"))
    with owner.up_to(1, len(states), "one", count) as known:
        assert all(held(known, states))


def miscount(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[24:32] = (9).to_bytes(8, "little")
    file.write_bytes(content)


def shorten(file: Path) -> None:
    os.truncate(file, 5000)


def empty(file: Path) -> None:
    os.truncate(file, 0)


@pytest.mark.parametrize("damage", [miscount, shorten, empty, Path.unlink])
def test_a_damaged_index_is_none(place: Place, damage: Callable[[Path], None]) -> None:
    owner = start(place, 5)
    damage(owner.scratch.path(owner.name))
    with owner.up_to(1, 15, "one", 5) as known:
        assert known is None


@pytest.mark.parametrize("damage", [miscount, shorten, empty, Path.unlink])
def test_a_damaged_frontier_is_none(place: Place, damage: Callable[[Path], None]) -> None:
    owner = start(place, 5)
    damage(owner.scratch.path("0.one.states"))
    assert owner.frontier("one", 5) is None
    with owner.up_to(1, 15, "one", 5) as known:
        assert known is None


def test_states_that_are_not_as_many_as_written_make_no_index(place: Place) -> None:
    owner = start(place, 5)
    with owner.rebuilt(1, 15, [numbers(0, 10), numbers(0, 5)]) as known:
        assert known is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_attempts_at_the_same_time_enter_once(place: Place) -> None:
    count = 100_000
    owner = start(place, count)

    def enter() -> None:
        with owner.up_to(1, 10 + count, "one", count) as known:
            if not all(held(known, numbers(0, 10 + count))):
                os._exit(1)
            if set(held(known, numbers(10 + count, 3 * count))) != {False}:
                os._exit(1)

    processes = []
    for _ in range(4):
        process = os.fork()
        if process == 0:
            enter()
            os._exit(0)
        processes.append(process)
    assert [os.waitpid(process, 0)[1] for process in processes] == [0] * 4


def test_an_attempt_of_an_earlier_level_is_not_overtaken(place: Place) -> None:
    owner = start(place, 5)
    entered = Event()

    def next_level() -> None:
        with owner.up_to(2, 17, "two", 2) as known:
            assert held(known, numbers(15, 17)) == [True, True]
            entered.set()

    with owner.up_to(1, 15, "one", 5) as known:
        owner.put_frontier("two", *arrived(numbers(15, 17)))
        other = Thread(target=next_level)
        other.start()
        assert not entered.wait(0.3)
        assert held(known, numbers(15, 17)) == [False, False]
    other.join()
    assert entered.is_set()


def test_what_has_no_room_in_memory_goes_to_the_disk(place: Place, tmp_path: Path) -> None:
    small = Place(place.run, place.folder, limit=40_000)
    owner = start(small, 5_000)
    assert not owner.on_disk
    with owner.up_to(1, 5_010, "one", 5_000) as known:
        assert all(held(known, numbers(0, 5_010)))
    assert owner.on_disk
    owner.put_frontier("two", *arrived(numbers(10_000, 20_000)))
    with owner.up_to(2, 15_010, "two", 10_000) as known:
        assert all(held(known, numbers(10_000, 20_000)))
    owner.forget_frontiers()
    beside = tmp_path / "disk" / f"checker-{place.run}"
    assert len(list(beside.iterdir())) == 1, "only the index"
    remove(small)
    assert not beside.exists()
    assert not owner.scratch.folder.exists()


def test_a_full_disk_is_an_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left on device"):
        start(place, 5)


def test_files_of_dead_searches_are_removed(place: Place, tmp_path: Path) -> None:
    above = tmp_path / "memory"
    dead = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    folders = [above / f"checker-{name}" for name in ("dead", "living", "reused")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "0.index").write_bytes(b"states")
    (folders[0] / scratch._mark_of(dead.pid)).touch()
    (folders[1] / scratch._mark_of(os.getpid())).touch()
    (folders[2] / f"alive-{os.getpid()}-1").touch()  # another process had this number
    dead.kill()
    dead.communicate()
    Scratch(place)
    assert [folder.exists() for folder in folders] == [False, True, False]
    remove_stale(above)
    assert folders[1].exists()
