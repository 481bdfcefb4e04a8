"""States in halves, compiled: one word a state, exact.

A *split* cuts a state in two by a mask. Each half is kept once, in a dictionary of its own, where
it has a number (`indexed.py`); of states there are many, of halves few. A state's *root* is the
pair of the numbers of its halves. A slot of the visited table is the root and the depth at which
the state was found: the table is the visited set and the archive of levels in one, and the queue
holds the roots of those levels only that are being worked on.

The table's segments and homes are those of `visited.py`; a line is always looked at as a whole.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import (
    LANES,
    compare_and_swap,
    compare_tags,
    fetch_add,
    load,
    lowest_bit,
    prefetch,
    prefetch_read,
    store,
)
from checker.search.indexed import announce, foresee, number_of, same_state
from checker.search.visited import CROWDED, KNOWN, NEW, NO_ROOM, home_slot, mix

HALF_BITS = 25
"""Bits of a root that number a half."""
ROOT_BITS = 2 * HALF_BITS
DEPTH_MAX = (1 << (63 - ROOT_BITS)) - 1
"""The greatest depth that fits beside a root."""
GROUP = 64
"""States that are cut at a time: so far ahead are the lines of the dictionaries asked for."""

# Places of a split, the array that says how states are cut and where halves are. What a side's
# dictionary is stands at SIDE * side.
MASK = 0
"""Address of the mask: the bits of a state that the left half has."""
SPLIT_WORDS = 1
DEPTH = 2
"""Depth of the states that are found now."""
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

_PRESENT = -(1 << 63)
_LINE = (1 << LANES) - 1
_HALF = (1 << HALF_BITS) - 1
_ROOT = (1 << ROOT_BITS) - 1
_SLOT = _PRESENT | _ROOT


@inlined
def root_in(slot: int) -> int:
    """Return the root that is in a slot."""
    return slot & _ROOT


@inlined
def depth_in(slot: int) -> int:
    """Return the depth that is in a slot."""
    return (slot >> ROOT_BITS) & DEPTH_MAX


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
def ask_for(table: int, capacity: int, reserved_bits: int, roots: int, count: int) -> None:
    """Ask for the lines of the table in which roots are looked for."""
    for index in range(count):
        value = mix(load(roots + 8 * index))
        prefetch(table + 8 * home_slot(value, capacity, reserved_bits, 1))


@inlined
def insert_root(
    table: int, capacity: int, reserved_bits: int, root: int, depth: int, may_add: bool
) -> int:
    """Look a root up, and add it with its depth if it `may_add`; what is said is as by `insert`.

    Safe for any number of threads at once: of several that bring the same root, one is told NEW.
    """
    slot = home_slot(mix(root), capacity, reserved_bits, 1)
    start = (slot >> reserved_bits) << reserved_bits
    seen = 0
    while seen < capacity:
        line = table + 8 * slot
        found = compare_tags(line, _PRESENT | root, _SLOT)
        if found & _LINE != 0:
            return KNOWN
        free = (found >> LANES) & _LINE
        if free != 0:
            if not may_add:
                return NO_ROOM
            taken = _PRESENT | (depth << ROOT_BITS) | root
            if compare_and_swap(line + 8 * lowest_bit(free), 0, taken) == 0:
                return NEW
            continue  # another thread took it: what the line holds has to be looked at again
        seen += LANES
        slot += LANES
        if slot == start + capacity:
            slot = start
    return CROWDED


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


@compiled
def gather(segment: int, capacity: int, first: int, last: int, places: int, out: int) -> None:
    """Write the roots of depths `first` to `last` in a segment to `out`, where `places` says.

    `places` has a word for each of these depths: how many roots stand before its next one.
    """
    for place in range(capacity):
        slot = load(segment + 8 * place)
        depth = depth_in(slot)
        if slot != 0 and depth >= first and depth <= last:
            at = places + 8 * (depth - first)
            store(out + 8 * load(at), root_in(slot))
            store(at, load(at) + 1)
