"""The visited set of states of several words: a table of one word a state, an index into the queue.

A state stands in the queue only. A slot of the table holds the state's number there and as many
bits of its hash as fit beside it, its *tag*: where a tag is equal, the state is compared whole, so
nothing is ever taken for something else. A table of whole states, as `visited.py` has it, is
several times as large, and most look-ups would touch memory that no other look-up has touched.

The table's segments are those of `visited.py`. A home is the first slot of a cache line, and a
line is looked at as a whole. The bits of a hash that name a home are in the tag, and homes rise
with it, so that a segment grows in place without a look at any state.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import (
    LANES,
    compare_and_swap,
    compare_tags,
    load,
    load_acquire,
    lowest_bit,
    prefetch,
    prefetch_read,
    store,
)
from checker.search.visited import CROWDED, KNOWN, NEW, NO_ROOM, SEGMENT_BITS, SEGMENTS, hash_state

NUMBER_BITS = 34
"""Bits of a slot that are a state's number; an index is given up before there are more states."""
TAG_BITS = 63 - NUMBER_BITS
"""Bits of a slot that are of the hash; the one that is left says that the slot is taken."""

_PRESENT = -(1 << 63)
_NUMBER = (1 << NUMBER_BITS) - 1
_ABOVE = -(1 << NUMBER_BITS)
_TAG = (1 << TAG_BITS) - 1
_LINE = (1 << LANES) - 1


@inlined
def tagged(value: int) -> int:
    """Return the slot of state number 0 where its hash is `value`."""
    return _PRESENT | (((value >> (64 - SEGMENT_BITS - TAG_BITS)) & _TAG) << NUMBER_BITS)


@inlined
def home_of(slot: int, capacity: int) -> int:
    """Return the home, within a segment of `capacity` slots, of what is in a slot."""
    tag = (slot >> NUMBER_BITS) & _TAG
    return int(((tag * (capacity >> 3)) >> TAG_BITS) << 3)


@inlined
def _segment(table: int, value: int, reserved_bits: int) -> int:
    """Return the address of the segment of a state whose hash is `value`."""
    segment = (value >> (64 - SEGMENT_BITS)) & (SEGMENTS - 1)
    return table + (segment << (reserved_bits + 3))


@compiled
def announce(
    table: int, capacity: int, reserved_bits: int, words: int, states: int, count: int, hashes: int
) -> None:
    """Write the hashes of `count` states to `hashes` and ask for the cache lines of their homes."""
    if words == 2:
        _announce(table, capacity, reserved_bits, 2, states, count, hashes)
    elif words == 3:
        _announce(table, capacity, reserved_bits, 3, states, count, hashes)
    elif words == 4:
        _announce(table, capacity, reserved_bits, 4, states, count, hashes)
    else:
        _announce(table, capacity, reserved_bits, words, states, count, hashes)


@inlined
def _announce(
    table: int, capacity: int, reserved_bits: int, words: int, states: int, count: int, hashes: int
) -> None:
    for index in range(count):
        value = hash_state(states + 8 * words * index, words)
        store(hashes + 8 * index, value)
        home = home_of(tagged(value), capacity)
        prefetch(_segment(table, value, reserved_bits) + 8 * home)


@inlined
def foresee(
    table: int, value: int, capacity: int, reserved_bits: int, words: int, queue: int
) -> int:
    """Ask for the state in the queue that a look-up of the hash `value` will compare first.

    Return its number, or -1 if the line of its home holds none with its tag. If the line is full
    the next one is asked for.
    """
    key = tagged(value)
    line = _segment(table, value, reserved_bits) + 8 * home_of(key, capacity)
    found = compare_tags(line, key, _ABOVE)
    prefetch(line + (8 * LANES if found == 0 else 0))
    same = found & _LINE
    number = load_acquire(line + 8 * lowest_bit(same | 1 << (LANES - 1))) & _NUMBER
    prefetch_read(queue + 8 * words * number)
    return int(number) if same != 0 else -1


@inlined
def look_up(
    table: int,
    value: int,
    capacity: int,
    reserved_bits: int,
    words: int,
    state: int,
    queue: int,
    number: int,
    may_add: bool,
) -> int:
    """Look up the state at address `state`, whose hash is `value`; add it if it `may_add`.

    It is written to the queue then, where it becomes state `number`, which is the caller's alone.
    Safe for any number of threads at once: of several that bring the same state, one is told NEW.
    """
    found = number_of(table, value, capacity, reserved_bits, words, state, queue, number, may_add)
    return KNOWN if found >= 0 else int(-found)


@inlined
def number_of(
    table: int,
    value: int,
    capacity: int,
    reserved_bits: int,
    words: int,
    state: int,
    queue: int,
    number: int,
    may_add: bool,
) -> int:
    """Do what `look_up` does; return the number of a state that was there, or minus the outcome."""
    key = tagged(value)
    segment = _segment(table, value, reserved_bits)
    place = home_of(key, capacity)
    seen = 0
    while seen < capacity:
        line = segment + 8 * place
        found = _look_in_line(line, key, words, state, queue, number, may_add)
        if found != -CROWDED:
            return int(found)
        seen += LANES
        place += LANES
        if place == capacity:
            place = 0
    return -CROWDED


@inlined
def _look_in_line(
    line: int, key: int, words: int, state: int, queue: int, number: int, may_add: bool
) -> int:
    """Do the work of `number_of` in the line at address `line`; it may be full of others.

    A slot that is taken never becomes free, so the first that is free is where the state belongs,
    and if it is taken before we take it, all there is to do is to look again. A slot is taken
    when its state stands in the queue already.
    """
    while True:
        found = compare_tags(line, key, _ABOVE)
        same = found & _LINE
        while same != 0:
            known = load_acquire(line + 8 * lowest_bit(same)) & _NUMBER
            if differs(queue + 8 * words * known, state, words) == 0:
                return int(known)
            same &= same - 1
        free = (found >> LANES) & _LINE
        if free == 0:
            return -CROWDED
        if not may_add:
            return -NO_ROOM
        for word in range(words):
            store(queue + 8 * (words * number + word), load(state + 8 * word))
        if compare_and_swap(line + 8 * lowest_bit(free), 0, key | number) == 0:
            return -NEW


@inlined
def differs(left: int, right: int, words: int) -> int:
    """Return 0 where two states are equal; all words are read, so there is nothing to foresee."""
    bits = 0
    for word in range(words):
        bits |= load(left + 8 * word) ^ load(right + 8 * word)
    return bits


@compiled
def renumber(
    table: int, capacity: int, reserved_bits: int, words: int, state: int, number: int, new: int
) -> bool:
    """Let the state at address `state`, number `number` so far, be number `new`; it is there."""
    value = hash_state(state, words)
    segment = _segment(table, value, reserved_bits)
    slot = tagged(value) | number
    place = home_of(slot, capacity)
    for _ in range(capacity):
        if load(segment + 8 * place) == slot:
            store(segment + 8 * place, tagged(value) | new)
            return True
        place += 1
        if place == capacity:
            place = 0
    return False
