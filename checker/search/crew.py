"""The threads of a search and what they work with: one level of states at a time, on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import Self

import numpy as np

from checker.errors import InternalError
from checker.kernel.calls import Calls, HaltedError, TooManyInitialError
from checker.kernel.kernel import Kernel, Words
from checker.llvm.meta import ERROR
from checker.search import board as places
from checker.search import halves
from checker.search.board import BLOCK_SIZE_MAX, Desk, Numbers, new_board, set_code
from checker.search.compact import Compact, Compaction
from checker.search.counting import counted, forget, give
from checker.search.disk import Disk, heard
from checker.search.exploration import StoppedBy
from checker.search.options import tell_nobody
from checker.search.recording import Recording
from checker.search.roots import Form
from checker.search.snapshot import Counters
from checker.search.spill import Spill
from checker.search.splitting import SAMPLE, pieces_of, split_of
from checker.search.spreading import spread
from checker.search.store import CAPACITY_START, Store
from checker.search.threads import results_of
from checker.search.worker import (
    FINISHED,
    NO_HALVES,
    NO_QUEUE,
    NO_STEPS,
    NO_TABLE,
    TOO_NARROW,
    enter,
    enter_roots,
    work,
)

Watch = Callable[[], StoppedBy | None]
"""Called several times a second while threads work; says whether, and why, to stop."""

Job = Callable[[Numbers, Numbers, int], int]
"""A compiled function of board, desk and the board's address; returns why it stopped."""

OUT_CAPACITY = 4096
"""Successors a desk has room for at first."""

_ALONE = 512
"""States of a level up to which waking the threads takes longer than the work; fewer where a state
may have more successors than OUT_CAPACITY."""
_BLOCK_SIZE_MIN = 16
_INITIAL_AT_ONCE = 1 << 16
"""Initial states that a desk takes at a time."""
_LITTLE = 1 << 24
"""Bytes of halves that are worth it whatever the states take."""
_ADOPTED = 1 << 20
"""States that are sorted, or moved to disk, at a time."""


class Crew:
    """Board, desks, store and threads of one search. Close it, or use it as a context."""

    def __init__(
        self,
        kernel: Kernel,
        workers: int,
        memory_bytes: int,
        states_max: int | None,
        capacity: int = CAPACITY_START,
        out_capacity: int = OUT_CAPACITY,
        *,
        records: bool = False,
    ) -> None:
        self.kernel = kernel
        self.memory_bytes = memory_bytes
        self.states_max = states_max
        self.desks = [Desk(kernel, out_capacity) for _ in range(workers)]
        self._beside = 0
        self.recording = Recording(kernel, memory_bytes) if records else None
        self.store = Store(
            kernel.words,
            memory_bytes,
            self._overhead(),
            capacity,
            keeps_arrivals=kernel.explore_address != 0 and not records,
        )
        self.board = new_board(kernel.best)
        self.board[places.QUEUE] = self.store.queue.ctypes.data
        self._address = self.board.ctypes.data
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="search")
        self.disk: Disk | None = None
        self.notice: Callable[[str], None] = tell_nobody
        self._spill: Spill | None = None
        self._watch: Watch = lambda: None
        self._initial = 0
        self._faster: Kernel | None = None
        self._starts = [0]
        self.compact: Compact | None = None
        self.compaction = Compaction("off", pieces_of(kernel.words))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._halt()
        self._pool.shutdown()
        self.kernel.stop()

    @property
    def distinct(self) -> int:
        """Distinct states found; once they are on disk, those of finished levels."""
        return self.total(places.DISTINCT) if self._spill is None else self._spill.fixed

    @property
    def tail(self) -> int:
        """Distinct states in the queue (while threads work: rounded up to what they claimed)."""
        return int(min(self.board[places.TAIL], self.board[places.ROOM]))

    def total(self, place: int) -> int:
        """Return the sum of one of the desks' counters."""
        return sum(int(desk.numbers[place]) for desk in self.desks)

    def counters(self) -> Counters:
        """Return what the threads counted so far."""
        return counted(self.desks, self._initial)

    def load_code(self) -> None:
        """Load the compiled functions, or compile them where this was never done before.

        That takes seconds the first time, and they are no part of the search.
        """
        self._open_board()
        for desk in self.desks:
            work(self.board, desk.numbers, self._address)  # there is nothing to claim yet
        spread(0, 0, 0, self.kernel.words, 0, 0)

    def begin(self, watch: Watch) -> StoppedBy | None:
        """Make the initial states the first level, in their order; say why if that ended early."""
        calls = Calls(self.kernel)
        try:
            states, meta = calls.initial(self.memory_bytes, lambda: watch() is not None)
        except TooManyInitialError:
            return "memory"
        except HaltedError:
            return watch() or "interrupt"
        states = calls.canonical(states)
        self._initial = int(np.count_nonzero((meta & ERROR) == 0))
        self._beside = states.nbytes + meta.nbytes
        desk, usual = self.desks[0], self.desks[0].capacity
        desk.enlarge(max(usual, min(len(states), _INITIAL_AT_ONCE)))
        self._note_overhead()
        stopped = self._keep_initial(desk, states, meta, watch)
        if stopped is None:
            desk.enlarge(usual)
        self._beside = 0
        self._note_overhead()
        return stopped

    def _keep_initial(
        self, desk: Desk, states: Words, meta: Words, watch: Watch
    ) -> StoppedBy | None:
        """Find the initial states, so many at a time as a desk has room for."""
        for first in range(0, len(states) or 1, desk.capacity):
            piece = states[first : first + desk.capacity]
            desk.out[: piece.size] = piece.reshape(-1)
            desk.meta[: len(piece)] = meta[first : first + desk.capacity]
            desk.numbers[[places.NEXT, places.PENDING]] = 0, len(piece)
            stopped = (watch() if first else None) or self.expand_level(0, 0, watch)
            if stopped is not None:
                return stopped
        return None

    def advance(self, seconds: float) -> None:
        """Note that the search has gone on for so long: faster code may pay, or be there."""
        if self.kernel.refinement is None or self._faster is not None:
            return
        self._faster = self.kernel.refinement.advance(seconds)
        if self._faster is not None:
            self._halt()  # threads take it up when they are sent back

    def take_counters(self) -> Counters:
        """Return what the threads counted since this was called last."""
        taken = self.counters()
        self._initial = 0
        forget(self.desks)
        return taken

    def restore(self, counters: Counters, states: int) -> None:
        """Let the threads have counted `counters`, and found so many states."""
        give(self.desks[0], counters)
        self._initial = counters.generated - sum(made for _, made in counters.tallies)
        self._count_distinct(states)

    def _count_distinct(self, states: int) -> None:
        """Let the threads have found so many states."""
        for desk in self.desks:
            desk.numbers[places.DISTINCT] = 0
        self.desks[0].numbers[places.DISTINCT] = states

    def pieces(self, start: int, end: int) -> Iterable[Words]:
        """Give the states number `start` to `end`, one a row, level after level, piece by piece.

        `start` begins a level; `end` does, or is where the queue ends.
        """
        if self.compact is not None:
            return self.compact.pieces(start, end)
        return (self.store.states(start, end),)

    def states(self, start: int, end: int) -> Words:
        """Return what `pieces` gives, as one."""
        if self.compact is None:
            return self.store.states(start, end)
        found: Words = np.empty((end - start, self.store.words), np.int64)
        first = 0
        for piece in self.compact.pieces(start, end):
            found[first : first + len(piece)] = piece
            first += len(piece)
        return found

    @property
    def has_room_for_states(self) -> bool:
        """Whether `states` may give all states: where they are put together that takes memory."""
        room = self.store.limit - self.store.bytes_with(self.tail)
        return self.compact is None or 8 * self.store.words * self.tail <= room

    def chosen(self, numbers: Numbers) -> Words:
        """Return the states of these ascending numbers, one a row."""
        found = []
        first = 0
        for piece in self.pieces(0, self.tail):
            end = first + len(piece)
            inside = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, end)]
            found.append(piece[inside - first])
            first = end
        return np.concatenate(found)

    def adopt(
        self,
        count: int,
        levels: Sequence[int],
        load: Callable[[Callable[[int, int], Words]], None],
        watch: Watch = lambda: None,
    ) -> bool:
        """Take `count` states as found already; `load` writes them into the queue.

        `levels` says how many there are of each level. False where memory does not allow it.
        InternalError where one of them is there twice; HaltedError where `watch` says to stop: the
        states are in the queue then, and nothing can be found any more.
        """
        self._watch = watch
        self._starts = np.cumsum([0, *levels[:-1]]).tolist() if levels else [0]
        if not self.store.make_room(count):
            if not self._queue_to_disk() or not self.store.ensure(count):
                return False
            if not self.store.make_room(count):
                return self._adopt_in_runs(count, load)
        load(self.store.states)
        self.board[places.TAIL] = count
        self._enter(0, count)
        if self.total(places.DISTINCT) != count:
            raise InternalError("the states of a checkpoint are not all different")
        return True

    def _enter(self, start: int, end: int) -> None:
        """Put the states `start` to `end` of the queue into the table, which has room for them."""
        self._open_board()
        self.open_level(start, end)
        if self.run(enter, self.desks, end - start, lambda: None) != {FINISHED}:
            raise InternalError("a segment of the table is full before its time")

    def _enter_again(self) -> bool:
        """Put all states of the queue into the table, which is empty, in the midst of a level.

        Where it cannot hold them they become a visited set on disk; False where that is short.
        """
        if not self.store.make_room(self.tail):
            started = time.perf_counter()
            if not self._into_runs(self.tail):
                return False
            self._tell_of_runs(started)
            return True
        self._enter_all()
        return True

    def _enter_all(self) -> None:
        """Put all states of the queue into the table, which has room, in the midst of a level."""
        at = [places.CLAIMED, places.LEVEL_END, places.BLOCK_SIZE]
        before, found = self.board[at], self.total(places.DISTINCT)
        self._enter(0, self.tail)
        self.board[at] = before
        self._count_distinct(found)

    def _adopt_in_runs(
        self, count: int, load: Callable[[Callable[[int, int], Words]], None]
    ) -> bool:
        """Like `adopt`, where the table is too small: one run after another goes to disk."""
        while self.store.grow(0, self._pool, len(self.desks)):
            pass
        load(self.store.states)
        self.board[[places.TAIL, places.ROOM]] = count
        return self._into_runs(count)

    def _into_runs(self, count: int) -> bool:
        """Let the queue's `count` states be the visited set on disk; False where that is short."""
        spill = self._new_spill(count)
        for start in range(0, count, _ADOPTED):
            if not spill.adopt(self.store.states(start, min(start + _ADOPTED, count))):
                return False
        if spill.known != count:
            raise InternalError("the states found so far are not all different")
        self._spill = spill
        self._open_board()
        return self.store.ensure(count + self.store.room)

    def open_level(self, start: int, end: int) -> None:
        """Put the states `start` to `end` of the queue up for claiming."""
        self.board[places.CLAIMED] = start
        self.board[places.LEVEL_END] = end
        share = (end - start) // (4 * len(self.desks))
        self.board[places.BLOCK_SIZE] = max(_BLOCK_SIZE_MIN, min(BLOCK_SIZE_MAX, share))

    def resume(self) -> None:
        """Withdraw a halt."""
        self.board[places.HALT] = 0

    def expand_level(self, start: int, end: int, watch: Watch) -> StoppedBy | None:
        """Expand the states `start` to `end` of the queue; their new successors follow in it.

        Return why the level was not finished; None if it was.
        """
        self.open_level(start, end)
        if end > 0:
            self._starts.append(end)
        if self.recording is not None:
            self.recording.begin_level(self.desks)
        self._watch = watch
        try:
            stopped = self._expand(end - start)
        except HaltedError:
            if self._spill is not None:
                self._take_settled(self._spill)
            stopped = watch() or "interrupt"
        self._close_holes()
        if self.compact is not None and stopped is None:
            self.compact.keep_from(end)
        return stopped

    def _expand(self, states: int) -> StoppedBy | None:
        """Expand a level of so many states; HaltedError where putting the disk in order is halted.

        Then nothing that the level found is settled: which of it is new is not known.
        """
        if not self._begin_level() and not self._queue_to_disk():
            return "memory"
        stopped: StoppedBy | None = None
        results: set[int] = set()
        while stopped is None and results != {FINISHED}:
            self._open_board()
            results = self.run(work, self.desks, states, self._watch)
            self.board[places.TAIL] = self.tail
            if results != {FINISHED}:
                stopped = self._watch() or self._provide(results)
        settled = None if self._spill is None else self._settle(self._spill)
        return stopped or settled

    def _begin_level(self) -> bool:
        """Prepare for what is found next; False where slots of roots cannot say how deep it is."""
        if self.compact is None:
            return True
        self.store.beside = self.compact.bytes_with(self.tail)
        return self.compact.begin_level(self._starts, self.tail, self._pool, len(self.desks))

    def _open_board(self) -> None:
        """Tell the threads what they may use now."""
        if self._faster is not None:
            set_code(self.board, self._faster)
        room = self.store.room
        if self._spill is not None:
            room += self._spill.fixed  # room for candidates, which need not be new
        elif self.states_max is not None:
            room = min(room, self.states_max)
        arrivals = self.store.arrivals
        self.board[places.QUEUE] = self.store.queue.ctypes.data
        self.board[places.ARRIVALS] = 0 if arrivals is None else arrivals.ctypes.data
        self.board[places.TABLE] = self.store.table.ctypes.data
        self.board[places.RESERVED_BITS] = self.store.reserved_bits
        self.board[places.CAPACITY] = self.store.capacity
        self.board[places.INDEXED] = int(self.store.indexed)
        self.board[places.SPLIT] = 0 if self.compact is None else self.compact.address
        self.board[places.RECORDING] = self.recording.plan.ctypes.data if self.recording else 0
        self.board[places.ROOM] = room
        self.resume()

    def run(self, job: Job, desks: Sequence[Desk], states: int, watch: Watch) -> set[int]:
        """Let every desk do its job on a level of `states` states; return what the jobs returned.

        Jobs run in this thread where there is little to do, else in threads that `watch` can halt.
        """
        most = max(OUT_CAPACITY, *(desk.capacity for desk in desks))
        if states * most <= _ALONE * OUT_CAPACITY:
            return {job(self.board, desk.numbers, self._address) for desk in desks}
        running = [
            self._pool.submit(job, self.board, desk.numbers, self._address) for desk in desks
        ]
        return set(results_of(running, lambda: watch() is not None, self._halt))

    def _halt(self) -> None:
        self.board[places.HALT] = 1

    def _provide(self, results: set[int]) -> StoppedBy | None:
        """Give the threads what they stopped for; say so if that is not possible."""
        if TOO_NARROW in results and not (
            self._widen() or (self._queue_to_disk() and self._widen())
        ):
            return "memory_of_one_state"
        halved = NO_HALVES in results and self.compact is not None  # they may be gone by now
        if halved and not (self._more_halves() or self._queue_to_disk()):
            return "memory"
        if NO_STEPS in results and self.recording is not None:
            self._more_steps(self.recording)
        if not results & {NO_QUEUE, NO_TABLE}:
            return None
        if self._spill is not None:
            return None if self._next_batch(self._spill) else "memory"
        if NO_QUEUE in results and self.tail == self.states_max:
            self._close_holes()  # what a thread claimed and did not fill is for others to claim
            return "states" if self.tail == self.states_max else None
        return None if self._grow() else "memory"

    def _grow(self) -> bool:
        """Make room for more states, if need be by moving the queue, and then all, to disk."""
        if self.compaction.wanted(self.tail, short=False) and self._make_compact():
            return True
        if self._grow_in_place():
            return True
        if self.recording is not None:
            self._record_no_more()
            return self._grow()
        if self.compaction.wanted(self.tail, short=True) and self._make_compact():
            return True
        if self.store.file is None and not self._queue_to_disk():
            return False  # half way, it may be: then the table does not hold what the queue does
        return self._spill is not None or self._grow_in_place() or self._runs_to_disk()

    def _grow_in_place(self) -> bool:
        """Make room for more states where they are."""
        if self.compact is not None:
            self.store.beside = self.compact.bytes_with(self.tail)
        return self.store.grow(self.tail, self._pool, len(self.desks))

    def _more_steps(self, recording: Recording) -> None:
        """Make room to record more steps, or record none any more where memory is short."""
        if not recording.grow(self.tail, self.store.bytes_with(self.tail) - recording.bytes):
            self._record_no_more()
        self._note_overhead()

    def _record_no_more(self) -> None:
        """Forget the steps, if they were recorded; now those that commute are looked up once."""
        if self.recording is not None:
            self.recording = None
            if self.kernel.explore_address:
                self.store.keep_arrivals()
            self._note_overhead()

    def _more_halves(self, worth: int | None = None) -> bool:
        """Make room for more halves; False where memory is short or the numbers are used up.

        `worth`: the bytes that halves may take at most, whatever memory there is.
        """
        assert self.compact is not None
        store = self.store
        store.beside = self.compact.bytes_with(self.tail)
        budget = store.limit - store.bytes_with(self.tail) + self.compact.bytes
        budget = budget if worth is None else min(budget, worth)
        if not self.compact.grow(budget, self.tail, self._pool, len(self.desks)):
            return False
        store.beside = self.compact.bytes_with(self.tail)
        store.fit(self.tail)
        return True

    def _make_compact(self) -> bool:
        """Keep the states in halves from now on; False where they would take too much room.

        The index is given up, and where this fails it is made again.
        """
        if not self.store.indexed or self.store.file is not None or self.tail == 0:
            return False
        self._record_no_more()
        self.compaction.allowed = False  # one attempt is enough
        self._close_holes()
        tail = self.tail
        sample = np.linspace(0, tail - 1, min(tail, SAMPLE)).astype(np.int64)
        mask = split_of(self.store.states(0, tail)[sample], self.compaction.pieces)
        capacity, room = self.store.capacity, self.store.room
        queue = self.store.become_roots(Form(depth=len(self._starts).bit_length() + 1))
        compact = Compact(self.store, mask, len(self.desks))
        if not self._enter_compact(compact, queue):
            self.store.become_index(queue)
            self.store.capacity, self.store.room = capacity, room
            self._enter_all()  # as many slots held them before, however full they were
            return False
        self.compact = compact
        for desk, cutter in zip(self.desks, compact.cutters, strict=True):
            desk.numbers[places.CUTTER] = cutter.numbers.ctypes.data
        self._forget_expanded()
        self.notice(
            f"states are kept in halves from {tail:,} states on "
            f"({' and '.join(f'{count:,}' for count in compact.halves)} different halves)"
        )
        return self.tail < self.store.room or self._grow_in_place()

    def _enter_compact(self, compact: Compact, states: Words) -> bool:
        """Put the roots of all states, which are at `states`, into the table, level by level.

        False where there are too many halves for that to be worth it, or memory is short.
        """
        at = [places.CLAIMED, places.LEVEL_END, places.BLOCK_SIZE, places.HALT]
        before, tail, store = self.board[at], self.tail, self.store
        desks = [Desk(self.kernel, BLOCK_SIZE_MAX) for _ in self.desks]
        for desk, cutter in zip(desks, compact.cutters, strict=True):
            desk.numbers[places.CUTTER] = cutter.numbers.ctypes.data
        compact.keep_from(self._starts[max(len(self._starts) - 2, 0)])
        store.beside = compact.bytes_with(tail)
        if not store.make_room(tail):
            return False
        if not compact.begin_level(self._starts, tail, self._pool, len(self.desks)):
            return False
        worth = 8 * store.words * tail // 4 + _LITTLE
        self.compact = compact
        done = True
        for level, (start, end) in enumerate(pairwise((*self._starts, tail))):
            compact.split[halves.DEPTH] = level
            job = partial(enter_roots, states.ctypes.data, int(start >= compact.kept))
            self.open_level(start, end)
            results: set[int] = set()
            while done and results != {FINISHED}:
                self._open_board()
                results = self.run(job, desks, end - start, lambda: None)
                if NO_HALVES in results:
                    done = self._more_halves(worth)
                elif results != {FINISHED}:
                    done = self._grow_in_place()
        self.compact = None
        self.board[at] = before
        found = sum(int(desk.numbers[places.DISTINCT]) for desk in desks)
        if done and found != tail:
            raise InternalError("states that differ have the same halves")
        return done

    def _queue_to_disk(self) -> bool:
        if self.disk is None or self.store.file is not None:
            return False
        self._record_no_more()
        indexed = self.store.indexed or self.store.roots
        if indexed:
            self._close_holes()
        pieces = heard(self.pieces(0, self.tail), _ADOPTED, self._asked)
        if not self.store.queue_to(self.disk, self.tail, pieces):
            return False
        self.compact = None
        # Also where the search ends here: its paths are read from the queue.
        self.board[places.QUEUE], self.board[places.SPLIT] = self.store.queue.ctypes.data, 0
        self._forget_expanded()
        self.notice(
            f"memory is short: from {self.tail:,} states on the levels are kept on disk, in "
            f"{self.disk.directory} ({self.disk.free() / 2**30:,.1f} GiB to use)"
        )
        return not indexed or self.tail == 0 or self._enter_again()

    def _forget_expanded(self) -> None:
        """Note that the states that were expanded last are no longer where they were."""
        for desk in self.desks:
            desk.numbers[places.EXPANDED] = 0

    def _asked(self) -> bool:
        return self._watch() is not None

    def _new_spill(self, fixed: int) -> Spill:
        assert self.disk is not None
        spill = Spill(self.store, self.disk, self._pool, self._asked)
        spill.fixed = fixed
        return spill

    def _runs_to_disk(self) -> bool:
        """Move the visited set to disk, as the queue was; False where the disk is short."""
        started = time.perf_counter()
        self._close_holes()
        spill = self._new_spill(self.tail)
        if not spill.flush_known() or not self.store.ensure(self.tail + self.store.room):
            return False
        self._spill = spill
        self._tell_of_runs(started)
        return True

    def _tell_of_runs(self, started: float) -> None:
        """Say that the visited set, which was in memory when it `started`, is on disk."""
        assert self._spill is not None
        seconds = time.perf_counter() - started
        self.notice(
            f"memory is full: from {self._spill.fixed:,} states on the visited set is kept on "
            f"disk; the search stays exact, and each level takes at least {seconds:.1f} s longer"
        )

    def _next_batch(self, spill: Spill) -> bool:
        """Write the candidates out and go on with an empty table."""
        self._forget_candidates(spill)
        return spill.flush()

    def _forget_candidates(self, spill: Spill) -> None:
        """Take the candidates out of the queue; the table has them, too."""
        self.board[places.TAIL] = spill.fixed
        for desk in self.desks:
            desk.numbers[places.CHUNK] = desk.numbers[places.CHUNK_END] = 0

    def _settle(self, spill: Spill) -> StoppedBy | None:
        """Find out which candidates are new and put them into the queue; say why it failed."""
        before = spill.fixed
        most = None if self.states_max is None else self.states_max - before
        found = spill.settle(most)
        self._take_settled(spill)
        if found is None or not self.store.ensure(spill.fixed + self.store.room):
            return "memory"
        assert self.store.file is not None
        self.store.file.forget(8 * self.store.words * before)
        return "states" if spill.cut else None

    def _take_settled(self, spill: Spill) -> None:
        """Let the states that are settled be those of the queue, and nobody claim a part of it."""
        self._forget_candidates(spill)
        self.board[places.ROOM] = spill.fixed + self.store.room
        self._count_distinct(spill.fixed)

    def _widen(self) -> bool:
        """Double the buffers of desks that are done with them; False if memory is short."""
        records = self.recording is not None
        idle = [desk for desk in self.desks if desk.is_done_with(records=records)]
        extra = sum(desk.bytes for desk in idle)
        if self.store.bytes_with(self.tail) + extra > self.store.limit:
            return False
        for desk in idle:
            desk.enlarge(2 * desk.capacity)
        self._note_overhead()
        return True

    def _note_overhead(self) -> None:
        """Let there be room for as many states as fit beside what all else takes now."""
        self.store.overhead = self._overhead()
        self.store.fit(self.tail)

    def _overhead(self) -> int:
        """Return the bytes of all but the store."""
        recorded = 0 if self.recording is None else self.recording.bytes
        return self._beside + recorded + sum(desk.bytes for desk in self.desks)

    def _close_holes(self) -> None:
        """Move the last states into the holes that partly filled pieces of the queue leave."""
        pieces = [np.arange(*desk.numbers[[places.CHUNK, places.CHUNK_END]]) for desk in self.desks]
        holes = np.sort(np.concatenate(pieces))
        total = self.tail - len(holes)
        kept = np.setdiff1d(np.arange(total, self.tail), holes, assume_unique=True)
        self.store.move(kept, holes[holes < total])
        if self.recording is not None:
            self.recording.renumber(kept, holes[holes < total], self.desks)
        self.board[places.TAIL] = total
        for desk in self.desks:
            desk.numbers[places.CHUNK] = desk.numbers[places.CHUNK_END] = 0
