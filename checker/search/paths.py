"""Rebuilds the least shortest path to each thing a search found, from the queue of its states.

Backwards, level by level, all findings at once: mark the states from which a finding can be
reached in as few steps as possible. Then forwards for each finding: from the least marked initial
state to the first marked successor, in the kernel's canonical order, again and again. The path
is the least among the shortest, whatever the threads did; its price is one more expansion of the
levels before the deepest finding, and no byte in any state. Under symmetry the queue and the marks
hold representatives, and the walk goes from real state to real state, by what stands for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from checker.errors import EnvironmentFailure, InternalError
from checker.frozen import frozen
from checker.kernel.calls import Calls
from checker.kernel.kernel import Kernel, Words
from checker.llvm.meta import ACTION_MASK, CUT, DROPPED, ERROR
from checker.memory import reserve
from checker.search import backward
from checker.search import board as places
from checker.search.aims import INITIAL, Aim
from checker.search.board import Desk, new_board
from checker.search.crew import Crew
from checker.search.disk import DiskFile
from checker.search.worker import FINISHED, TOO_NARROW

_AIMS_AT_ONCE = 60
"""Findings that share a backward pass: bits of a mark."""
_OUT_CAPACITY = 4096
"""Successors a desk has room for at first."""
_FEW = 4
"""Marks of less than one of so many states are taken out of the room that all have."""


@frozen()
class Path:
    """The packed states to a finding, one a row, and the action that failed, if one did."""

    states: Words
    action: str | None


Mark = Callable[[int, Sequence[Aim], Words | None], Words]
"""Marks one level: its number, all aims, and the marks of the next level (None: there are none)."""


def rebuild(crew: Crew, levels: Sequence[int], aims: Sequence[Aim]) -> list[Path]:
    """Return the least shortest path for each aim; `levels[d]` is the states at depth d.

    The crew's visited table is given up, unless levels have to be taken from it: its memory is
    what the marks may take. EnvironmentFailure where that does not suffice.
    """
    if crew.compact is None:
        crew.store.release_table()
    starts = [0]
    for size in levels:
        starts.append(starts[-1] + size)
    marker = _Marker(crew, starts)
    try:
        return least_paths(crew.kernel, marker.mark, aims)
    except InternalError:
        if not marker.left_out:
            raise
        raise EnvironmentFailure(
            "the steps of a state on the way to what was found do not fit the memory that the "
            "search may use; give it more with --memory"
        ) from None


def least_paths(kernel: Kernel, mark: Mark, aims: Sequence[Aim]) -> list[Path]:
    """Return the least shortest path for each aim, whoever marks the levels."""
    paths = []
    for first in range(0, len(aims), _AIMS_AT_ONCE):
        batch = aims[first : first + _AIMS_AT_ONCE]
        marks: list[Words] = []
        for level in range(max(aim.level for aim in batch), -1, -1):
            marks.append(mark(level, batch, marks[-1] if marks else None))
        walker = _Walker(kernel, marks[::-1])
        paths += [walker.walk(aim, 1 << bit) for bit, aim in enumerate(batch)]
    return paths


def mark_states(
    kernel: Kernel, states: Words, level: int, aims: Sequence[Aim], later: Words | None
) -> Words:
    """Return the marks of `states` (one a row), some of those of `level`."""
    marking = _Marking(kernel, len(states), level, aims, later)
    held = np.ascontiguousarray(states)
    board, desk = new_board(kernel), Desk(kernel, _OUT_CAPACITY)
    board[places.QUEUE] = held.ctypes.data
    board[places.LEVEL_END] = len(held)
    board[places.BLOCK_SIZE] = places.BLOCK_SIZE_MAX
    while marking.job(board, desk.numbers, board.ctypes.data) == TOO_NARROW:
        board[places.HALT] = 0
        desk.enlarge(2 * desk.capacity)
    return marking.marks()


class _Marker:
    """Marks the levels of a crew's queue, on all its threads.

    `left_out`: there was no memory for the steps of some state, which has no mark then.
    """

    def __init__(self, crew: Crew, starts: Sequence[int]) -> None:
        self.left_out = False
        self._crew = crew
        self._starts = starts
        capacity = max(desk.capacity for desk in crew.desks)
        self._desks = [Desk(crew.kernel, capacity) for _ in crew.desks]
        self._shelf = Shelf(crew)
        for desk, own in zip(self._desks, crew.desks, strict=True):
            desk.numbers[places.CUTTER] = own.numbers[places.CUTTER]

    def mark(self, level: int, aims: Sequence[Aim], later: Words | None) -> Words:
        """Do what `Mark` says."""
        crew, start, end = self._crew, self._starts[level], self._starts[level + 1]
        marking = _Marking(crew.kernel, end - start, level, aims, later)
        results: set[int] = set()
        if crew.compact is not None:
            crew.compact.recall(level)
        crew.open_level(start, end)
        while results != {FINISHED}:
            crew.resume()
            results = crew.run(marking.job, self._desks, end - start, lambda: None)
            if TOO_NARROW in results:
                self._widen()
        return self._shelf.keep(marking.marks())

    def _widen(self) -> None:
        """Give room to the desks that stand at a state with more steps than fit.

        The search may have left out steps that are made here, so its own desks may have been
        narrower. Where memory is short the state is left out: such steps may be what stopped the
        search.
        """
        states = _bytes_of_states(self._crew)
        for desk in self._desks:
            if desk.numbers[places.BLOCK] == desk.numbers[places.BLOCK_END]:
                continue
            taken = states + sum(each.bytes for each in self._desks)
            if taken + desk.bytes <= self._crew.memory_bytes:
                desk.enlarge(2 * desk.capacity)
            else:
                desk.numbers[places.BLOCK] += 1
                self.left_out = True


class Shelf:
    """Where the marks of all levels are kept: in memory while they fit, then on disk.

    `bytes` are those in memory. There may be a mark for every state.
    """

    def __init__(self, crew: Crew) -> None:
        self.bytes = 0
        self._crew = crew
        self._file: DiskFile | None = None
        self._filled = 0

    def keep(self, marks: Words) -> Words:
        """Return marks, which are in memory, from where they are kept."""
        crew, end = self._crew, self._filled + marks.size
        fits = _bytes_of_states(crew) + self.bytes + marks.nbytes <= crew.memory_bytes
        if not fits and self._file is None and crew.disk is not None:
            self._file = crew.disk.growing(crew.disk.share())
        if fits or self._file is None or not self._file.ensure(8 * end):
            self.bytes += marks.nbytes
            return marks
        held: Words = self._file.words[self._filled : end].reshape(marks.shape)
        held[:] = marks
        self._filled = end
        return held


def _bytes_of_states(crew: Crew) -> int:
    """Return the bytes of what states are read from, where the visited table was given up."""
    store = crew.store
    table = store.table_bytes if crew.compact is None else 0
    return store.bytes_with(crew.tail) - store.overhead - table


class _Marking:
    """Room for the marks of `size` states of a level, and the job that writes them."""

    def __init__(
        self, kernel: Kernel, size: int, level: int, aims: Sequence[Aim], later: Words | None
    ) -> None:
        self._width = kernel.words + 1
        self._room = reserve(8 * size * self._width)
        self._trail = _trail(aims, level)
        self._trail[backward.MARKS] = self._room.ctypes.data
        self._later = None if later is None else _Index(later)
        if self._later is not None:
            self._trail[backward.LATER] = self._later.table.ctypes.data
            self._trail[backward.LATER_MASK] = len(self._later.table) - 1

    def job(self, board: Words, desk: Words, address: int) -> int:
        """Mark states of the level that the board puts up until it is finished."""
        return int(backward.mark_level(board, desk, address, self._trail, self._trail.ctypes.data))

    def marks(self) -> Words:
        """Return what was written, one mark a row."""
        count = int(self._trail[backward.COUNT])
        found = self._room[: count * self._width].reshape(-1, self._width)
        # The room for all states costs what is written, and address space.
        return found if _FEW * found.size > self._room.size else found.copy()


def _trail(aims: Sequence[Aim], level: int) -> Words:
    """Return the trail that marks `level` by the aims that its own expansion showed."""
    trail = np.zeros(backward.TRAIL_SIZE, np.int64)
    for index, aim in enumerate(aims):
        bit = 1 << index
        if aim.level != level:
            continue
        if aim.edge:
            trail[backward.EDGE_FLAGS] |= aim.edge
            trail[backward.EDGE_BITS + aim.edge.bit_length() - 1] |= bit
        elif aim.check:
            trail[backward.CHECK_FLAGS] |= aim.check
            trail[backward.CHECK_BITS + aim.check.bit_length() - 1] |= bit
        else:
            trail[backward.DEAD_BITS] |= bit
    return trail


class _Index:
    """A hash table of the addresses of marks, a power of two in size and at most half full."""

    def __init__(self, marks: Words) -> None:
        self._marks = np.ascontiguousarray(marks)
        count, width = marks.shape
        self.table = np.zeros(1 << (2 * count + 1).bit_length(), np.int64)
        given = self.table.ctypes.data, len(self.table) - 1, width - 1
        backward.index_marks(*given, self._marks.ctypes.data, count)

    def first(self, states: Words, bits: int) -> int:
        """Return the first of `states` (one a row) that one of `bits` marks; -1 for none."""
        held = np.ascontiguousarray(states)
        given = self.table.ctypes.data, len(self.table) - 1, held.shape[1]
        return int(backward.first_marked(*given, held.ctypes.data, len(held), bits))


class _Walker:
    """Walks forward through marked states."""

    def __init__(self, kernel: Kernel, marks: list[Words]) -> None:
        self.kernel = kernel
        self.calls = Calls(kernel)
        self.marks = marks

    def walk(self, aim: Aim, bit: int) -> Path:
        """Return the least shortest path to `aim`, which `bit` marks."""
        if aim.level == INITIAL:
            return Path(self._initial(aim), None)
        states = list(self.way(aim.level, bit))
        step = self.calls.expand(states[-1].reshape(1, -1))
        action = None
        if aim.edge == ERROR:
            failed = step.meta[(step.meta & ERROR) != 0]
            if len(failed):  # otherwise a terminal condition failed
                action = self.kernel.actions[int(failed[0]) & ACTION_MASK]
        elif aim.edge or aim.check:
            states.append(step.words[self._first_found(aim, step.words, step.meta)])
        return Path(np.array(states, np.int64), action)

    def way(self, last: int, bit: int) -> Words:
        """Return the least path, one state a row, to a state of level `last` that `bit` marks."""
        states = [self._least_marked_initial(bit)]
        for level in range(1, last + 1):
            states.append(self._first_marked_successor(states[-1], self.marks[level], bit))
        return np.array(states, np.int64)

    def _initial(self, aim: Aim) -> Words:
        """Return the first initial state that itself shows `aim`; none where one came not to be."""
        states, meta = self._begun
        if aim.edge == ERROR:
            return states[:0].copy()
        found = self._first_found(aim, states, meta)
        return states[found : found + 1].copy()

    @cached_property
    def _begun(self) -> tuple[Words, Words]:
        return self.calls.initial()

    @cached_property
    def _stored(self) -> tuple[Words, Words, _Index]:
        """The initial states that were stored, what stands for each, and where marks are."""
        states, meta = self._begun
        stored = states[(meta & (ERROR | DROPPED | CUT)) == 0]
        return stored, self.calls.canonical(stored), _Index(self.marks[0])

    def _first_found(self, aim: Aim, states: Words, meta: Words) -> int:
        """Return which successor, the first one, shows `aim`."""
        flags = meta & aim.edge if aim.edge else self.calls.check(states) & aim.check
        hits = flags != 0
        if aim.edge != ERROR:
            hits &= (meta & (ERROR | DROPPED)) == 0
        return _first(np.flatnonzero(hits))

    def _least_marked_initial(self, bit: int) -> Words:
        stored, same, index = self._stored
        found = index.first(same, bit)
        if found < 0:
            raise InternalError("a finding cannot be reached from any initial state")
        least: Words = stored[found]
        return least

    def _first_marked_successor(self, state: Words, marks: Words, bit: int) -> Words:
        step = self.calls.expand(state.reshape(1, -1))
        stored = step.words[(step.meta & (ERROR | DROPPED | CUT)) == 0]
        for successor, same in zip(stored, self.calls.canonical(stored), strict=True):
            candidates = marks[marks[:, 0] == same[0]]
            known = (candidates[:, :-1] == same).all(axis=1)
            if (candidates[known, -1] & bit).any():
                first: Words = successor
                return first
        raise InternalError("a state that leads to a finding has no successor that does")


def _first(indices: Words) -> int:
    if len(indices) == 0:
        raise InternalError("what the search found is not there any more")
    return int(indices[0])
