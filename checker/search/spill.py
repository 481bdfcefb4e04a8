"""The visited set on disk: sorted runs, and duplicates found when a level ends.

The table, which no longer holds all states, holds the *candidates*: what the level being expanded
came upon, each once. When it is full it is written out as a batch and emptied; when the level
ends, the batches are united and everything in the runs is taken out of them. What is left is new:
the next level, and one more run. Two runs of like size are made one, so there are never many.

Every run is cut by the top bits of the hash, as the table is, and the pieces are worked on at once.
All of that takes as long as the disk takes, so each part of it may be given up: HaltedError. Then
the states that were settled before are still the first of the queue, and nothing else is of use.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.kernel.calls import HaltedError
from checker.search import runs as native
from checker.search.disk import Disk
from checker.search.store import Store
from checker.search.threads import results_of
from checker.search.visited import SEGMENT_BITS, SEGMENTS

_AT_ONCE = 1 << 20
"""States that are copied at a time."""


@frozen(eq=False)
class Run:
    """Sorted states: piece s begins at state `starts[s]` of `states` and has `counts[s]`."""

    states: NDArray[np.int64]
    starts: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """States in it."""
        return sum(self.counts)


class Spill:
    """The runs of a search whose first `fixed` states in the queue are known to be distinct.

    `cut`: there were more new states than `settle` was to put into the queue. `asked` is called
    several times a second: whether to give up.
    """

    def __init__(
        self, store: Store, disk: Disk, executor: Executor, asked: Callable[[], bool]
    ) -> None:
        self.store = store
        self.disk = disk
        self.fixed = 0
        self.cut = False
        self._executor = executor
        self._asked = asked
        self._halt = np.zeros(1, np.int64)
        self._runs: list[Run] = []
        self._batches: list[Run] = []

    @property
    def known(self) -> int:
        """States in the runs."""
        return sum(run.total for run in self._runs)

    def flush_known(self) -> bool:
        """Move the table into a run: all its states are new. False where the disk is short."""
        run = self._taken()
        return run is not None and self._add(run)

    def adopt(self, states: NDArray[np.int64]) -> bool:
        """Take states (one a row) as known, none of which is. False where the disk is short."""
        self._listen()
        words = self.store.words
        keys = np.empty(len(states), np.int64)
        native.write_keys(states.ctypes.data, len(states), words, keys.ctypes.data)
        order = np.lexsort((*(states[:, word] for word in reversed(range(words))), keys))
        counts = np.bincount((keys >> (64 - SEGMENT_BITS)) + SEGMENTS // 2, minlength=SEGMENTS)
        run = self._room(tuple(counts.tolist()))
        if run is None:
            return False
        run.states[:] = states[order].reshape(-1)
        return self._add(run)

    def flush(self) -> bool:
        """Move the table into a batch of candidates. False where the disk is short."""
        batch = self._taken()
        if batch is None:
            return False
        self._batches.append(batch)
        return True

    def settle(self, most: int | None) -> int | None:
        """Put what is new among the candidates into the queue; return how much that was.

        At most `most` states; None where the disk is short.
        """
        if not self.flush():
            return None
        new = self._united()
        if new is None:
            return None
        for run in self._runs:
            new = self._without(new, run)
        count = new.total if most is None else min(new.total, most)
        self.cut = count < new.total
        if not self.store.ensure(self.fixed + count):
            return None
        self._enqueue(new, count)
        self.fixed += count
        return count if self._add(new) else None

    def _enqueue(self, run: Run, count: int) -> None:
        """Append the first `count` states of a run to the queue."""
        place, words = self.fixed, self.store.words
        for start, size in zip(run.starts, run.counts, strict=True):
            taken = min(size, self.fixed + count - place)
            states = run.states[start * words : (start + taken) * words].reshape(-1, words)
            for first in range(0, taken, _AT_ONCE):
                self._listen()
                piece = states[first : first + _AT_ONCE]
                self.store.states(place + first, place + first + len(piece))[:] = piece
            place += taken

    # ------------------------------------------------------------------------------- the pieces

    def _each(self, work: Callable[[int], int]) -> tuple[int, ...]:
        """Do something with every piece, in threads."""
        self._listen()
        running = [self._executor.submit(work, piece) for piece in range(SEGMENTS)]
        found = tuple(results_of(running, self._asked, self._give_up))
        if self._halt[0]:
            raise HaltedError("the visited set on disk was not put in order")
        return found

    def _listen(self) -> None:
        if self._asked():
            raise HaltedError("the visited set on disk was not put in order")

    def _give_up(self) -> None:
        self._halt[0] = 1

    def _room(self, sizes: tuple[int, ...]) -> Run | None:
        """Return an empty run with room for so many states in each piece."""
        states = self.disk.array(sum(sizes) * self.store.words)
        if states is None:
            return None
        ends = np.cumsum(sizes).tolist()
        return Run(states, tuple(end - size for end, size in zip(ends, sizes, strict=True)), sizes)

    def _taken(self) -> Run | None:
        """Empty the table into a run."""
        store, words = self.store, self.store.words
        table = store.table.ctypes.data
        reserved = 8 * words << store.reserved_bits

        def count(piece: int) -> int:
            segment = table + piece * reserved
            return int(native.count_present(segment, store.capacity, words))

        def take(piece: int) -> int:
            held = np.empty(words, np.int64)
            out = self._address(room, piece)
            segment = table + piece * reserved
            buffer, halt = held.ctypes.data, self._halt.ctypes.data
            return int(native.take_sorted(segment, store.capacity, words, out, buffer, halt))

        present = self._each(count)
        # One more in each piece: states are copied before it is known whether they are any.
        found = self._room(tuple(size + 1 for size in present))
        if found is None:
            return None
        room = found
        return Run(room.states, room.starts, self._each(take))

    def _united(self) -> Run | None:
        """Return all candidates as one run."""
        batches, self._batches = self._batches, []
        while len(batches) > 1:
            joined = self._joined(batches[0], batches[1])
            if joined is None:
                return None
            batches = [*batches[2:], joined]
        return batches[0]

    def _add(self, run: Run) -> bool:
        """Add a run of states that no other run holds; False where the disk is short."""
        self._runs.append(run)
        while len(self._runs) > 1 and self._runs[-2].total < 2 * self._runs[-1].total:
            joined = self._joined(self._runs[-2], self._runs[-1])
            if joined is None:
                return False
            self._runs[-2:] = [joined]
        return True

    def _joined(self, left: Run, right: Run) -> Run | None:
        """Return two runs as one, states of both once; None where the disk is short."""
        sizes = tuple(map(sum, zip(left.counts, right.counts, strict=True)))
        room = self._room(sizes)
        if room is None:
            return None
        target = room

        def unite(piece: int) -> int:
            return int(
                native.unite(
                    self._address(left, piece),
                    left.counts[piece],
                    self._address(right, piece),
                    right.counts[piece],
                    self.store.words,
                    self._address(target, piece),
                    self._halt.ctypes.data,
                )
            )

        return Run(target.states, target.starts, self._each(unite))

    def _without(self, run: Run, known: Run) -> Run:
        """Take the states of `known` out of `run`, in place."""

        def subtract(piece: int) -> int:
            return int(
                native.subtract(
                    self._address(run, piece),
                    run.counts[piece],
                    self._address(known, piece),
                    known.counts[piece],
                    self.store.words,
                    self._halt.ctypes.data,
                )
            )

        return Run(run.states, run.starts, self._each(subtract))

    def _address(self, run: Run, piece: int) -> int:
        return int(run.states.ctypes.data) + 8 * self.store.words * run.starts[piece]
