"""Candidates for new states, compiled: a table of whole packed states, each with its arrival.

A task makes such a table for itself and throws it away: nothing outlives an attempt, so that a
retry counts what the first try would have counted. A slot is a state's words and a tag: 0 where
nothing stands, else the state's arrival (`kernel/commuting.py`) plus 1; of several the greatest,
for which most steps are left out when the state is expanded itself. Homes rise with the lower half
of the hash, so a table is dealt out in an order that an index (`index.py`) can take up without
jumping.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.llvm.compiled import compiled
from checker.llvm.instructions import call, load, prefetch, store
from checker.llvm.meta import CUT, DROPPED, ERROR, NUMBER
from checker.search.board import (
    ARRIVALS,
    BESIDE,
    CHECK,
    CHECKS_SEEN,
    CUTS,
    EDGES_SEEN,
    EXPLORE,
    FLAGS,
    META,
    NEXT,
    OUT,
    PENDING,
    SLOTS,
    WORDS,
    Numbers,
)
from checker.search.visited import hash_state, same_tail
from checker.search.worker import WORKING, expand_next

# Places of a table's numbers.
TABLE = 0
"""Address of the slots."""
CAPACITY = 1
"""How many slots there are."""
USED = 2
ROOM = 3
"""How many slots may be in use."""
NUMBERS = 4

FULL = 6
"""The table has no room for the pending successors; beside what `expand_next` says."""

_SPECIAL = ERROR | DROPPED | CUT
_LOW_32 = (1 << 32) - 1

Arrivals = NDArray[np.uint16]
"""Numbers of the steps that led to states; 0: not known."""


@compiled
def _home(state: int, words: int, capacity: int) -> int:
    return int(((hash_state(state, words) & _LOW_32) * capacity) >> 32)


@compiled
def _owner(state: int, words: int, shards: int) -> int:
    """Return the shard of a state: from bits of its hash that no table's home slot uses."""
    return int((((hash_state(state, words) >> 32) & _LOW_32) * shards) >> 32)


@compiled
def _put(numbers: Numbers, words: int, place: int, state: int, tag: int) -> None:
    """Enter a state, whose home is `place`, with a tag; of two tags the greater stays."""
    size = 8 * (words + 1)
    while True:
        slot = numbers[TABLE] + size * place
        found = load(slot + 8 * words)
        if found == 0:
            for word in range(words):
                store(slot + 8 * word, load(state + 8 * word))
            store(slot + 8 * words, tag)
            numbers[USED] += 1
            return
        if load(slot) == load(state) and same_tail(slot, state, words):
            if tag > found:
                store(slot + 8 * words, tag)
            return
        place += 1
        if place == numbers[CAPACITY]:
            place = 0


@compiled
def expand_into(board: Numbers, desk: Numbers, board_address: int, numbers: Numbers) -> int:
    """Expand the level that the board puts up into the table; return FINISHED, TOO_NARROW or FULL.

    The desk counts. Can be called again after a desk was enlarged or the table emptied.
    """
    while True:
        if desk[NEXT] == desk[PENDING]:
            result = expand_next(board, desk, board_address, board[ARRIVALS])
            if result != WORKING:
                return int(result)
        if numbers[USED] + desk[PENDING] > numbers[ROOM]:
            return FULL
        _collect(board, desk, numbers)
        desk[NEXT] = desk[PENDING]


@compiled
def _collect(board: Numbers, desk: Numbers, numbers: Numbers) -> None:
    """Enter the pending successors into the table, but those that may not be stored."""
    words, out, slots, pending = board[WORDS], desk[OUT], desk[SLOTS], desk[PENDING]
    size = 8 * (words + 1)
    for index in range(pending):
        place = _home(out + 8 * words * index, words, numbers[CAPACITY])
        store(slots + 8 * index, place)
        prefetch(numbers[TABLE] + size * place)
    edges = 0
    for index in range(pending):
        meta = load(desk[META] + 8 * index)
        state = out + 8 * words * index
        if meta & _SPECIAL != 0:
            edges |= _note_special(board, desk, meta, state)
            continue
        edges |= meta
        tag = (meta >> NUMBER) + 1 if board[EXPLORE] != 0 else 1
        _put(numbers, words, load(slots + 8 * index), state, tag)
    desk[EDGES_SEEN] |= edges & board[BESIDE]


@compiled
def _note_special(board: Numbers, desk: Numbers, meta: int, state: int) -> int:
    """Count a successor that is not stored, check it if it is a state; return what it showed."""
    if meta & ERROR != 0:
        return ERROR
    desk[CUTS] += 1
    if meta & DROPPED != 0:
        return 0
    if board[CHECK] != 0:
        call(board[CHECK], state, 1, desk[FLAGS], desk[CHECKS_SEEN], 0)
        desk[CHECKS_SEEN] |= load(desk[FLAGS])
    return meta


@compiled
def enter(numbers: Numbers, words: int, states: int, arrivals: Arrivals) -> None:
    """Enter the states at address `states`, one for each of `arrivals`; the table has room."""
    for index in range(len(arrivals)):
        state = states + 8 * words * index
        place = _home(state, words, numbers[CAPACITY])
        _put(numbers, words, place, state, int(arrivals[index]) + 1)


@compiled
def move(source: Numbers, target: Numbers, words: int) -> None:
    """Enter all states of one table into another, larger one."""
    size = 8 * (words + 1)
    for place in range(source[CAPACITY]):
        slot = source[TABLE] + size * place
        tag = load(slot + 8 * words)
        if tag > 0:
            _put(target, words, _home(slot, words, target[CAPACITY]), slot, tag)


@compiled
def count_owners(numbers: Numbers, words: int, counts: Numbers) -> None:
    """Add up in `counts`, one number a shard, how many states of the table each owns."""
    size, shards = 8 * (words + 1), len(counts)
    for place in range(numbers[CAPACITY]):
        slot = numbers[TABLE] + size * place
        if load(slot + 8 * words) > 0:
            counts[_owner(slot, words, shards)] += 1


@compiled
def deal(numbers: Numbers, words: int, starts: Numbers, states: int, arrivals: Arrivals) -> None:
    """Write states and arrivals shard by shard; `starts` says where each shard's begin, and moves.

    `states` is the address of room for all of them.
    """
    size, shards = 8 * (words + 1), len(starts)
    for place in range(numbers[CAPACITY]):
        slot = numbers[TABLE] + size * place
        tag = load(slot + 8 * words)
        if tag > 0:
            shard = _owner(slot, words, shards)
            index = starts[shard]
            starts[shard] += 1
            for word in range(words):
                store(states + 8 * (words * index + word), load(slot + 8 * word))
            arrivals[index] = tag - 1


@compiled
def count_states(states: int, count: int, words: int, counts: Numbers) -> None:
    """Add up in `counts`, one number a shard, how many of the states at an address each owns."""
    for index in range(count):
        counts[_owner(states + 8 * words * index, words, len(counts))] += 1


@compiled
def deal_states(states: int, count: int, words: int, starts: Numbers, target: int) -> None:
    """Write the states at an address shard by shard to `target`; `starts` is as in `deal`."""
    for index in range(count):
        state = states + 8 * words * index
        shard = _owner(state, words, len(starts))
        for word in range(words):
            store(target + 8 * (words * starts[shard] + word), load(state + 8 * word))
        starts[shard] += 1
