"""The visited set's compiled half: whole packed states in one open-addressing table.

The table is `SEGMENTS` segments, each the beginning of its own large piece of reserved address
space, all of the same `capacity` in slots of `words` words. A state's hash names its segment (top
bits) and its home slot there; it stands in the first free slot from its home on, around the end.
Where slots fill cache lines evenly, a home is the first slot of a line, and a line is looked at
as a whole: what is in it is found, or not, without a branch for each slot.
Home slots rise with the hash at every capacity, so a segment grows in place (`spreading.py`): read
from its end backwards, almost every state moves up. No second table ever exists, and a table can
grow by any factor, not only two.

Word 0 of a state has bit 63 clear. It is stored with bit 63 set, so that 0 means empty, and 1
that a thread is writing the slot's other words.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import (
    LANES,
    compare_and_swap,
    compare_line,
    load,
    load_acquire,
    lowest_bit,
    prefetch,
    store,
    store_release,
)

SEGMENT_BITS = 4
SEGMENTS = 1 << SEGMENT_BITS
CAPACITY_MAX = 1 << 31
"""Slots of a segment; a home slot is computed from 32 bits of the hash."""

KNOWN = 0
NEW = 1
NO_ROOM = 2
CROWDED = 3
"""What `insert` says: the state was there; it was added; it is absent and was not to be added;
the segment is full."""

_FIRST_WORDS = (0, 0b11111111, 0b01010101, 0, 0b00010001)
"""By words of a state: which words of a line are first words of slots."""

_PRESENT = -(1 << 63)
_WITHOUT_PRESENT = (1 << 63) - 1
_BUSY = 1
_LOW_31 = (1 << 31) - 1
_LOW_32 = (1 << 32) - 1


@inlined
def mix(word: int) -> int:
    """Return a 64-bit hash of a word: every bit of it decides about every bit of the hash."""
    word ^= (word >> 33) & _LOW_31
    word *= -49064778989728563
    word ^= (word >> 33) & _LOW_31
    word *= -4265267296055464877
    word ^= (word >> 33) & _LOW_31
    return word


@inlined
def hash_state(state: int, words: int) -> int:
    """Return the hash of the state of `words` words at address `state`, stored or not."""
    value = load(state) & _WITHOUT_PRESENT
    for word in range(1, words):
        value *= -7046029254386353131
        value ^= (value >> 32) & _LOW_32
        value ^= load(state + 8 * word)
    return int(mix(value))


@inlined
def home_in_segment(value: int, capacity: int, words: int) -> int:
    """Return the home slot, within its segment, of a state whose hash is `value`."""
    slot = (((value >> (32 - SEGMENT_BITS)) & _LOW_32) * capacity) >> 32
    return slot & -(LANES // words) if _fills_lines(words) else slot


@inlined
def home_slot(value: int, capacity: int, reserved_bits: int, words: int) -> int:
    """Return the home slot, within the table, of a state whose hash is `value`."""
    segment = (value >> (64 - SEGMENT_BITS)) & (SEGMENTS - 1)
    return (segment << reserved_bits) + int(home_in_segment(value, capacity, words))


@inlined
def _fills_lines(words: int) -> bool:
    """Whether a cache line holds a whole number of slots, and more than one."""
    return words in (1, 2, 4)


@compiled
def locate(
    table: int, capacity: int, reserved_bits: int, words: int, states: int, count: int, slots: int
) -> None:
    """Write the home slots of `count` states to `slots` and ask for their cache lines."""
    if words == 1:
        _locate(table, capacity, reserved_bits, 1, states, count, slots)
    elif words == 2:
        _locate(table, capacity, reserved_bits, 2, states, count, slots)
    elif words == 3:
        _locate(table, capacity, reserved_bits, 3, states, count, slots)
    else:
        _locate(table, capacity, reserved_bits, words, states, count, slots)


@inlined
def _locate(
    table: int, capacity: int, reserved_bits: int, words: int, states: int, count: int, slots: int
) -> None:
    for index in range(count):
        value = hash_state(states + 8 * words * index, words)
        slot = home_slot(value, capacity, reserved_bits, words)
        store(slots + 8 * index, slot)
        prefetch(table + 8 * words * slot)


@inlined
def same_tail(left: int, right: int, words: int) -> bool:
    """Whether two states of equal first words are equal in the others."""
    for word in range(1, words):  # noqa: SIM110 (a generator would be an object)
        if load(left + 8 * word) != load(right + 8 * word):
            return False
    return True


@inlined
def insert(
    table: int, slot: int, capacity: int, reserved_bits: int, words: int, state: int, may_add: bool
) -> int:
    """Look the state at address `state` up from its home `slot` on, and add it if it `may_add`.

    Safe for any number of threads at once: of several that bring the same state, one is told NEW.
    """
    start = (slot >> reserved_bits) << reserved_bits
    end = start + capacity
    in_lines = _fills_lines(words)
    seen = 0
    while seen < capacity:
        if in_lines and slot + LANES // words <= end:
            outcome = _insert_in_line(table + 8 * words * slot, words, state, may_add)
            step = LANES // words
        else:
            outcome = _insert_in_slot(table + 8 * words * slot, words, state, may_add)
            step = 1
        if outcome != CROWDED:
            return int(outcome)
        slot += step
        seen += step
        if slot == end:
            slot = start
    return CROWDED


@inlined
def is_at_home(table: int, slot: int, state: int) -> bool:
    """Whether the state of one word at address `state` stands in the line of its home `slot`.

    If that line is full of others the next one is asked for. What lies beyond the end of a segment
    is never a state.
    """
    line = table + 8 * slot
    found = compare_line(line, load(state) | _PRESENT, _BUSY)
    free = (found >> LANES) & _FIRST_WORDS[1]
    prefetch(line + (8 * LANES if free == 0 else 0))
    return found & _FIRST_WORDS[1] != 0


@inlined
def _insert_in_line(line: int, words: int, state: int, may_add: bool) -> int:
    """Do the work of `insert` in the line at address `line`; CROWDED where it is full of others.

    A slot that is taken never becomes free, so the first that is free is where the state belongs,
    and if it is taken before we take it, all there is to do is to look again.
    """
    key = load(state) | _PRESENT
    while True:
        found = compare_line(line, key, _BUSY)
        same = found & _FIRST_WORDS[words]
        while same != 0:
            # Its other words may have been read before they were written.
            place = line + 8 * lowest_bit(same)
            if words == 1 or (load_acquire(place) == key and same_tail(place, state, words)):
                return KNOWN
            same &= same - 1
        if words > 1 and (found >> (2 * LANES)) & _FIRST_WORDS[words] != 0:
            continue  # it may be this state that is being written
        free = (found >> LANES) & _FIRST_WORDS[words]
        if free == 0:
            return CROWDED
        if not may_add:
            return NO_ROOM
        if _take(line + 8 * lowest_bit(free), words, state, key) == 0:
            return NEW


@inlined
def _insert_in_slot(place: int, words: int, state: int, may_add: bool) -> int:
    """Do the work of `insert` in the slot at address `place`; CROWDED where another state is."""
    key = load(state) | _PRESENT
    found = load_acquire(place)
    if found == 0:
        if not may_add:
            return NO_ROOM
        found = _take(place, words, state, key)
        if found == 0:
            return NEW
    while found == _BUSY:
        found = load_acquire(place)
    return KNOWN if found == key and same_tail(place, state, words) else CROWDED


@inlined
def _take(place: int, words: int, state: int, key: int) -> int:
    """Write a state into the slot at `place` if it is free; return what its first word was."""
    if words == 1:
        return int(compare_and_swap(place, 0, key))
    found = compare_and_swap(place, 0, _BUSY)
    if found == 0:
        for word in range(1, words):
            store(place + 8 * word, load(state + 8 * word))
        store_release(place, key)
    return int(found)
