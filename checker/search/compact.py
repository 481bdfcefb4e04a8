"""The compact form of a search's states: roots in the table, and two dictionaries of halves.

What `halves.py` does is compiled; this is who owns its arrays. See decision 017.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from checker.errors import InternalError
from checker.kernel.kernel import Words
from checker.search import halves, options
from checker.search.board import BLOCK_SIZE_MAX, CHUNK_SIZE, Numbers
from checker.search.halves import (
    CUTTER_SIZE,
    FIRST_SIDE,
    GROUP,
    SIDE,
    SPLIT_SIZE,
)
from checker.search.roots import DEPTH_MAX, HIGH_BITS, LOW_BITS, Form, depth_max, gather
from checker.search.splitting import Piece
from checker.search.store import Store
from checker.search.visited import SEGMENTS

MANY = 1 << 19
"""States from which on it may pay to keep them in halves, and a split can be chosen."""
_AT_ONCE = 1 << 20
"""Roots that are collected from the table at a time, unless one level has more."""
_CAPACITY = 64
"""Slots of a dictionary's segment at first."""


@dataclass(slots=True)
class Compaction:
    """Whether, and when, states are to be kept in halves, and what of a state stays together.

    `when`: where memory is short ("auto"), as soon as it has to grow ("on"), or never ("off"); in
    any case not before there are many states.
    """

    when: options.Compact
    pieces: Sequence[Piece]
    allowed: bool = True

    def wanted(self, states: int, *, short: bool) -> bool:
        """Whether to do so now, with so many states, and where memory is `short`."""
        asked = self.when == "on" or (self.when == "auto" and short)
        return asked and self.allowed and states >= MANY


class Cutter:
    """A thread's buffers, and the row of numbers by which compiled code knows them."""

    def __init__(self, words: int) -> None:
        self.halves = np.zeros((2, (GROUP + 1) * words), np.int64)
        self.hashes = np.empty((2, GROUP), np.int64)
        self.sources = np.empty(BLOCK_SIZE_MAX * words, np.int64)
        self.fresh = np.empty(CHUNK_SIZE * words, np.int64)
        self.numbers: Numbers = np.zeros(CUTTER_SIZE, np.int64)
        # `halves.py` wants room for one half before the others.
        self.numbers[halves.LEFT : halves.RIGHT + 1] = [
            it[words:].ctypes.data for it in self.halves
        ]
        self.numbers[halves.LEFT_HASHES : halves.RIGHT_HASHES + 1] = [
            it.ctypes.data for it in self.hashes
        ]
        self.numbers[halves.SOURCES] = self.sources.ctypes.data
        self.numbers[halves.FRESH] = self.fresh.ctypes.data


class Compact:
    """Roots and halves of the states of one search, of which `workers` threads find new ones.

    `mask` says where states are cut. `store` is the visited table of roots and the queue, whose
    levels before `kept` are given back. `starts` are the first states of all levels so far, the
    last of which the states being found belong to.
    """

    def __init__(self, store: Store, mask: Words, workers: int) -> None:
        self.store = store
        self.mask = mask
        self.kept = 0
        self._recalled = range(0)
        self.starts = [0]
        self.sides = [
            Store(store.words, store.limit, 0, _CAPACITY, keeps_arrivals=False, huge_pages=False)
            for _ in range(2)
        ]
        self.split: Numbers = np.zeros(SPLIT_SIZE, np.int64)
        self.split[halves.MASK] = mask.ctypes.data
        self.split[halves.SPLIT_WORDS] = store.words
        self.split[halves.FORM] = store.form_numbers.ctypes.data
        self.cutters = [Cutter(store.words) for _ in range(workers)]
        for side in range(2):
            self.split[FIRST_SIDE + SIDE * side + halves.TAIL] = workers
            for number, cutter in enumerate(self.cutters):
                cutter.numbers[halves.OWN + side] = number
        self._open()

    def _open(self) -> None:
        """Tell the threads where halves are now."""
        for side, held in enumerate(self.sides):
            at = FIRST_SIDE + SIDE * side
            self.split[at + halves.TABLE] = held.table.ctypes.data
            self.split[at + halves.CAPACITY] = held.capacity
            self.split[at + halves.RESERVED_BITS] = held.reserved_bits
            self.split[at + halves.ENTRIES] = held.queue.ctypes.data
            self.split[at + halves.ROOM] = min(held.room, self._numbers(side))

    @property
    def address(self) -> int:
        """Address of the split."""
        return int(self.split.ctypes.data)

    @property
    def form(self) -> Form:
        """The form of the table's slots."""
        assert self.store.form is not None
        return self.store.form

    def _numbers(self, side: int) -> int:
        """Return how many numbers of a side's halves the table's slots can say."""
        return 1 << LOW_BITS + (self.form.right if side else self.form.left)

    def begin_level(self, starts: list[int], states: int, executor: Executor, workers: int) -> bool:
        """Let what is found from now on, behind so many states, be of the last of these levels.

        False if it is too deep for the table, or memory too short for slots that say so.
        """
        depth = len(starts) - 1
        if depth > DEPTH_MAX:
            return False
        if depth > depth_max(self.store.form_numbers):
            form = replace(self.form, depth=depth.bit_length() + 1)
            if not self.store.reform(form, states, executor, workers):
                return False
        self.starts = starts
        self.split[halves.DEPTH] = depth
        return True

    def keep_from(self, state: int) -> None:
        """Give back what of the queue stands before this state, which begins a level."""
        self.store.give_back(self.kept, state)
        self.kept = state

    def taken(self, side: int) -> int:
        """Return how many numbers of a side's halves are in use or in a thread's hands."""
        return int(self.split[FIRST_SIDE + SIDE * side + halves.TAIL])

    @property
    def halves(self) -> tuple[int, int]:
        """Halves of each side."""
        return self.taken(0) - len(self.cutters), self.taken(1) - len(self.cutters)

    @property
    def bytes(self) -> int:
        """Bytes of both dictionaries, when they hold what there is room for."""
        return sum(held.bytes_with(held.room) for held in self.sides)

    def bytes_with(self, states: int) -> int:
        """Bytes of dictionaries and queue when there are so many states."""
        return self.bytes + 8 * (states - self.kept)

    def grow(self, budget: int, states: int, executor: Executor, workers: int) -> bool:
        """Make room for more halves where there is little; False where nothing can be done.

        `budget`: bytes that both dictionaries may have; `states`: how many there may be by now.
        """
        grew = False
        for side, held in enumerate(self.sides):
            if self.taken(side) >= self._numbers(side):
                if not self._widen(side, states, executor, workers):
                    return False
                grew = True
            if self.taken(side) < held.room and not self._crowded(held):
                continue
            other = self.sides[1 - side]
            held.limit = budget - other.bytes_with(other.room)
            if not held.grow(self.taken(side), executor, workers):
                return False
            grew = True
        self._open()
        return grew

    def _widen(self, side: int, states: int, executor: Executor, workers: int) -> bool:
        """Let the table's slots say twice as many numbers of a side; False if that cannot be."""
        more = (self.form.right if side else self.form.left) + 1
        form = replace(self.form, right=more) if side else replace(self.form, left=more)
        return more <= HIGH_BITS and self.store.reform(form, states, executor, workers)

    def _crowded(self, held: Store) -> bool:
        """Whether a segment of a dictionary is full, though others are not."""
        size = 1 << held.reserved_bits
        segments = held.table[: SEGMENTS * size].reshape(SEGMENTS, size)[:, : held.capacity]
        return bool((segments != 0).all(axis=1).any())

    # ------------------------------------------------------------------------- from roots to states

    def states(self, roots: Words) -> Words:
        """Return the states that have these roots, one a row."""
        found = np.empty((len(roots), self.store.words), np.int64)
        given = np.ascontiguousarray(roots)
        halves.read_roots(self.split.ctypes.data, given.ctypes.data, len(given), found.ctypes.data)
        return found

    def pieces(self, start: int, end: int) -> Iterator[Words]:
        """Give the states number `start` to `end`, in the order of their levels, piece by piece.

        `start` begins a level; `end` does, or is where the queue ends.
        """
        for first, last in self._batches(start, min(end, self.kept)):
            roots = self.collected(first, last)
            for place in range(0, len(roots), _AT_ONCE):
                yield self.states(roots[place : place + _AT_ONCE])
        for place in range(max(start, self.kept), end, _AT_ONCE):
            yield self.states(self.store.queue[place : min(place + _AT_ONCE, end)])

    def _batches(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Give the levels (first and last) of the states `start` to `end`, some at a time."""
        level = self.starts.index(start) if start < end else 0
        while start < end:
            last = level
            while self.starts[last + 1] < end and self.starts[last + 2] - start <= _AT_ONCE:
                last += 1
            yield level, last
            level, start = last + 1, self.starts[last + 1]

    def collected(self, first: int, last: int) -> Words:
        """Return the roots of the levels `first` to `last`, which are finished, from the table."""
        bounds = np.array(self.starts[first : last + 2], np.int64)
        places = bounds[:-1] - bounds[0]
        roots = np.empty(int(bounds[-1] - bounds[0]), np.int64)
        table, store = self.store.table.ctypes.data, self.store
        given = store.capacity, store.form_numbers.ctypes.data, first, last
        for segment in range(SEGMENTS):
            at = table + (segment << store.reserved_bits) * store.slot
            gather(at, segment, *given, places.ctypes.data, roots.ctypes.data)
        if (places != bounds[1:] - bounds[0]).any():
            raise InternalError("the table does not hold the levels that were found")
        return roots

    def recall(self, level: int) -> None:
        """Put the roots of a level back into their place in the queue.

        With them those of levels before it that are small, which are likely to be asked for next;
        what was put back before goes.
        """
        if self.starts[level] >= self.kept or level in self._recalled:
            return
        first = level
        while first > 0 and self.starts[level + 1] - self.starts[first - 1] <= _AT_ONCE:
            first -= 1
        if self._recalled:
            self.store.give_back(
                self.starts[self._recalled.start], self.starts[self._recalled.stop]
            )
        self._recalled = range(first, level + 1)
        self.store.queue[self.starts[first] : self.starts[level + 1]] = self.collected(first, level)
