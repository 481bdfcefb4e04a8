"""States in halves, compiled: one word a state, exact.

A *split* cuts a state in two by a mask. Each half is kept once, in a dictionary of its own, where
it has a number (`indexed.py`); of states there are many, of halves few. A state's *root* is the
pair of the numbers of its halves. The visited table holds roots, and the depths at which they were
found (`roots.py`): it is the visited set and the archive of levels in one, and the queue holds the
roots of those levels only that are being worked on.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import bits_set, fetch_add, load, prefetch_read, store
from checker.search.indexed import announce, foresee, number_of
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
def _cut(split: int, side: int, words: int, states: int, count: int, halves: int) -> int:
    """Write a side's halves of at most GROUP states, but those that equal the one before.

    Return which they are: bit i says that the half of state number i is one more. Before `halves`
    there is room for one that is not looked at.
    """
    mask = load(split + 8 * MASK)
    others = -side
    size = 8 * words
    written = 0
    more = 0
    for index in range(count):
        # Written in any case: which halves are the same cannot be foreseen by a processor.
        place = halves + size * written
        unlike = 0
        for word in range(words):
            value = load(states + size * index + 8 * word) & (load(mask + 8 * word) ^ others)
            store(place + 8 * word, value)
            unlike |= value ^ load(place - size + 8 * word)
        new = 1 if written == 0 or unlike != 0 else 0
        more |= new << index
        written += new
    return more


@inlined
def _find(
    split: int, cutter: int, side: int, words: int, halves: int, count: int, hashes: int
) -> None:
    """Put the numbers of halves in the place of `hashes`; -1 where there is no room for one."""
    at = split + 8 * (FIRST_SIDE + SIDE * side)
    table, capacity = load(at + 8 * TABLE), load(at + 8 * CAPACITY)
    bits, entries = load(at + 8 * RESERVED_BITS), load(at + 8 * ENTRIES)
    for index in range(count):
        foresee(table, load(hashes + 8 * index), capacity, bits, words, entries)
    for index in range(count):
        half = halves + 8 * words * index
        number = _number(split, cutter, side, load(hashes + 8 * index), words, half)
        store(hashes + 8 * index, number)


@inlined
def _announce(split: int, side: int, words: int, halves: int, count: int, hashes: int) -> None:
    at = split + 8 * (FIRST_SIDE + SIDE * side)
    table, capacity = load(at + 8 * TABLE), load(at + 8 * CAPACITY)
    announce(table, capacity, load(at + 8 * RESERVED_BITS), words, halves, count, hashes)


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
    """Do what `write_roots` says.

    Successors of a state often have a half in common with the one before, which is looked up once.
    """
    left, right = load(cutter + 8 * LEFT), load(cutter + 8 * RIGHT)
    left_numbers, right_numbers = load(cutter + 8 * LEFT_HASHES), load(cutter + 8 * RIGHT_HASHES)
    size = 8 * words
    first = 0
    while first < count:
        taken = min(GROUP, count - first)
        more_left = _cut(split, 0, words, states + size * first, taken, left)
        more_right = _cut(split, 1, words, states + size * first, taken, right)
        lefts, rights = bits_set(more_left), bits_set(more_right)
        _announce(split, 0, words, left, lefts, left_numbers)
        _announce(split, 1, words, right, rights, right_numbers)
        _find(split, cutter, 0, words, left, lefts, left_numbers)
        _find(split, cutter, 1, words, right, rights, right_numbers)
        one, two = left_numbers - 8, right_numbers - 8
        for index in range(taken):
            one += 8 * ((more_left >> index) & 1)
            two += 8 * ((more_right >> index) & 1)
            root = load(one) << HALF_BITS | load(two)
            if root < 0:
                return first + index
            store(roots + 8 * (first + index), root)
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
