"""An index of states, compiled: whole packed states in one open-addressing table of plain memory.

A state stands in the first free slot from its home on, around the end. Homes rise with the lower
half of the hash, whatever the capacity, and so does the order in which tables of this room are
dealt out: states that come from one are looked up and entered from the beginning of the index to
its end, which memory is much faster at than at random places.

Word 0 of a state has bit 63 clear. It is stored with bit 63 set, so that 0 means empty.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import load, prefetch, store
from checker.search.visited import hash_state, same_tail
from checker.spark.candidates import Arrivals

CAPACITY_MAX = 1 << 31
"""Slots of an index; a home is computed from 32 bits of the hash."""

_PRESENT = -(1 << 63)
_LOW_32 = (1 << 32) - 1
_AHEAD = 12
"""How many states ahead the memory of a home is asked for."""


@inlined
def home_of(state: int, words: int, capacity: int) -> int:
    """Return the home slot of the state at address `state`."""
    return int(((hash_state(state, words) & _LOW_32) * capacity) >> 32)


@inlined
def _find(table: int, capacity: int, words: int, state: int) -> int:
    """Return the address of the slot where a state stands, or of the free one where it belongs."""
    key = load(state) | _PRESENT
    place = home_of(state, words, capacity)
    while True:
        slot = table + 8 * words * place
        found = load(slot)
        if found == 0 or (found == key and same_tail(slot, state, words)):
            return int(slot)
        place += 1
        if place == capacity:
            place = 0


@compiled
def add(table: int, capacity: int, words: int, states: int, count: int) -> int:
    """Enter `count` states at address `states`; return how many were not there. There is room."""
    size = 8 * words
    added = 0
    for index in range(count):
        state = states + size * index
        if index + _AHEAD < count:
            prefetch(table + size * home_of(state + size * _AHEAD, words, capacity))
        slot = _find(table, capacity, words, state)
        if load(slot) == 0:
            store(slot, load(state) | _PRESENT)
            for word in range(1, words):
                store(slot + 8 * word, load(state + 8 * word))
            added += 1
    return added


@compiled
def absent(
    table: int,
    capacity: int,
    words: int,
    states: int,
    arrivals: Arrivals,
    left: int,
    left_arrivals: Arrivals,
) -> int:
    """Copy the states that the index does not hold to address `left`; return how many.

    There is one state at address `states` for each of `arrivals`, which are copied along.
    """
    size = 8 * words
    count = len(arrivals)
    kept = 0
    for index in range(count):
        state = states + size * index
        if index + _AHEAD < count:
            prefetch(table + size * home_of(state + size * _AHEAD, words, capacity))
        slot = _find(table, capacity, words, state)
        # Copied in any case: whether it is known cannot be foreseen by a processor.
        for word in range(words):
            store(left + size * kept + 8 * word, load(state + 8 * word))
        left_arrivals[kept] = arrivals[index]
        kept += 1 if load(slot) == 0 else 0
    return kept


@compiled
def move(source: int, start: int, end: int, words: int, table: int, capacity: int) -> int:
    """Enter the states in the slots `start` to `end` of one index into another; return how many."""
    size = 8 * words
    moved = 0
    for place in range(start, end):
        stored = source + size * place
        if load(stored) != 0:
            slot = _find(table, capacity, words, stored)
            for word in range(words):
                store(slot + 8 * word, load(stored + 8 * word))
            moved += 1
    return moved
