"""Takes the packed states of an exhaustive search, makes a Space of them and all their steps.

Where the search has not recorded its steps (`search/recording.py`), each state is expanded once
more, on all cores, and they are written down here. Steps that leave the state as it is are left
out: to stand still needs none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from checker.errors import InternalError
from checker.frozen import frozen
from checker.graph import edges as native
from checker.graph.reference import begun_beyond
from checker.graph.space import Space
from checker.graph.state_graph import StateGraph, Stays, Turning
from checker.kernel.calls import Calls, require_room
from checker.kernel.kernel import Kernel, Words
from checker.layout.codec import decode
from checker.layout.layout import Layout
from checker.llvm.meta import CUT, DROPPED
from checker.machine.machine import Machine
from checker.memory import available, default_limit
from checker.search import board as places
from checker.search.board import Desk, Numbers, new_board
from checker.search.progress import Interrupt, interrupted
from checker.search.recording import Steps, bytes_of_judging
from checker.semantics.fairness import FairRows, fair_rows, strengths
from checker.semantics.renamings import Renamings, renamings_for
from checker.semantics.successor import State, Successor
from checker.semantics.symmetry import permute_state, reduces

CHUNK = 4096
_EDGES = 1 << 18
"""States that a thread expands at a time, and edges that it then has room for."""

_SPREAD = 1 << 20
"""Edges that are spread at a time: that takes many times their memory."""
_OUT_CAPACITY = 4096
_BESIDE = 5
"""Words that a bench takes beside each successor, and the words of that as it is and renamed."""
_BYTES_OF_A_TURN = 2
"""How the end of a step is renamed, where states stand for their orbits."""
_BYTES_OF_JUDGING = 60
_BYTES_OF_A_PROMISE = 45
"""What judging one property takes of that for each state, and for each promise."""
_SAFETY = 0.9


def bytes_needed(states: int, steps: int, *, orbits: bool = False) -> int:
    """Return what building and judging a graph of so many states and steps may take.

    `orbits`: the states stand for theirs.
    """
    turns = _BYTES_OF_A_TURN * orbits * steps
    return bytes_of_judging(states, steps) + turns + 4 * _index_size(states)


def fits(
    states: Words,
    steps: int,
    memory_bytes: int | None,
    *,
    orbits: bool = False,
    beside: int = 0,
) -> bool:
    """Whether the graph of `states` fits the memory a search may use, beside them and so much."""
    needed = bytes_needed(len(states), steps, orbits=orbits) + beside
    limit = memory_bytes or default_limit()
    return needed + states.nbytes <= limit and needed <= _SAFETY * available()


def judges(states: Words, promises: int, memory_bytes: int | None, most: int) -> int:
    """Return how many properties, at most `most`, may be judged at a time on a graph that is there.

    All that they need must fit half of the memory that is free.
    """
    room = min(memory_bytes or default_limit(), available()) // 2
    each = _BYTES_OF_JUDGING * max(1, len(states)) + _BYTES_OF_A_PROMISE * promises
    return max(1, min(most, room // each))


def build_space(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    states: Words,
    steps: int,
    workers: int,
    interrupt: Interrupt | None = None,
    recorded: Steps | None = None,
) -> Space | None:
    """Return the Space over `states`, all distinct ones; None where `interrupt` says to stop.

    `steps` is an upper bound of the number of steps, `recorded` all that the search has recorded.
    InternalError where a step fails or leads to a state that is not among them.
    """
    renamings = renamings_for(machine) if reduces(machine) else None
    begun, outside_initially = initially(machine, layout, kernel)
    stays: Stays | None = None
    if recorded is not None:
        edges = _recorded(recorded)
        initial = _first_of(states, begun)
        flags = _observed(kernel, states, workers)
    else:
        builder = _Builder(kernel, states, renamings)
        expanded = builder.edges(steps, workers, interrupt)
        if expanded is None:
            return None
        edges, flags, stays = expanded, builder.flags, builder.stays
        initial = np.array(list(dict.fromkeys(builder.numbers(begun).tolist())), np.int64)
    fair = fair_rows(machine)
    edges = _spread(edges, fair)
    cut = np.zeros(len(states) + 1, np.bool_)
    np.not_equal(edges.outside, 0, out=cut[:-1])
    turning = None
    if renamings is not None:
        assert stays is not None
        turning = Turning.of(renamings, edges.turns, stays)

    def state(number: int, renaming: int = 0) -> State:
        found = decode(layout, states[number])
        return permute_state(machine, found, renamings.maps[renaming]) if renamings else found

    return Space(
        graph=StateGraph(
            edges.offsets, edges.targets, edges.labels, strengths(fair), initial, cut, turning
        ),
        flags=flags,
        outside=edges.outside,
        outside_initially=outside_initially,
        state=state,
        properties=None if renamings is None else renamings.properties,
    )


@frozen(slots=False)
class _Edges:
    """The edges of consecutive states; `offsets` has one more, and one for what was cut."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    labels: NDArray[np.int32]
    turns: NDArray[np.uint16]
    outside: NDArray[np.int64]


def _spread(edges: _Edges, fair: FairRows) -> _Edges:
    """Return each edge as often as there are promises that it keeps, with their numbers."""
    if not fair.grouped:
        return edges
    pieces = [slice(first, first + _SPREAD) for first in range(0, len(edges.labels), _SPREAD)]
    ends = np.cumsum([0, *(fair.spread_size(edges.labels[piece]) for piece in pieces)])
    targets, labels = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int32)
    turns = np.empty(ends[-1] if len(edges.turns) else 0, np.uint16)
    offsets = np.full(len(edges.offsets), ends[-1], np.int64)
    for piece, begin, end in zip(pieces, ends[:-1], ends[1:], strict=True):
        each, labels[begin:end] = fair.spread(edges.labels[piece])
        targets[begin:end] = edges.targets[piece][each]
        if len(turns):
            turns[begin:end] = edges.turns[piece][each]
        some = slice(*np.searchsorted(edges.offsets, (piece.start, piece.stop)))
        offsets[some] = begin + np.searchsorted(each, edges.offsets[some] - piece.start)
    return _Edges(offsets, targets, labels, turns, edges.outside)


def _recorded(steps: Steps) -> _Edges:
    """Return recorded steps as edges, and none of what was cut."""
    offsets = np.append(steps.offsets, steps.offsets[-1])
    return _Edges(offsets, steps.targets, steps.labels, np.empty(0, np.uint16), steps.outside)


def _first_of(states: Words, begun: Words) -> Numbers:
    """Return the numbers of the initial states, with which a search begins, each once."""
    different = list(dict.fromkeys(map(bytes, begun)))
    if b"".join(different) != states[: len(different)].tobytes():
        raise InternalError("the search does not begin with the initial states")
    return np.arange(len(different))


def _observed(kernel: Kernel, states: Words, workers: int) -> NDArray[np.int64]:
    """Return what liveness properties see in each state."""
    calls = Calls(kernel)
    flags = np.empty(len(states), np.int64)

    def observe(first: int) -> None:
        flags[first : first + CHUNK] = calls.observe(states[first : first + CHUNK])

    with ThreadPoolExecutor(workers, thread_name_prefix="graph") as pool:
        list(pool.map(observe, range(0, len(states), CHUNK)))
    return flags


class _Bench:
    """What one thread works with: a desk, and room for the edges of a chunk."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.beside = np.zeros(native.BESIDE_SIZE, np.int64)
        self.desk = Desk(kernel, _OUT_CAPACITY)
        self.enlarge(_OUT_CAPACITY)
        self.ends = np.empty(CHUNK, np.int64)
        self.outside = np.empty(CHUNK, np.int64)
        self.room(_EDGES)

    def enlarge(self, capacity: int) -> None:
        """Make room for so many successors at a time."""
        self.desk.enlarge(capacity)
        if self.kernel.canonical_address:
            self.raw = np.empty((capacity + 1) * self.kernel.words, np.int64)
            self.spare = np.empty(capacity, np.int64)
            self.beside[native.RAW] = self.raw.ctypes.data
            self.beside[native.SPARE] = self.spare.ctypes.data
            self.beside[native.SCRATCH] = self.raw[capacity * self.kernel.words :].ctypes.data

    def room(self, edges: int) -> None:
        """Make room for so many edges."""
        self.targets = np.empty(edges, np.int32)
        self.labels = np.empty(edges, np.int32)
        self.turns = np.empty(edges if self.kernel.canonical_address else 0, np.uint16)


class _Builder:
    """The index of the states and all that the threads share."""

    def __init__(self, kernel: Kernel, states: Words, renamings: Renamings | None) -> None:
        self.kernel = kernel
        self.calls = Calls(kernel)
        self.states = np.ascontiguousarray(states)
        self.index = np.zeros(_index_size(len(states)), np.int32)
        self.board = new_board(kernel)
        self.board[places.QUEUE] = self.states.ctypes.data
        self.plan = np.zeros(native.PLAN_SIZE, np.int64)
        self.plan[native.STATES] = len(states)
        self.plan[native.INDEX] = self.index.ctypes.data
        self.plan[native.MASK] = len(self.index) - 1
        self.plan[native.OBSERVE] = kernel.observe_address
        self.plan[native.SHIFT] = kernel.instance_shift
        self.plan[native.META_BITS] = kernel.meta_bits
        self.plan[native.PROPERTIES] = len(kernel.observed)
        if renamings is not None:
            self.namings = renamings.namings
            self.plan[native.RENAMED] = kernel.renamed_address
            self.plan[native.NAMINGS] = self.namings.ctypes.data
            self.plan[native.NAMING_SIZE] = self.namings.strides[0]
            self.plan[native.RENAMINGS] = renamings.count
        self.flags = np.empty(len(states), np.int64)
        self.benches: SimpleQueue[_Bench] = SimpleQueue()
        native.index_states(
            self.states.ctypes.data,
            kernel.words,
            len(states),
            self.index,
            self.index.ctypes.data,
        )

    def edges(self, steps: int, workers: int, interrupt: Interrupt | None) -> _Edges | None:
        """Return all edges, expanding chunk after chunk in threads."""
        count = len(self.states)
        offsets = np.zeros(count + 2, np.int64)
        targets, labels = np.empty(steps, np.int32), np.empty(steps, np.int32)
        turns = np.empty(steps if self.kernel.canonical_address else 0, np.uint16)
        outside = np.zeros(count, np.int64)
        filled = 0
        for _ in range(workers):
            self.benches.put(_Bench(self.kernel))
        with ThreadPoolExecutor(workers, thread_name_prefix="graph") as pool:
            for first, chunk in self._chunks(pool, self._at_once(steps), 2 * workers):
                if interrupted(interrupt):
                    pool.shutdown(cancel_futures=True)
                    return None
                size = len(chunk.targets)
                targets[filled : filled + size] = chunk.targets
                labels[filled : filled + size] = chunk.labels
                if len(turns):
                    turns[filled : filled + size] = chunk.turns
                offsets[first + 1 : first + 1 + len(chunk.offsets)] = filled + chunk.offsets
                if chunk.outside.any():
                    outside[first : first + len(chunk.outside)] = chunk.outside
                filled += size
        offsets[-1] = filled
        return _Edges(offsets, targets[:filled], labels[:filled], turns[:filled], outside)

    def _at_once(self, steps: int) -> int:
        """Return how many states are to be expanded at a time, where all have so many steps."""
        return max(1, min(CHUNK, _EDGES // 2 * len(self.states) // max(1, steps)))

    def _chunks(
        self, pool: ThreadPoolExecutor, size: int, most: int
    ) -> Iterator[tuple[int, _Edges]]:
        """Yield the edges of chunk after chunk with its first state; at most `most` under way.

        What is left of a chunk whose edges had no room is the next one.
        """
        count, following = len(self.states), 0
        running: deque[tuple[int, int, Future[_Edges]]] = deque()
        while running or following < count:
            while following < count and len(running) < most:
                last = min(following + size, count)
                running.append((following, last, pool.submit(self._chunk, following, last)))
                following = last
            first, last, future = running.popleft()
            chunk = future.result()
            yield first, chunk
            done = first + len(chunk.outside)
            if done < last:
                running.appendleft((done, last, pool.submit(self._chunk, done, last)))

    def _chunk(self, first: int, last: int) -> _Edges:
        """Expand states from `first` on, up to `last` where there is room, and observe them."""
        bench = self.benches.get()
        try:
            count = self._expand(bench, first, last)
            done = int(bench.beside[native.DONE])
            seen = slice(first, first + done)
            self.flags[seen] = self.calls.observe(self.states[seen])
            return _Edges(
                bench.ends[:done].copy(),
                bench.targets[:count].copy(),
                bench.labels[:count].copy(),
                bench.turns[:count].copy(),
                bench.outside[:done].copy(),
            )
        finally:
            self.benches.put(bench)

    def _expand(self, bench: _Bench, first: int, last: int) -> int:
        while True:
            count = int(
                native.expand_states(
                    self.board,
                    bench.desk.numbers,
                    self.plan,
                    self.index,
                    first,
                    last,
                    bench.beside,
                    bench.targets,
                    bench.labels,
                    bench.turns,
                    bench.ends,
                    bench.outside,
                )
            )
            if count == native.TOO_NARROW:
                require_room(2 * bench.desk.capacity, 2 * self.kernel.words, _BESIDE)
                bench.enlarge(2 * bench.desk.capacity)
            elif count == native.NO_ROOM:
                bench.room(2 * len(bench.targets))
            elif count == native.LOST:
                raise InternalError("a step leads out of what the search found")
            else:
                return count

    def stays(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Return whether each renaming leaves each of some states as it is."""
        found = np.empty((len(numbers), int(self.plan[native.RENAMINGS])), np.bool_)
        room = np.empty(self.kernel.words, np.int64)
        native.staying(
            self.states.ctypes.data,
            self.kernel.words,
            self.plan,
            np.asarray(numbers, np.int64),
            np.array([room.ctypes.data], np.int64),
            found.reshape(-1),
        )
        return found

    def numbers(self, states: Words) -> Numbers:
        """Return the numbers of `states` (one a row), or of their representatives."""
        given = Calls(self.kernel).canonical(states)
        found = np.empty(len(given), np.int64)
        native.find_all(
            self.states.ctypes.data,
            self.kernel.words,
            given.ctypes.data,
            len(given),
            self.index,
            found,
        )
        if (found < 0).any():
            raise InternalError("an initial state is not among what the search found")
        return found


def initially(machine: Machine, layout: Layout, kernel: Kernel) -> tuple[Words, tuple[int, ...]]:
    """Return the initial states in order, and what each of those tells that were cut."""
    states, meta = Calls(kernel).initial()
    kept = (meta & (CUT | DROPPED)) == 0
    outside = set[int]()
    for state, word in zip(states[~kept], meta[~kept], strict=True):
        reached = None if word & DROPPED else decode(layout, state)
        cut = Successor(machine.initial.name, (), (), reached, cut="bounds")
        outside.add(begun_beyond(machine, cut))
    return states[kept], tuple(sorted(outside))


def _index_size(states: int) -> int:
    """Return a power of two of at least twice as many places as there are states."""
    return 1 << max(2 * states - 1, 1).bit_length()
