"""States in halves, compiled: one word a state, exact.

A *split* cuts a state in two by a mask. Each half is kept once, in a dictionary of its own, where
it has a number (`indexed.py`); of states there are many, of halves few. A state's *root* is the
pair of the numbers of its halves. The visited table holds roots, and the depths at which they were
found (`roots.py`): it is the visited set and the archive of levels in one, and the queue holds the
roots of those levels only that are being worked on.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import fetch_add, load, prefetch_read, store
from checker.search.indexed import announce, foresee, number_of, same_state
from checker.search.roots import HALF_BITS
from checker.search.visited import NEW

GROUP = 64
"""States that are cut at a time: so far ahead are the lines of the dictionaries asked for."""

# Places of a split, the array that says how states are cut and where halves are. What a side's
# dictionary is stands at SIDE * side.
MASK = 0
"""Address of the mask: the bits of a state that the left half has."""
SPLIT_WORDS = 1
DEPTH = 2
"""Depth of the states that are found now."""
FORM = 3
"""Address of what is known of the form of the table's slots (`roots.py`)."""
SIDE = 16
TABLE = 0
CAPACITY = 1
RESERVED_BITS = 2
ENTRIES = 3
ROOM = 4
"""Halves that there is room for."""
TAIL = 8
"""Numbers that threads have taken."""
FIRST_SIDE = 8
SPLIT_SIZE = FIRST_SIDE + 2 * SIDE

# Places of a thread's cutter: its buffers, and the numbers that are its own.
OWN = 0
"""By side: the number that this thread gives to its next new half; -1 where it has none."""
LEFT = 2
RIGHT = 3
"""Addresses of buffers for GROUP halves."""
LEFT_HASHES = 4
RIGHT_HASHES = 5
SOURCES = 6
"""Address of a buffer for a block of states, put together from their roots."""
FRESH = 7
"""Address of a buffer for as many new states as are checked in one call."""
LOCATED = 8
"""Successors, from the first on, whose roots are known."""
CUTTER_SIZE = 9

_HALF = (1 << HALF_BITS) - 1


@inlined
def _number(split: int, cutter: int, side: int, value: int, words: int, half: int) -> int:
    """Return the number of a half, a new one if need be; -1 where there is no room for it."""
    at = split + 8 * (FIRST_SIDE + SIDE * side)
    own = load(cutter + 8 * (OWN + side))
    may_add = own >= 0 and own < load(at + 8 * ROOM)
    found = number_of(
        load(at + 8 * TABLE),
        value,
        load(at + 8 * CAPACITY),
        load(at + 8 * RESERVED_BITS),
        words,
        half,
        load(at + 8 * ENTRIES),
        own,
        may_add,
    )
    if found == -NEW:
        store(cutter + 8 * (OWN + side), fetch_add(at + 8 * TAIL, 1))
        return own
    return found if found >= 0 else -1


@inlined
def _announce(split: int, side: int, words: int, halves: int, count: int, hashes: int) -> None:
    at = split + 8 * (FIRST_SIDE + SIDE * side)
    table, capacity = load(at + 8 * TABLE), load(at + 8 * CAPACITY)
    announce(table, capacity, load(at + 8 * RESERVED_BITS), words, halves, count, hashes)


@inlined
def _foresee(split: int, side: int, words: int, value: int) -> None:
    at = split + 8 * (FIRST_SIDE + SIDE * side)
    table, capacity, bits = (
        load(at + 8 * TABLE),
        load(at + 8 * CAPACITY),
        load(at + 8 * RESERVED_BITS),
    )
    foresee(table, value, capacity, bits, words, load(at + 8 * ENTRIES))


@inlined
def _cut(split: int, words: int, states: int, count: int, left: int, right: int) -> None:
    """Write the halves of states to two buffers."""
    mask = load(split + 8 * MASK)
    for word in range(words):
        taken = load(mask + 8 * word)
        for index in range(count):
            place = 8 * (words * index + word)
            value = load(states + place)
            store(left + place, value & taken)
            store(right + place, value & (taken ^ -1))


@compiled
def write_roots(split: int, cutter: int, states: int, count: int, roots: int) -> int:
    """Write the roots of states; return of how many: a dictionary may have no room for more."""
    words = load(split + 8 * SPLIT_WORDS)
    if words == 2:
        return int(_write_roots(split, cutter, 2, states, count, roots))
    if words == 3:
        return int(_write_roots(split, cutter, 3, states, count, roots))
    if words == 4:
        return int(_write_roots(split, cutter, 4, states, count, roots))
    return int(_write_roots(split, cutter, words, states, count, roots))


@inlined
def _write_roots(split: int, cutter: int, words: int, states: int, count: int, roots: int) -> int:
    left, right = load(cutter + 8 * LEFT), load(cutter + 8 * RIGHT)
    left_hashes, right_hashes = load(cutter + 8 * LEFT_HASHES), load(cutter + 8 * RIGHT_HASHES)
    size = 8 * words
    first = 0
    while first < count:
        taken = min(GROUP, count - first)
        _cut(split, words, states + size * first, taken, left, right)
        _announce(split, 0, words, left, taken, left_hashes)
        _announce(split, 1, words, right, taken, right_hashes)
        for index in range(taken):
            _foresee(split, 0, words, load(left_hashes + 8 * index))
            _foresee(split, 1, words, load(right_hashes + 8 * index))
        one, two = -1, -1
        for index in range(taken):
            # Successors of a state often have a half in common with the one before.
            place = size * index
            if one < 0 or not same_state(left + place, left + place - size, words):
                hashed = load(left_hashes + 8 * index)
                one = _number(split, cutter, 0, hashed, words, left + place)
            if two < 0 or not same_state(right + place, right + place - size, words):
                hashed = load(right_hashes + 8 * index)
                two = _number(split, cutter, 1, hashed, words, right + place)
            if one < 0 or two < 0:
                return first + index
            store(roots + 8 * (first + index), one << HALF_BITS | two)
        first += taken
    return count


@compiled
def read_roots(split: int, roots: int, count: int, states: int) -> None:
    """Put states together from their roots."""
    words = load(split + 8 * SPLIT_WORDS)
    lefts = load(split + 8 * (FIRST_SIDE + ENTRIES))
    rights = load(split + 8 * (FIRST_SIDE + SIDE + ENTRIES))
    size = 8 * words
    for index in range(count):
        root = load(roots + 8 * index)
        prefetch_read(lefts + size * ((root >> HALF_BITS) & _HALF))
        prefetch_read(rights + size * (root & _HALF))
    for index in range(count):
        root = load(roots + 8 * index)
        one = lefts + size * ((root >> HALF_BITS) & _HALF)
        two = rights + size * (root & _HALF)
        for word in range(words):
            store(states + size * index + 8 * word, load(one + 8 * word) | load(two + 8 * word))
