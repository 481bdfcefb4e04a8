"""The visited set of roots: 32 bits a state, exact.

A *root* is the pair of numbers of a state's halves (`halves.py`). What it is put into is not a
table of roots: where a slot stands says most of what its root is, and the slot only the rest
(J. G. Cleary, Compact hash tables using bidirectional linear probing, 1984, calls it quotienting).

The low bits of both numbers, as one number of 32 bits, are spread out by a function that can be
undone; the bits above them are in the slot as they are. What comes of it is the *place*: its first
bits name a segment of the table (`visited.py`), the others, times the number of the segment's
lines, a line, the *home*, and of the fraction that is left the slot has as many bits as tell the
places of one home apart. A root whose home is full stands some steps behind it, around the end, and
the slot says how many; how long a step is, 1 to 16 lines, is read from the slot, too (one line
each, full lines would soon stand in long rows). The bits that are left are the depth at which the
state was found: the table is the archive of the levels, too.

A slot, from its lowest bit on: the steps from home, plus one, so that no slot is 0; what is left of
the fraction; the high bits of the left number, and of the right one; the depth. How many bits each
of these has depends on how many lines there are, and is a *form*.
"""

from __future__ import annotations

from checker.frozen import frozen
from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import (
    HALF_LANES,
    compare_half_tags,
    load,
    load_half,
    lowest_bit,
    prefetch,
    store,
    store_half,
    take_half,
)
from checker.search.board import Numbers
from checker.search.visited import CROWDED, KNOWN, NEW, NO_ROOM, SEGMENT_BITS

HALF_BITS = 25
"""Bits of a root that number a half."""
ROOT_BITS = 2 * HALF_BITS
LOW_BITS = 16
"""Bits of a half's number that are part of the place."""
HIGH_BITS = HALF_BITS - LOW_BITS
"""Bits of a half's number that a slot may have to say."""
DEPTH_MAX = (1 << (63 - ROOT_BITS)) - 1
"""The greatest depth that fits beside a root in a word."""
LINE_BITS = 4
"""HALF_LANES slots are a line."""

_STEP_BITS = 5
_STEPS = (1 << _STEP_BITS) - 1
"""Lines in which a root may stand; further from home it is not looked for."""
_STRIDES = 16
"""Different lengths of steps, in lines."""
_PLACE_BITS = 2 * LOW_BITS - SEGMENT_BITS
"""Bits of a place within a segment."""
_SLOT_BITS = 32
_LINE = (1 << HALF_LANES) - 1
_LOW = (1 << LOW_BITS) - 1
_HIGH = (1 << HIGH_BITS) - 1
_ROOT = (1 << ROOT_BITS) - 1
_WITHIN = (1 << _PLACE_BITS) - 1
_WORD = (1 << _SLOT_BITS) - 1

_FIRST, _FIRST_UNDONE = 0x85EBCA6B, 0xA5CB9243
_SECOND, _SECOND_UNDONE = 0xC2B2AE35, 0x7ED1B41D
_FOLD = 0x9E3779B1

# What compiled code knows of a form.
_DROPPED = 0
"""Low bits of a fraction that say nothing."""
_LEFT = 1
_RIGHT = 2
"""Where in a slot the high bits of the numbers begin."""
_DEPTH = 3
"""Where the depth begins."""
FORM_SIZE = 4


@frozen()
class Form:
    """How many bits a slot has at least for the high bits of the left and right numbers, and depth.

    The more lines a segment has, the fewer bits its fractions need; so a form needs some lines.
    """

    left: int = 0
    right: int = 0
    depth: int = 5

    @property
    def lines_min(self) -> int:
        """Lines that a segment must have."""
        said = self.left + self.right + self.depth + _STEP_BITS + _PLACE_BITS
        return max(1 << max(said - _SLOT_BITS, 0), _STRIDES)

    def numbers(self, lines: int) -> list[int]:
        """Return what compiled code has to know where segments have so many lines."""
        dropped = lines.bit_length() - 1
        left = _STEP_BITS + _PLACE_BITS - dropped
        return [dropped, left, left + self.left, left + self.left + self.right]


def depth_max(form: Numbers) -> int:
    """Return the greatest depth that slots of this form can say."""
    return min(DEPTH_MAX, (1 << (_SLOT_BITS - int(form[_DEPTH]))) - 1)


@inlined
def root_in(word: int) -> int:
    """Return the root that is in a word, beside a depth."""
    return word & _ROOT


@inlined
def depth_in(word: int) -> int:
    """Return the depth that is in a word, beside a root."""
    return (word >> ROOT_BITS) & DEPTH_MAX


@inlined
def _folded(root: int) -> int:
    """Return 32 bits of the high bits of a root's numbers; 0 where those are 0."""
    return (((root >> LOW_BITS) & (_HIGH << HALF_BITS | _HIGH)) * _FOLD >> HIGH_BITS) & _WORD


@inlined
def _place_of(root: int) -> int:
    """Return the place of a root: 32 bits, each of which depends on every bit of the root."""
    low = ((root >> (HALF_BITS - LOW_BITS)) & (_LOW << LOW_BITS)) | (root & _LOW)
    value = low ^ _folded(root)
    value ^= value >> 16
    value = (value * _FIRST) & _WORD
    value ^= value >> 13
    value = (value * _SECOND) & _WORD
    return value ^ (value >> 16)


@inlined
def _root_of(place: int, high: int) -> int:
    """Return the root that has this place, and the high bits of `high`; `_place_of` undone."""
    value = place ^ (place >> 16)
    value = (value * _SECOND_UNDONE) & _WORD
    value ^= (value >> 13) ^ (value >> 26)
    value = (value * _FIRST_UNDONE) & _WORD
    value ^= value >> 16
    low = value ^ _folded(high)
    return high | ((low >> LOW_BITS) << HALF_BITS) | (low & _LOW)


@inlined
def _key_of(form: int, root: int, product: int) -> int:
    """Return what a slot says of a root in its home, but for the depth.

    `product` is what `_product` says of its place.
    """
    fraction = (product & _WITHIN) >> load(form + 8 * _DROPPED)
    left = ((root >> (HALF_BITS + LOW_BITS)) & _HIGH) << load(form + 8 * _LEFT)
    right = ((root >> LOW_BITS) & _HIGH) << load(form + 8 * _RIGHT)
    return 1 | fraction << _STEP_BITS | left | right


@inlined
def _stride(key: int) -> int:
    """Return the lines of a step, by what a slot says but for the depth."""
    return 1 + ((key >> _STEP_BITS) & (_STRIDES - 1))


@inlined
def _word_of(form: int, segment: int, line: int, lines: int, slot: int) -> int:
    """Return the root that is in a slot, and its depth, as one word.

    The slot is in line number `line` of the `lines` of segment number `segment`.
    """
    left, right, deep = load(form + 8 * _LEFT), load(form + 8 * _RIGHT), load(form + 8 * _DEPTH)
    dropped = load(form + 8 * _DROPPED)
    home = line - ((slot & _STEPS) - 1) * _stride(slot & ((1 << deep) - 1))
    while home < 0:
        home += lines
    fraction = (slot & ((1 << left) - 1)) >> _STEP_BITS
    # Places times lines lie at least 2**dropped apart, so one of them has this fraction.
    within = ((home << _PLACE_BITS) + (fraction << dropped) + lines - 1) // lines
    one = (slot & ((1 << right) - 1)) >> left
    two = (slot & ((1 << deep) - 1)) >> right
    high = one << (HALF_BITS + LOW_BITS) | two << LOW_BITS
    return (slot >> deep) << ROOT_BITS | _root_of(segment << _PLACE_BITS | within, high)


@inlined
def _segment(table: int, place: int, reserved_bits: int) -> int:
    """Return the address of the segment in which a root with this place stands."""
    return table + ((place >> _PLACE_BITS) << (reserved_bits + 2))


@inlined
def _product(place: int, lines: int) -> int:
    """Return a place within its segment times the lines of one: home, and what is left of it."""
    return (place & _WITHIN) * lines


@compiled
def ask_for(table: int, capacity: int, reserved_bits: int, roots: int, count: int) -> None:
    """Ask for the lines of the table in which roots are looked for."""
    lines = capacity >> LINE_BITS
    for index in range(count):
        place = _place_of(load(roots + 8 * index))
        home = _product(place, lines) >> _PLACE_BITS
        prefetch(_segment(table, place, reserved_bits) + (home << (LINE_BITS + 2)))


@inlined
def insert_root(
    table: int, capacity: int, reserved_bits: int, form: int, root: int, depth: int, may_add: bool
) -> int:
    """Look a root up, and add it with its depth if it `may_add`; what is said is as by `insert`.

    Safe for any number of threads at once: of several that bring the same root, one is told NEW.
    """
    place, lines = _place_of(root), capacity >> LINE_BITS
    segment, product = _segment(table, place, reserved_bits), _product(place, lines)
    line = product >> _PLACE_BITS
    key = _key_of(form, root, product)
    deep, stride = load(form + 8 * _DEPTH), _stride(key)
    steps = _STEPS
    while steps > 0:
        at = segment + (line << (LINE_BITS + 2))
        found = compare_half_tags(at, key, (1 << deep) - 1)
        if found & _LINE != 0:
            return KNOWN
        free = found >> HALF_LANES
        if free != 0:
            if not may_add:
                return NO_ROOM
            if take_half(at + 4 * lowest_bit(free), key | depth << deep) != 0:
                return NEW
            continue  # another thread took it: what the line holds has to be looked at again
        steps -= 1
        key += 1
        line += stride
        if line >= lines:
            line -= lines
    return CROWDED


@compiled
def gather(
    segment: int,
    number: int,
    capacity: int,
    form: int,
    first: int,
    last: int,
    places: int,
    out: int,
) -> None:
    """Write the roots of depths `first` to `last` in segment `number` to `out`.

    `places` has a word for each of these depths: how many roots stand before its next one.
    """
    lines, deep = capacity >> LINE_BITS, load(form + 8 * _DEPTH)
    for index in range(capacity):
        slot = load_half(segment + 4 * index)
        depth = slot >> deep
        if slot != 0 and depth >= first and depth <= last:
            at = places + 8 * (depth - first)
            word = _word_of(form, number, index >> LINE_BITS, lines, slot)
            store(out + 8 * load(at), root_in(word))
            store(at, load(at) + 1)


# --------------------------------------------------------------------------------------- growing


@inlined
def _settle(segment: int, lines: int, form: int, word: int, around: bool) -> bool:
    """Put a root with its depth into the first free slot from its home on, or `around` the end."""
    root = root_in(word)
    product = _product(_place_of(root), lines)
    line = product >> _PLACE_BITS
    key = _key_of(form, root, product)
    slot, stride = key | depth_in(word) << load(form + 8 * _DEPTH), _stride(key)
    for _ in range(_STEPS):
        if line >= lines:
            if not around:
                return False
            line -= lines
        at = segment + (line << (LINE_BITS + 2))
        free = compare_half_tags(at, 0, _WORD) >> HALF_LANES
        if free != 0:
            store_half(at + 4 * lowest_bit(free), slot)
            return True
        line += stride
        slot += 1
    return False


@inlined
def _home(word: int, lines: int) -> int:
    """Return the first slot of the home of the root that is in a word."""
    return (_product(_place_of(root_in(word)), lines) >> _PLACE_BITS) << LINE_BITS


@compiled
def spread_roots(
    segment: int,
    number: int,
    capacity: int,
    target: int,
    old: int,
    new: int,
    chunk: int,
    taken: int,
    spill: int,
    spilled: int,
) -> int:
    """Rearrange segment `number` from `capacity` slots of a form to `target` of another, in place.

    There are not fewer of them; those from `capacity` on are zero. `chunk` slots, whole lines, are
    taken out at a time, to `taken`, from the end on; what has its new home below them, or would
    have to go around the end, waits in `spill`, which has room for all, and begins with `spilled`
    that belong here, too. Both hold words.
    Return how many roots found no slot near enough to their homes; they are in `spill` then.
    """
    lines, before = target >> LINE_BITS, capacity >> LINE_BITS
    end = capacity
    while end > 0:
        start = max(0, end - chunk)
        count = 0
        for index in range(start, end):
            slot = load_half(segment + 4 * index)
            if slot != 0:
                word = _word_of(old, number, index >> LINE_BITS, before, slot)
                store(taken + 8 * count, word)
                store_half(segment + 4 * index, 0)
                count += 1
        for index in range(count):
            word = load(taken + 8 * index)
            if _home(word, lines) < start or not _settle(segment, lines, new, word, False):
                store(spill + 8 * spilled, word)
                spilled += 1
        end = start
    lost = 0
    for index in range(spilled):
        word = load(spill + 8 * index)
        if not _settle(segment, lines, new, word, True):
            store(spill + 8 * lost, word)
            lost += 1
    return lost
