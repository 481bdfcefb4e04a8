"""What the owner of a shard keeps on its host from level to level: an index, and a frontier.

The index holds the states of all finished levels up to its stamp, and nothing else. A task that
settles level L + 1 enters level L, which is finished, and then only looks up: what it finds new is
written to a file of its own, the frontier of the next level, which is taken when that is finished.
So nothing that an attempt, a speculative copy or a dropped level found can come into the index,
and a worker that dies while it enters leaves an index that says so, and is thrown away.

Whoever finds no index, or one that does not count as many states as were finished, is cold and
gets the stored states of its shard. The files are in `scratch.py`'s place.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.kernel.kernel import Words
from checker.spark import index as compiled
from checker.spark.candidates import Arrivals
from checker.spark.scratch import Scratch, mapped

LOAD = 0.75
"""Share of the slots that may be in use."""
GROWTH = 1.5
"""New slots over old ones: an index takes 1.33 to 2 slots a state."""

_CAPACITY_START = 1 << 10
_MAGIC = 0x6B65707431000001
_HEADER = 4096
"""Bytes before the slots; a page, for `_punch`."""
_CHUNK = 1 << 21
"""Slots that are moved before their memory is given back."""

# Places of a header's numbers.
_KIND, _WORDS, _LEVEL, _COUNT, _CAPACITY, _DIRTY = range(6)

Numbers = NDArray[np.int64]


@frozen(eq=False)
class Index:
    """A mapped index, not to be changed."""

    file: Numbers

    @property
    def bytes(self) -> int:
        """Bytes of the file."""
        return self.file.nbytes

    def absent(self, states: Words, arrivals: Arrivals) -> tuple[Words, Arrivals]:
        """Return those of `states`, with their arrivals, that the index does not hold."""
        return absent_from(_slots(self.file), int(self.file[_CAPACITY]), states, arrivals)


class Kept:
    """The files of shard `shard`, whose states have `words` words."""

    def __init__(self, scratch: Scratch, shard: int, words: int) -> None:
        self.scratch = scratch
        self.shard = shard
        self.words = words
        self.name = f"{shard}.index"

    @property
    def on_disk(self) -> bool:
        """Whether the index had no room in memory."""
        return self.scratch.on_disk(self.name)

    # -------------------------------------------------------------------------------- frontier

    def put_frontier(self, serial: str, states: Words, arrivals: Arrivals) -> None:
        """Keep the states that the job `serial` found, and their arrivals."""
        name = self._frontier(serial)
        own, words = self.scratch.create(name, self._size(len(states)))
        begin = _HEADER // 8
        words[begin : begin + states.size] = states.reshape(-1)
        words[begin + states.size :].view(np.uint16)[: len(states)] = arrivals
        words[: _COUNT + 1] = (_MAGIC, self.words, 0, len(states))
        self.scratch.keep(own, name)

    def frontier(self, serial: str, count: int) -> tuple[Words, Arrivals] | None:
        """Return the `count` states that the job `serial` found; None where they are not here.

        With their arrivals.
        """
        try:
            file = mapped(self.scratch.path(self._frontier(serial)))
        except (OSError, ValueError):
            return None
        wanted = [_MAGIC, self.words, 0, count]
        if file.nbytes != self._size(count) or file[: _COUNT + 1].tolist() != wanted:
            return None
        begin, end = _HEADER // 8, _HEADER // 8 + self.words * count
        return file[begin:end].reshape(-1, self.words), file[end:].view(np.uint16)[:count]

    def _size(self, count: int) -> int:
        """Return the bytes of a file that keeps `count` states and arrivals."""
        return _HEADER + 8 * self.words * count + 8 * -(-count // 4)

    def forget_frontiers(self, *needed: str) -> None:
        """Remove the frontiers of all jobs but those `needed`."""
        names = {self._frontier(serial) for serial in needed}
        for file in self.scratch.folder.glob(f"{self.shard}.*.states"):
            if file.name not in names:
                self.scratch.forget(file)

    def _frontier(self, serial: str) -> str:
        return f"{self.shard}.{serial}.states"

    # ----------------------------------------------------------------------------------- index

    @contextmanager
    def up_to(self, level: int, count: int, serial: str, last: int) -> Iterator[Index | None]:
        """Yield the index of the `count` states of all levels up to `level`; None where cold.

        The `last` of them, those of `level` itself, are entered from the frontier of job `serial`
        where that was not done. Nobody changes the index while it is held.
        """
        for _ in range(2):
            with self.scratch.locked(str(self.shard), alone=False):
                file = self._sound()
                if file is not None and (file[_LEVEL], file[_COUNT]) == (level, count):
                    yield Index(file)
                    return
                ready = file is not None and (file[_LEVEL], file[_COUNT]) == (
                    level - 1,
                    count - last,
                )
                del file
            frontier = self.frontier(serial, last) if ready else None
            if frontier is None or not self._advance(level, count, frontier[0]):
                break
        yield None

    @contextmanager
    def rebuilt(self, level: int, count: int, states: Iterable[Words]) -> Iterator[Index | None]:
        """Yield an index made of `states`; None where they are not `count` different ones."""
        self._require_room(count)
        with self.scratch.locked(str(self.shard), alone=True):
            self._clean()
            own, file = self._create(int(count / LOAD * GROWTH**0.5), level)
            for piece in states:
                if file[_COUNT] + len(piece) > LOAD * file[_CAPACITY]:
                    break
                self._add(file, piece)
            sound = int(file[_COUNT]) == count
            if sound:
                file[_DIRTY] = 0
                self.scratch.keep(own, self.name)
            else:
                self.scratch.forget(own)
            # Held alone to the end: to share it, it would have to be let go first.
            yield Index(file) if sound else None

    def _sound(self) -> Numbers | None:
        """Return the index that is there, mapped; None where there is none or it is damaged."""
        try:
            file = mapped(self.scratch.path(self.name))
        except (OSError, ValueError):
            return None
        sound = (
            file.nbytes > _HEADER
            and file[_KIND] == _MAGIC
            and file[_WORDS] == self.words
            and file[_DIRTY] == 0
            and file.nbytes == _HEADER + 8 * self.words * file[_CAPACITY]
            and 0 <= file[_COUNT] < file[_CAPACITY]
        )
        return file if sound else None

    def _require_room(self, count: int) -> None:
        if count > LOAD * compiled.CAPACITY_MAX:
            raise OverflowError(
                f"shard {self.shard} has {count:,} states, more than one index takes: start "
                "again with more shards (--conf spark.default.parallelism=N)"
            )

    def _advance(self, level: int, count: int, frontier: Words) -> bool:
        """Enter the frontier of `level`; False where the index is not what it should be."""
        self._require_room(count)
        with self.scratch.locked(str(self.shard), alone=True):
            file = self._sound()
            if file is None:
                return False
            if file[_LEVEL] == level:
                return True  # another attempt was first
            if (file[_LEVEL], file[_COUNT] + len(frontier)) != (level - 1, count):
                return False
            self._clean()
            file[_DIRTY] = 1
            own = None
            if count > LOAD * file[_CAPACITY]:
                own, file = self._grown(file, count)
            self._add(file, frontier)
            file[_LEVEL] = level
            if file[_COUNT] != count:
                return False
            file[_DIRTY] = 0
            if own is not None:
                self.scratch.keep(own, self.name)
            return True

    def _grown(self, file: Numbers, count: int) -> tuple[Path, Numbers]:
        """Return a larger index of the same states, not kept yet; the old one's memory is gone."""
        old = int(file[_CAPACITY])
        own, larger = self._create(max(int(old * GROWTH), int(count / LOAD) + 1), 0)
        for start in range(0, old, _CHUNK):
            end = min(start + _CHUNK, old)
            larger[_COUNT] += compiled.move(
                _slots(file), start, end, self.words, _slots(larger), int(larger[_CAPACITY])
            )
            _punch(file, _HEADER + 8 * self.words * start, _HEADER + 8 * self.words * end)
        return own, larger

    def _create(self, capacity: int, level: int) -> tuple[Path, Numbers]:
        """Return a new and empty index, still dirty and without its name."""
        slots = min(max(capacity, _CAPACITY_START), compiled.CAPACITY_MAX)
        own, file = self.scratch.create(self.name, _HEADER + 8 * self.words * slots)
        file[: _DIRTY + 1] = (_MAGIC, self.words, level, 0, slots, 1)
        return own, file

    def _add(self, file: Numbers, states: Words) -> None:
        file[_COUNT] += compiled.add(
            _slots(file), int(file[_CAPACITY]), self.words, states.ctypes.data, len(states)
        )

    def _clean(self) -> None:
        """Remove what a worker that died while it held the lock was making."""
        for file in self.scratch.folder.glob(f"{self.name}.*.tmp"):
            self.scratch.forget(file)


def absent_from(
    table: int, capacity: int, states: Words, arrivals: Arrivals
) -> tuple[Words, Arrivals]:
    """Return those of `states`, with their arrivals, that the index at address `table` lacks."""
    left, left_arrivals = np.empty_like(states), np.empty_like(arrivals)
    kept = compiled.absent(
        table,
        capacity,
        states.shape[1],
        states.ctypes.data,
        arrivals,
        left.ctypes.data,
        left_arrivals,
    )
    return left[:kept].copy(), left_arrivals[:kept].copy()


def _slots(file: Numbers) -> int:
    return int(file.ctypes.data) + _HEADER


def _punch(file: Numbers, start: int, end: int) -> None:
    """Give back the memory of a part of a file, as far as the system can."""
    advice = getattr(mmap, "MADV_REMOVE", None)
    space: object = file
    while isinstance(space, (np.ndarray, memoryview)):
        space = space.base if isinstance(space, np.ndarray) else space.obj
    page = mmap.PAGESIZE
    first, last = -(-start // page) * page, end // page * page
    if advice is not None and isinstance(space, mmap.mmap) and last > first:
        with suppress(OSError):
            space.madvise(advice, first, last - first)
