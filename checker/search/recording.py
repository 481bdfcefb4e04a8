"""The steps of a search, recorded while it goes on, for who needs them afterwards.

Endless runs are judged on all steps. The search has looked each of them up, in a table that knows
states by their numbers, so it can write down where they lead; otherwise every state would be
expanded, and every step looked up, once more. What it writes are pieces of two arrays that threads
claim as they go on, and where in them the steps of each state begin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from checker.errors import InternalError
from checker.frozen import frozen
from checker.kernel.kernel import Kernel
from checker.llvm.compiled import compiled
from checker.llvm.instructions import call, fetch_add, load, store, store_half
from checker.llvm.meta import CUT, DROPPED
from checker.memory import advise_huge_pages, available, give_back, reserve_up_to
from checker.search.beyond import of_no_state, told_by
from checker.search.board import (
    BLOCK,
    EDGE,
    EDGE_END,
    ENDS,
    EXPANDED,
    FLAGS,
    META,
    NEXT,
    OUT,
    PENDING,
    QUEUE,
    RECORDING,
    SLOTS,
    WORDS,
    Desk,
    Numbers,
)
from checker.search.indexed import differs

# Places of a plan.
TARGETS = 0
LABELS = 1
"""Addresses of the steps: where each leads, and its label, an int32 each."""
STARTS = 2
COUNTS = 3
"""Addresses of what each state has: where its steps begin (int64), and how many (int32)."""
OUTSIDE_AT = 4
"""Address of what the cut steps of each state tell, an int64 each."""
OBSERVE = 5
PROPERTIES = 6
SHIFT = 7
"""The lowest bit of a meta word's row instance."""
META_BITS = 8
"""The bits of a meta word below and with those of the row instance."""
STEPS_MAX = 9
"""Steps that may be recorded before the threads have to stop."""
FILLED = 16
"""First place of the steps that no thread has claimed."""
PLAN_SIZE = 24

CUT_OFF = (1 << 31) - 1
"""Where a step leads that was cut; also more than any state's number."""

PIECE = 1 << 14
"""Steps that a thread claims at a time, if not more are needed at once."""

_BYTES_OF_A_STEP = 8
_BYTES_OF_A_STATE = 20
_BYTES_OF_JUDGING_A_STEP = 12
"""Where it leads, from where, and its label."""
_BYTES_OF_JUDGING_A_STATE = 96
"""What graph, flags and judging (components, distances, marks) take."""
_GIVEN_BACK = 1 << 18
"""States whose steps are put in order at a time."""
_GROWTH = 1.5
_SAFETY = 0.9
"""Share of the machine's available memory that may be taken."""


def bytes_of_judging(states: int, steps: int) -> int:
    """Return what a graph of so many states and steps, and judging it, may take."""
    return _BYTES_OF_JUDGING_A_STEP * steps + _BYTES_OF_JUDGING_A_STATE * states


@frozen(slots=False)
class Steps:
    """Steps of consecutive states that change the state, in the order in which they were made.

    `offsets` int64 (states + 1,): those of state s are `offsets[s]` to `offsets[s + 1]` of
    `targets` int32, the numbers of the states they lead to (as many as there are states where a
    step was cut), and `labels` int32, which fair row instance made them, or -1. `outside` int64
    (states,): what the cut steps of each state tell, as `told_by` says.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    labels: NDArray[np.int32]
    outside: NDArray[np.int64]


class Recording:
    """The steps of one search in which states are not replaced by representatives.

    `limit` are the bytes that search and judging may take.
    """

    def __init__(self, kernel: Kernel, limit: int) -> None:
        self.limit = limit
        self.bytes = _BYTES_OF_A_STEP * PIECE
        """What the recorded steps may take until there has to be more room."""
        self._targets = _reserved(limit)
        self._labels = _reserved(limit)
        self._starts = _reserved(limit)
        self._counts = _reserved(limit)
        self._outside = _reserved(limit)
        self._level = 0
        self.plan = np.zeros(PLAN_SIZE, np.int64)
        self.plan[TARGETS] = self._targets.ctypes.data
        self.plan[LABELS] = self._labels.ctypes.data
        self.plan[STARTS] = self._starts.ctypes.data
        self.plan[COUNTS] = self._counts.ctypes.data
        self.plan[OUTSIDE_AT] = self._outside.ctypes.data
        self.plan[OBSERVE] = kernel.observe_address
        self.plan[PROPERTIES] = len(kernel.observed)
        self.plan[SHIFT] = kernel.instance_shift
        self.plan[META_BITS] = kernel.meta_bits
        self.plan[STEPS_MAX] = PIECE

    def grow(self, states: int, used: int) -> bool:
        """Make room for more steps, where the search found `states` states and takes `used` bytes.

        False where judging would not fit the memory in the end.
        """
        most = int(_GROWTH * self.plan[FILLED])
        needed = _BYTES_OF_A_STEP * most + _BYTES_OF_A_STATE * states
        judging = bytes_of_judging(states, most)
        if (
            used + needed + judging > self.limit
            or needed - self.bytes + judging > _SAFETY * available()
        ):
            return False
        if most > 2 * len(self._targets) or states > len(self._starts):
            return False
        self.bytes = needed
        self.plan[STEPS_MAX] = most
        return True

    def begin_level(self, desks: Sequence[Desk]) -> None:
        """Note that the steps recorded from now on are those of another level."""
        begun = (int(d.numbers[EDGE]) for d in desks if d.numbers[EDGE] < d.numbers[EDGE_END])
        self._level = min(begun, default=int(self.plan[FILLED]))

    def renumber(self, old: Numbers, new: Numbers, desks: Sequence[Desk]) -> None:
        """Let the steps of this level that lead to the states `old`, ascending, lead to `new`."""
        if not len(old):
            return
        filled = slice(self._level, int(self.plan[FILLED]))
        _rename(self._targets.view(np.int32)[filled], old, new)
        for desk in desks:
            if desk.numbers[EXPANDED]:
                _rename(desk.slots[: int(desk.numbers[NEXT])], old, new)

    def taken(self, states: int) -> Steps:
        """Return the steps of all `states` states, in order; what was recorded is gone then."""
        if len(self._targets) == 0:
            raise InternalError("recorded steps are taken twice")
        starts, counts = self._starts[:states], self._counts.view(np.int32)[:states]
        offsets = np.zeros(states + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        targets, labels = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
        firsts = range(0, states, _GIVEN_BACK)
        least = [int(starts[first : first + _GIVEN_BACK].min()) for first in firsts]
        needed = np.minimum.accumulate([*least, int(self.plan[FILLED])][::-1])[::-1] // 2
        for number, first in enumerate(firsts):
            chosen = slice(first, first + _GIVEN_BACK)
            _in_order(
                self._targets.view(np.int32), self._labels.view(np.int32), starts[chosen],
                offsets[first : first + _GIVEN_BACK + 1], targets, labels, states,
            )  # fmt: skip
            for words in (self._targets, self._labels):
                give_back(words, int(needed[number]), int(needed[number + 1]))
        outside = self._outside[:states]
        self._targets = self._labels = self._starts = self._counts = np.empty(0, np.int64)
        return Steps(offsets, targets, labels, outside)


def _reserved(limit: int) -> NDArray[np.int64]:
    space = reserve_up_to(limit)
    advise_huge_pages(space)
    return space


def _rename(held: NDArray[np.int32] | NDArray[np.int64], old: Numbers, new: Numbers) -> None:
    """Put the number of `new` in place of each of `old`, ascending, that is in `held`."""
    places = np.flatnonzero((held >= old[0]) & (held <= old[-1]))
    held[places] = new[np.searchsorted(old, held[places])]


@compiled
def _in_order(
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    starts: Numbers,
    offsets: Numbers,
    to: NDArray[np.int32],
    marks: NDArray[np.int32],
    states: int,
) -> None:
    """Copy the steps of some states, which begin at `starts`, to where they belong."""
    for state in range(len(starts)):
        shift = starts[state] - offsets[state]
        for edge in range(offsets[state], offsets[state + 1]):
            to[edge] = min(targets[edge + shift], states)
            marks[edge] = labels[edge + shift]


@compiled
def record(board: Numbers, desk: Numbers) -> bool:
    """Record the steps of the states that were expanded last, which are all looked up.

    False where there is no room for them: nothing was recorded then.
    """
    plan, pending = board[RECORDING], desk[PENDING]
    if desk[EXPANDED] == 0:
        return True
    if desk[EDGE_END] - desk[EDGE] < pending:
        size = max(PIECE, pending)
        first = fetch_add(plan + 8 * FILLED, size)
        desk[EDGE] = first
        desk[EDGE_END] = first + size
        if first + size > load(plan + 8 * STEPS_MAX):
            desk[EDGE_END] = first
            return False
    targets, labels = load(plan + 8 * TARGETS), load(plan + 8 * LABELS)
    mask = (1 << load(plan + 8 * META_BITS)) - 1
    edge = desk[EDGE]
    successor = 0
    for index in range(desk[EXPANDED]):
        state = desk[BLOCK] - desk[EXPANDED] + index
        store(load(plan + 8 * STARTS) + 8 * state, edge)
        begun = edge
        end = load(desk[ENDS] + 8 * index)
        while successor < end:
            meta = load(desk[META] + 8 * successor)
            target = load(desk[SLOTS] + 8 * successor)
            if meta & (CUT | DROPPED) != 0:
                target = _where_cut(board, desk, state, successor)
            if target != state:
                store_half(targets + 4 * edge, target)
                label = ((meta & mask) >> load(plan + 8 * SHIFT)) - 1
                store_half(labels + 4 * edge, label)
                edge += 1
            successor += 1
        store_half(load(plan + 8 * COUNTS) + 4 * state, edge - begun)
    desk[EDGE] = edge
    desk[EXPANDED] = 0
    return True


@compiled
def _where_cut(board: Numbers, desk: Numbers, state: int, successor: int) -> int:
    """Return where a successor of `state` leads that was cut, and note what it tells.

    One that changes nothing leads nowhere else, whatever the bounds say of the step.
    """
    plan = board[RECORDING]
    properties = load(plan + 8 * PROPERTIES)
    told = of_no_state(properties)
    if load(desk[META] + 8 * successor) & DROPPED == 0:
        size = 8 * board[WORDS]
        reached = desk[OUT] + size * successor
        if differs(board[QUEUE] + size * state, reached, board[WORDS]) == 0:
            return state
        call(load(plan + 8 * OBSERVE), reached, 1, desk[FLAGS])
        told = told_by(load(desk[FLAGS]), properties)
    place = load(plan + 8 * OUTSIDE_AT) + 8 * state
    store(place, load(place) | told)
    return CUT_OFF
