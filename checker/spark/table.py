"""A table of candidates from Python: it grows, fills from a kernel, and is dealt out to shards."""

from __future__ import annotations

import numpy as np

from checker.frozen import frozen
from checker.kernel.calls import require_room
from checker.kernel.kernel import Kernel, Words
from checker.memory import advise_huge_pages, reserve
from checker.search import board as places
from checker.search.board import Desk, new_board
from checker.search.worker import TOO_NARROW
from checker.spark import candidates
from checker.spark.candidates import Arrivals

LOAD = 0.6
"""Share of the slots that may be in use."""

_CAPACITY_START = 1 << 12
_OUT_CAPACITY = 4096
"""Successors a desk has room for at first."""
_BESIDE = 4
"""Words of a desk beside each successor: meta word, slot, flags and what is not plainly known."""
_LARGE = 1 << 24
"""Bytes from which a table stands in huge pages."""


@frozen(eq=False)
class Dealt:
    """The states of a table, shard by shard: those of shard s are starts[s] to starts[s + 1]."""

    states: Words
    arrivals: Arrivals
    starts: Words


class Table:
    """Distinct states of `words` words, each with the greatest arrival that it was entered with."""

    def __init__(self, words: int) -> None:
        self.words = words
        self._open(_CAPACITY_START)

    def _open(self, capacity: int) -> None:
        size = 8 * capacity * (self.words + 1)
        if size < _LARGE:
            self._slots = np.zeros(size // 8, np.int64)
        else:
            self._slots = reserve(size)[: size // 8]
            advise_huge_pages(self._slots)
        self.numbers = np.zeros(candidates.NUMBERS, np.int64)
        self.numbers[candidates.TABLE] = self._slots.ctypes.data
        self.numbers[candidates.CAPACITY] = capacity
        self.numbers[candidates.ROOM] = int(LOAD * capacity)

    @property
    def bytes(self) -> int:
        """Bytes of the slots."""
        return self._slots.nbytes

    def make_room(self, states: int) -> None:
        """Make room for so many states more."""
        needed = int(self.numbers[candidates.USED]) + states
        if needed <= self.numbers[candidates.ROOM]:
            return
        slots, numbers = self._slots, self.numbers
        self._open(1 << int(needed / LOAD).bit_length())
        candidates.move(numbers, self.numbers, self.words)
        del slots  # its address was in use until here

    def enter(self, states: Words, arrivals: Arrivals) -> None:
        """Enter states, one a row, with their arrivals."""
        self.make_room(len(states))
        candidates.enter(self.numbers, self.words, states.ctypes.data, arrivals)

    def clear(self) -> None:
        """Empty the table."""
        self._slots[:] = 0
        self.numbers[candidates.USED] = 0

    def deal(self, shards: int) -> Dealt:
        """Return all states by the shard that owns them."""
        counts = np.zeros(shards, np.int64)
        candidates.count_owners(self.numbers, self.words, counts)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        states = np.empty((int(starts[-1]), self.words), np.int64)
        arrivals = np.empty(len(states), np.uint16)
        running = starts[:-1].copy()
        candidates.deal(self.numbers, self.words, running, states.ctypes.data, arrivals)
        return Dealt(states, arrivals, starts)


class Expander:
    """Expands states into a table and counts; what it counted is on its desk."""

    def __init__(self, kernel: Kernel) -> None:
        self.board = new_board(kernel)
        self.desk = Desk(kernel, _OUT_CAPACITY)
        self.table = Table(kernel.words)

    def expand(self, states: Words, arrivals: Arrivals, most_bytes: int) -> bool:
        """Expand `states`; False where the table takes `most_bytes` and has to be dealt out first.

        Then call `go_on`. Successors that `arrivals` say are come upon otherwise are left out.
        """
        self.board[places.QUEUE] = states.ctypes.data
        self.board[places.ARRIVALS] = arrivals.ctypes.data if self.board[places.EXPLORE] else 0
        self.board[places.CLAIMED] = 0
        self.board[places.LEVEL_END] = len(states)
        self.board[places.BLOCK_SIZE] = places.BLOCK_SIZE_MAX
        return self.go_on(most_bytes)

    def go_on(self, most_bytes: int) -> bool:
        """Go on with what `expand` was given, which is still in memory."""
        while True:
            result = candidates.expand_into(
                self.board, self.desk.numbers, self.board.ctypes.data, self.table.numbers
            )
            if result == TOO_NARROW:
                require_room(2 * self.desk.capacity, self.table.words, _BESIDE)
                self.desk.enlarge(2 * self.desk.capacity)
            elif result != candidates.FULL:
                return True
            elif self.table.bytes >= most_bytes and self.table.numbers[candidates.USED] > 0:
                return False
            else:
                self.table.make_room(
                    max(self.desk.capacity, int(self.table.numbers[candidates.USED]))
                )


def shares(states: Words, shards: int) -> tuple[int, ...]:
    """Return how many of `states` each shard owns."""
    counts = np.zeros(shards, np.int64)
    candidates.count_states(states.ctypes.data, len(states), states.shape[1], counts)
    return tuple(counts.tolist())


def dealt_out(states: Words, shards: int) -> list[Words]:
    """Return those of `states` that each shard owns, in their order."""
    ends = np.cumsum(shares(states, shards))
    running = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    target = np.empty_like(states)
    candidates.deal_states(
        states.ctypes.data, len(states), states.shape[1], running, target.ctypes.data
    )
    return np.split(target, ends[:-1])
