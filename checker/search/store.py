"""The memory of a search: the visited table and the queue of all distinct states, both growing.

States of several words stand in the queue only, and the table is an index into it (`indexed.py`).
Where memory is short both hold roots instead (`halves.py`, `roots.py`), and when the queue goes to
disk the table holds whole states, as it always does where they have one word.
The queue holds every distinct state once, in the order of discovery, level after level. It is the
frontier of the search and, afterwards, what paths are rebuilt from; there are no parent pointers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from math import isqrt

import numpy as np

from checker.errors import InternalError
from checker.kernel.kernel import Words
from checker.llvm.instructions import HALF_LANES, LANES
from checker.memory import (
    HUGE_PAGE,
    advise_huge_pages,
    available,
    give_back,
    reserve_up_to,
)
from checker.search.disk import Disk, DiskFile
from checker.search.indexed import NUMBER_BITS, renumber
from checker.search.roots import FORM_SIZE, LINE_BITS, Form, spread_roots
from checker.search.spreading import INDEXED, SPREAD_CHUNK, spread
from checker.search.visited import CAPACITY_MAX, SEGMENTS

LOAD = 0.8
"""Share of the table's slots that may be in use before it grows."""
LOAD_ROOTS = 0.85
"""The same for a table of roots, which is there because memory is short."""
LOAD_MAX = 0.92
"""The same when memory is too short for growth: slower, but further."""
GROWTH = 1.4
"""New capacity over old: at a load of 0.8 the table then holds 1.25 to 1.75 slots a state."""
GROWTH_ROOTS = 1.3
"""The same for a table of roots."""
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
_NONE: Words = np.empty(0, np.int64)
_ALONE = 1 << 18
"""Slots of a table up to which growing is too quick to share among threads."""


class Store:
    """The visited table and the state queue of one search, within `limit` bytes.

    `capacity` is the slots of each segment, `room` how many states the queue may hold before the
    table has to grow, `overhead` the bytes of other buffers that count against the limit.
    `huge_pages` are for what is large: of small tables most of them would stay empty.
    `arrivals` has an int16 for each state of the queue, if it `keeps_arrivals` and is in memory.
    `indexed`: the table is an index into the queue. Where both hold roots, `form` is that of the
    table's slots, `form_numbers` is what compiled code knows of it, and `beside` are the bytes of
    what roots take besides the table.
    """

    def __init__(
        self,
        words: int,
        limit: int,
        overhead: int,
        capacity: int,
        *,
        keeps_arrivals: bool,
        huge_pages: bool = True,
    ) -> None:
        self.words = words
        self.limit = limit
        self.overhead = overhead
        self.queue = reserve_up_to(limit)
        self.huge_pages = huge_pages and _HUGE_SHARE * limit >= SEGMENTS * HUGE_PAGE
        if huge_pages:
            advise_huge_pages(self.queue)
        self.arrivals: np.ndarray[tuple[int], np.dtype[np.int16]] | None = None
        if keeps_arrivals:
            self.keep_arrivals()
        self.indexed = words > 1
        self.form: Form | None = None
        self.form_numbers = np.zeros(FORM_SIZE, np.int64)
        self.beside = 0
        self.capacity = -(-capacity // LANES) * LANES if self.indexed else capacity
        self.room = self._least = int(LOAD * SEGMENTS * self.capacity)
        self.file: DiskFile | None = None
        self._reserve_table()

    def _reserve_table(self) -> None:
        """Reserve address space for an empty table of `capacity` slots a segment, and more."""
        slots = max(self.limit // (self.slot * SEGMENTS), self.capacity * 2)
        self.reserved_bits = (slots - 1).bit_length()
        table = reserve_up_to((SEGMENTS << self.reserved_bits) * self.slot)
        while SEGMENTS * self.slot << self.reserved_bits > table.nbytes:
            self.reserved_bits -= 1
        if self.huge_pages:
            advise_huge_pages(table)
        self.table = table

    @property
    def slot(self) -> int:
        """Bytes of a slot of the table."""
        return 4 if self.roots else 8 if self.indexed else 8 * self.words

    @property
    def roots(self) -> bool:
        """Whether table and queue hold roots."""
        return self.form is not None

    @property
    def load(self) -> float:
        """Share of the table's slots that may be in use before it grows."""
        return LOAD_ROOTS if self.roots else LOAD

    @property
    def stride(self) -> int:
        """Words that a state takes in the queue."""
        return 1 if self.roots else self.words

    @property
    def table_bytes(self) -> int:
        """Bytes of the visited table."""
        return SEGMENTS * self.capacity * self.slot

    def visited_bytes(self, states: int) -> int:
        """Bytes of the visited set of so many states: of the table, and of what it points to."""
        return self.table_bytes + self.beside + (8 * self.words * states if self.indexed else 0)

    def bytes_with(self, states: int) -> int:
        """Bytes of memory in use when the queue holds `states` states."""
        return self.table_bytes + states * self.held + self.overhead + self.beside

    @property
    def held(self) -> int:
        """Bytes of memory that a state takes in the queue; of roots, `beside` says it."""
        return 0 if self.roots else self.added

    @property
    def added(self) -> int:
        """Bytes of memory that a state which is found now takes in the queue."""
        if self.file is not None:
            return 0
        return 8 * self.stride + (0 if self.arrivals is None else self.arrivals.itemsize)

    def fit(self, states: int) -> None:
        """Let there be room for no more than fits beside `states` states and all buffers.

        For as many as at first there is, whatever the limit.
        """
        if self.added:
            more = max(self.limit - self.bytes_with(states), 0) // self.added
            self.room = min(self.room, max(states + more, self._least))

    def keep_arrivals(self) -> None:
        """Keep the arrivals of the states that are found from here on."""
        self.arrivals = _arrivals(self.queue.size // self.words)

    def become_roots(self, form: Form) -> Words:
        """Let the empty table and the queue be ones of roots; return the queue there was."""
        queue, self.queue = self.queue, reserve_up_to(self.limit)
        advise_huge_pages(self.queue)
        self.arrivals = None
        self.release_table()
        self.indexed, self.form = False, form
        self._reserve_table()
        return queue

    def become_index(self, queue: Words) -> None:
        """Undo what `become_roots` did; the table is an empty index."""
        self.queue, self.beside = queue, 0
        self.release_table()
        self.indexed, self.form = True, None
        self._reserve_table()

    def give_back(self, start: int, end: int) -> None:
        """Let the system have the memory of the states `start` to `end` of the queue."""
        give_back(self.queue, start * self.stride, end * self.stride)

    def queue_to(self, disk: Disk, states: int, pieces: Iterable[Words]) -> bool:
        """Move the queue, which holds `states` states, to a file; False where that is refused.

        The states are given in `pieces` and keep their numbers; the queue's address changes, and
        arrivals are no longer kept. A table that was an index, or one of roots, is empty
        afterwards and one of whole states.
        """
        file = disk.growing(disk.share())
        size = 8 * self.words
        if file is None or not file.ensure(max(states, self.room) * size):
            return False
        place = 0
        for piece in pieces:
            file.words[place : place + piece.size] = piece.reshape(-1)
            place += piece.size
        self.queue, self.file, self.arrivals = file.words, file, None
        if not self.indexed and not self.roots:
            return True
        # What it held is in the file; whoever asked for this enters it again.
        self.release_table()
        self.capacity = max(self.capacity * self.slot // (8 * self.words), 1)
        self.indexed, self.form, self.beside = False, None, 0
        self.room = int(LOAD * SEGMENTS * self.capacity)
        self._reserve_table()
        return True

    @property
    def _most(self) -> int:
        """States that the queue can ever hold where it is, and the table tell apart."""
        room = self.queue.size // self.stride
        return min(room, 1 << NUMBER_BITS) if self.indexed else room

    def ensure(self, states: int) -> bool:
        """Make sure that the queue can hold `states` states; False where the disk is short."""
        size = 8 * self.stride * states
        if self.file is None:
            return size <= self.queue.nbytes
        # A little more than asked for: growing a file block by block would scatter it.
        return self.file.ensure(size + size // 8) or self.file.ensure(size)

    def states(self, start: int, end: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Return the states number `start` to `end` of the queue, one a row; a view.

        Where the queue holds roots, these, as states of one word.
        """
        return self.queue[start * self.stride : end * self.stride].reshape(-1, self.stride)

    def move(self, old: Words, new: Words) -> None:
        """Move the states with the numbers `old` to `new`, whose states are none of the queue's."""
        states = self.states(0, self.queue.size // self.stride)
        states[new] = states[old]
        if self.arrivals is not None:
            self.arrivals[new] = self.arrivals[old]
        if not self.indexed:
            return
        table = self.table.ctypes.data, self.capacity, self.reserved_bits, self.words
        for number, moved in zip(old.tolist(), new.tolist(), strict=True):
            state = self.queue.ctypes.data + 8 * self.words * moved
            if not renumber(*table, state, number, moved):
                raise InternalError("the index has lost a state")

    def release_table(self) -> None:
        """Give the visited table's memory back; `table_bytes` still says what it was."""
        self.table = np.empty(0, np.int64)

    def make_room(self, states: int) -> bool:
        """Make room for `states` states in an empty table; False when memory does not allow it."""
        # Of few states one segment may get more than its share.
        share = int(states / (self.load * SEGMENTS)) + LANES + 4 * isqrt(states // SEGMENTS)
        least = 0 if self.form is None else self.form.lines_min << LINE_BITS
        capacity = self._whole_lines(max(self.capacity, share, least))
        extra = capacity * SEGMENTS * self.slot + states * self.held + self.beside
        if (
            capacity > self._capacity_max
            or extra + self.overhead > self.limit
            or extra > _SAFETY * available()
        ):
            return False
        room = min(int(self.load * SEGMENTS * capacity), self._most)
        if room < states or not self.ensure(room):
            return False
        self.capacity, self.room = capacity, room
        self._note_form()
        self.fit(states)
        return True

    def _note_form(self) -> None:
        """Tell compiled code what slots of roots are like now."""
        if self.form is not None:
            self.form_numbers[:] = self.form.numbers(self.capacity >> LINE_BITS)

    def grow(self, states: int, executor: Executor, workers: int) -> bool:
        """Make room for more than `states` states; False when memory does not allow it."""
        budget = self.limit - self.bytes_with(states) + self.table_bytes + states * self.added
        wanted = grown(self.capacity, self.slot, GROWTH_ROOTS if self.roots else GROWTH)
        affordable = int(budget / (SEGMENTS * (self.slot + self.load * self.added)))
        most = min(wanted, affordable, self._capacity_max)
        target = self._whole_lines(most)
        room = min(int(self.load * SEGMENTS * target), self._most)
        if room <= self.room or target < self.capacity * 1.05:
            return self._fill_up(budget)
        extra = (target - self.capacity) * SEGMENTS * self.slot
        extra += (room - states) * self.added
        if extra > _SAFETY * available() or not self.ensure(room):
            return False
        self._spread(target, executor, workers)
        self.room = room
        return True

    def reform(self, form: Form, states: int, executor: Executor, workers: int) -> bool:
        """Let the slots of so many roots have another form; False where memory is short."""
        share = int(states / (LOAD_ROOTS * SEGMENTS)) + 1
        least = max(form.lines_min << LINE_BITS, share)
        target = max(self.capacity, self._whole_lines(least + HALF_LANES - 1))
        extra = (target - self.capacity) * SEGMENTS * self.slot
        if (
            target > self._capacity_max
            or self.table_bytes + extra > self.limit - self.overhead - self.beside
            or extra > _SAFETY * available()
        ):
            return False
        self._spread(target, executor, workers, form)
        self.room = max(self.room, min(int(self.load * SEGMENTS * target), self._most))
        self.fit(states)
        return True

    @property
    def _capacity_max(self) -> int:
        """Slots that a segment can have where it is."""
        return min(CAPACITY_MAX, 1 << self.reserved_bits)

    def _whole_lines(self, capacity: int) -> int:
        """Return how many of these slots a segment may have: small ones fill lines."""
        lanes = HALF_LANES if self.roots else LANES if self.indexed else 1
        return capacity // lanes * lanes

    def _fill_up(self, budget: int) -> bool:
        """Allow a higher load where the table itself cannot grow any more."""
        room = min(int(LOAD_MAX * SEGMENTS * self.capacity), self._most)
        if self.added:
            room = min(room, (budget - self.table_bytes) // self.added)
        if room <= self.room or (room - self.room) * self.added > _SAFETY * available():
            return False
        if not self.ensure(room):
            return False
        self.room = room
        return True

    def _spread(
        self, target: int, executor: Executor, workers: int, form: Form | None = None
    ) -> None:
        """Rearrange every segment from `capacity` to `target` slots, of this `form` if of roots."""
        left = [_NONE] * SEGMENTS
        while True:
            left = self._rearrange(target, executor, workers, form or self.form, left)
            if not any(map(len, left)):
                return
            # Some root found no slot near its home, as may happen where there are few lines.
            target = self._whole_lines(int(target * GROWTH_ROOTS)) + HALF_LANES
            if target > self._capacity_max:
                raise InternalError("a state found no slot near its home")

    def _rearrange(
        self,
        target: int,
        executor: Executor,
        workers: int,
        form: Form | None,
        waiting: Sequence[Words],
    ) -> list[Words]:
        """Do the work of `_spread` once; return of each segment the roots that found no slot.

        With them go those that are `waiting`.
        """
        first, reserved = self.table.ctypes.data, self.slot << self.reserved_bits
        old, before = self.capacity, self.form_numbers.copy()
        size = 1 if self.roots else self.slot // 8
        left = [_NONE] * SEGMENTS
        self.capacity, self.form = target, form
        self._note_form()

        def work(begin: int) -> None:
            taken = np.empty((SPREAD_CHUNK + 1) * size, np.int64)
            # Hardly ever touched, so hardly any cost.
            spill = np.empty(old * size + max(map(len, waiting)), np.int64)
            room = taken.ctypes.data, spill.ctypes.data
            for segment in range(begin, SEGMENTS, step):
                at = first + segment * reserved
                if not self.roots:
                    spread(at, old, target, INDEXED if self.indexed else self.words, *room)
                    continue
                spill[: len(waiting[segment])] = waiting[segment]
                given = before.ctypes.data, self.form_numbers.ctypes.data, SPREAD_CHUNK, *room
                lost = spread_roots(at, segment, old, target, *given, len(waiting[segment]))
                left[segment] = spill[:lost].copy()

        step = 1 if old * SEGMENTS <= _ALONE else workers
        if step == 1:
            work(0)
        else:
            for task in [executor.submit(work, begin) for begin in range(step)]:
                task.result()
        return left


def _arrivals(states: int) -> np.ndarray[tuple[int], np.dtype[np.int16]] | None:
    """Return room for the arrivals of so many states; None where the system refuses it."""
    space = reserve_up_to(2 * states)
    advise_huge_pages(space)
    return space.view(np.int16) if space.nbytes >= 2 * states else None


def grown(capacity: int, size: int, by: float = GROWTH) -> int:
    """Return the slots, of `size` bytes each, that a segment should have after `capacity`.

    It is that `by` as much once it is large. From one huge page on it fills whole ones, unless it
    holds roots. While a table is small it grows by more, because rearranging takes longer than the
    memory is worth.
    """
    pages = capacity * size / HUGE_PAGE
    if pages * GROWTH_TINY < 1:
        return int(capacity * GROWTH_TINY)
    if by == GROWTH_ROOTS and pages >= 1:
        return int(capacity * by)
    factor = GROWTH_SMALL if round(pages) < _SMALL_PAGES else by
    return max(round(pages * factor), 1) * HUGE_PAGE // size
