"""The memory of a search: the visited table and the queue of all distinct states, both growing.

States of several words stand in the queue only, and the table is an index into it (`indexed.py`),
until the queue goes to disk: from then on, and where states have one word, it holds whole states.
The queue holds every distinct state once, in the order of discovery, level after level. It is the
frontier of the search and, afterwards, what paths are rebuilt from; there are no parent pointers.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from math import isqrt

import numpy as np

from checker.llvm.instructions import LANES
from checker.search.disk import Disk, DiskFile
from checker.search.indexed import NUMBER_BITS
from checker.search.memory import HUGE_PAGE, advise_huge_pages, available, reserve_up_to
from checker.search.spreading import SPREAD_CHUNK, spread
from checker.search.visited import CAPACITY_MAX, SEGMENTS

LOAD = 0.8
"""Share of the table's slots that may be in use before it grows."""
LOAD_MAX = 0.92
"""The same when memory is too short for growth: slower, but further."""
GROWTH = 1.4
"""New capacity over old: at a load of 0.8 the table then holds 1.25 to 1.75 slots a state."""
GROWTH_SMALL = 2.0
"""The same for a table whose segments have less than `_SMALL_PAGES` huge pages each."""
GROWTH_TINY = 4.0
"""The same for a table whose segments are less than a huge page."""
CAPACITY_START = 1024
"""Slots of a segment at first: what is in use of a small table stays in the processor's caches."""

_SAFETY = 0.9
"""Share of the machine's available memory that one growth step may take."""
_SMALL_PAGES = 8
_HUGE_SHARE = 1 / 8
"""The table is kept in huge pages where one a segment is at most this share of the limit."""
_ALONE = 1 << 18
"""Slots of a table up to which growing is too quick to share among threads."""


class Store:
    """The visited table and the state queue of one search, within `limit` bytes.

    `capacity` is the slots of each segment, `room` how many states the queue may hold before the
    table has to grow, `overhead` the bytes of other buffers that count against the limit.
    `arrivals` has an int16 for each state of the queue, if it `keeps_arrivals` and is in memory.
    `indexed`: the table is an index into the queue.
    """

    def __init__(
        self, words: int, limit: int, overhead: int, capacity: int, *, keeps_arrivals: bool
    ) -> None:
        self.words = words
        self.limit = limit
        self.overhead = overhead
        self.queue = reserve_up_to(limit)
        advise_huge_pages(self.queue)
        self.arrivals: np.ndarray[tuple[int], np.dtype[np.int16]] | None = None
        if keeps_arrivals:
            self.arrivals = _arrivals(self.queue.size // words)
        self.indexed = words > 1
        self.capacity = -(-capacity // LANES) * LANES if self.indexed else capacity
        self.room = int(LOAD * SEGMENTS * self.capacity)
        self.file: DiskFile | None = None
        self._reserve_table()

    def _reserve_table(self) -> None:
        """Reserve address space for an empty table of `capacity` slots a segment, and more."""
        slots = max(self.limit // (self.slot * SEGMENTS), self.capacity * 2)
        self.reserved_bits = (slots - 1).bit_length()
        table = reserve_up_to((SEGMENTS << self.reserved_bits) * self.slot)
        while SEGMENTS * self.slot << self.reserved_bits > table.nbytes:
            self.reserved_bits -= 1
        if _HUGE_SHARE * self.limit >= SEGMENTS * HUGE_PAGE:
            advise_huge_pages(table)
        self.table = table

    @property
    def slot(self) -> int:
        """Bytes of a slot of the table."""
        return 8 if self.indexed else 8 * self.words

    @property
    def table_bytes(self) -> int:
        """Bytes of the visited table."""
        return SEGMENTS * self.capacity * self.slot

    def visited_bytes(self, states: int) -> int:
        """Bytes of the visited set of so many states: of the table, and of what it points to."""
        return self.table_bytes + (8 * self.words * states if self.indexed else 0)

    def bytes_with(self, states: int) -> int:
        """Bytes of memory in use when the queue holds `states` states."""
        return self.table_bytes + states * self.held + self.overhead

    @property
    def held(self) -> int:
        """Bytes of memory that a state takes in the queue."""
        if self.file is not None:
            return 0
        return 8 * self.words + (0 if self.arrivals is None else self.arrivals.itemsize)

    def queue_to(self, disk: Disk, states: int) -> bool:
        """Move the queue, which holds `states` states, to a file; False where that is refused.

        States keep their numbers; the queue's address changes, and arrivals are no longer kept.
        A table that was an index is empty afterwards and one of whole states.
        """
        file = disk.growing(disk.free() // 2)
        size = 8 * self.words
        if file is None or not file.ensure(max(states, self.room) * size):
            return False
        file.words[: states * self.words] = self.queue[: states * self.words]
        self.queue, self.file, self.arrivals = file.words, file, None
        if not self.indexed:
            return True
        # What it held is in the file; whoever asked for this enters it again.
        self.release_table()
        self.indexed, self.capacity = False, max(self.capacity // self.words, 1)
        self.room = int(LOAD * SEGMENTS * self.capacity)
        self._reserve_table()
        return True

    @property
    def _most(self) -> int:
        """States that the queue can ever hold where it is, and the table tell apart."""
        room = self.queue.size // self.words
        return min(room, 1 << NUMBER_BITS) if self.indexed else room

    def ensure(self, states: int) -> bool:
        """Make sure that the queue can hold `states` states; False where the disk is short."""
        size = 8 * self.words * states
        if self.file is None:
            return size <= self.queue.nbytes
        # A little more than asked for: growing a file block by block would scatter it.
        return self.file.ensure(size + size // 8) or self.file.ensure(size)

    def states(self, start: int, end: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Return the states number `start` to `end` of the queue, one a row; a view."""
        return self.queue[start * self.words : end * self.words].reshape(-1, self.words)

    def release_table(self) -> None:
        """Give the visited table's memory back; `table_bytes` still says what it was."""
        self.table = np.empty(0, np.int64)

    def make_room(self, states: int) -> bool:
        """Make room for `states` states in an empty table; False when memory does not allow it."""
        # Of few states one segment may get more than its share.
        share = int(states / (LOAD * SEGMENTS)) + LANES + 4 * isqrt(states // SEGMENTS)
        capacity = self._whole_lines(max(self.capacity, share))
        extra = capacity * SEGMENTS * self.slot + states * self.held
        if (
            capacity > min(CAPACITY_MAX, 1 << self.reserved_bits)
            or extra + self.overhead > self.limit
            or extra > _SAFETY * available()
        ):
            return False
        room = min(int(LOAD * SEGMENTS * capacity), self._most)
        if room < states or not self.ensure(room):
            return False
        self.capacity, self.room = capacity, room
        return True

    def grow(self, states: int, executor: Executor, workers: int) -> bool:
        """Make room for more than `states` states; False when memory does not allow it."""
        budget = self.limit - self.overhead
        wanted = grown(self.capacity, self.slot)
        affordable = int(budget / (SEGMENTS * (self.slot + LOAD * self.held)))
        most = min(wanted, affordable, CAPACITY_MAX, 1 << self.reserved_bits)
        target = self._whole_lines(most)
        room = min(int(LOAD * SEGMENTS * target), self._most)
        if room <= self.room or target < self.capacity * 1.05:
            return self._fill_up(budget)
        extra = (target - self.capacity) * SEGMENTS * self.slot
        extra += (room - states) * self.held
        if extra > _SAFETY * available() or not self.ensure(room):
            return False
        self._spread(target, executor, workers)
        self.room = room
        return True

    def _whole_lines(self, capacity: int) -> int:
        """Return how many of these slots a segment may have: those of an index fill cache lines."""
        return capacity // LANES * LANES if self.indexed else capacity

    def _fill_up(self, budget: int) -> bool:
        """Allow a higher load where the table itself cannot grow any more."""
        room = min(int(LOAD_MAX * SEGMENTS * self.capacity), self._most)
        if self.file is None:
            room = min(room, (budget - self.table_bytes) // self.held)
        if room <= self.room or (room - self.room) * self.held > _SAFETY * available():
            return False
        if not self.ensure(room):
            return False
        self.room = room
        return True

    def _spread(self, target: int, executor: Executor, workers: int) -> None:
        """Rearrange every segment from `capacity` to `target` slots."""
        size = self.slot
        words = 0 if self.indexed else self.words
        reserved = size << self.reserved_bits
        first = self.table.ctypes.data
        old = self.capacity

        def work(begin: int) -> None:
            taken = np.empty((SPREAD_CHUNK + 1) * size // 8, np.int64)
            spill = np.empty(old * size // 8, np.int64)  # hardly ever touched, so hardly any cost
            for segment in range(begin, SEGMENTS, step):
                spread(
                    first + segment * reserved,
                    old,
                    target,
                    words,
                    taken.ctypes.data,
                    spill.ctypes.data,
                )

        step = 1 if old * SEGMENTS <= _ALONE else workers
        tasks: list[Callable[[], object]] = []
        if step == 1:
            work(0)
        else:
            tasks = [executor.submit(work, begin).result for begin in range(step)]
        for task in tasks:
            task()
        self.capacity = target


def _arrivals(states: int) -> np.ndarray[tuple[int], np.dtype[np.int16]] | None:
    """Return room for the arrivals of so many states; None where the system refuses it."""
    space = reserve_up_to(2 * states)
    advise_huge_pages(space)
    return space.view(np.int16) if space.nbytes >= 2 * states else None


def grown(capacity: int, size: int) -> int:
    """Return the slots, of `size` bytes each, that a segment should have after `capacity`.

    From one huge page on it fills whole ones. While a table is small it grows by more, because
    rearranging takes longer than the memory is worth.
    """
    pages = capacity * size / HUGE_PAGE
    if pages * GROWTH_TINY < 1:
        return int(capacity * GROWTH_TINY)
    factor = GROWTH_SMALL if round(pages) < _SMALL_PAGES else GROWTH
    return max(round(pages * factor), 1) * HUGE_PAGE // size
