"""The compiled half of comparing graphs: steps in order, states that behave alike, the product.

The steps of state s are `offsets[s]:offsets[s + 1]` of two arrays: what is seen of each step, a
number, and where it leads, negative where that is no state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.llvm.compiled import compiled, inlined
from checker.search.board import Numbers
from checker.search.visited import mix

NONE = -1
# Places of `found` in `walk_product`: the pair at which a side has a step of its own, and the step.
OLD_PAIR = 0
OLD_STEP = 1
NEW_PAIR = 2
NEW_STEP = 3
PLACES = 4
# Places of its `progress`: how many pairs were looked at, and how many there are.
LOOKED_AT = 0
KNOWN = 1

_OTHER = 0x9E3779B97F4A7


@inlined
def _sort(keys: Numbers, targets: NDArray[np.int32], first: int, last: int) -> None:
    """Sort some steps by what is seen, then by where they lead (D. L. Shell, 1959)."""
    gap = last - first
    while gap > 1:
        gap = gap >> 1
        for place in range(first + gap, last):
            key = keys[place]
            target = int(targets[place])
            here = place
            moving = True
            while moving:
                moving = False
                if here - gap >= first:
                    before = keys[here - gap]
                    there = int(targets[here - gap])
                    moving = before > key or (before == key and there > target)
                    if moving:
                        keys[here] = before
                        targets[here] = there
                        here -= gap
            keys[here] = key
            targets[here] = target


@compiled
def sort_steps(offsets: Numbers, keys: Numbers, targets: NDArray[np.int32]) -> None:
    """Sort the steps of each state."""
    for state in range(len(offsets) - 1):
        _sort(keys, targets, offsets[state], offsets[state + 1])


@compiled
def refine(
    offsets: Numbers,
    calls: NDArray[np.int32],
    targets: NDArray[np.int32],
    blocks: NDArray[np.int32],
    count: int,
    codes: Numbers,
    order: NDArray[np.int32],
    widths: NDArray[np.int32],
    index: NDArray[np.int32],
    fresh: NDArray[np.int32],
) -> int:
    """Split blocks by what steps lead to which blocks; return how many there are then.

    `blocks` are those of the `count` before, `fresh` gets the new ones, numbered as their first
    states come. Afterwards the first `widths[s]` of the `codes` from `offsets[s]` on are the
    different steps of state s: call * (count + 2) + block of the target + 2. `index` is a power of
    two of places, more than states, and zero before; `order` is as long as the steps.
    """
    mask = len(index) - 1
    made = 0
    for state in range(len(offsets) - 1):
        first = offsets[state]
        last = offsets[state + 1]
        for step in range(first, last):
            target = int(targets[step])
            block = target
            if target >= 0:
                block = int(blocks[target])
            codes[step] = calls[step] * (count + 2) + block + 2
            order[step] = 0
        _sort(codes, order, first, last)
        width = 0
        value = int(blocks[state])
        for step in range(first, last):
            code = codes[step]
            if width == 0 or codes[first + width - 1] != code:
                codes[first + width] = code
                width += 1
                value = mix(value * _OTHER + code)
        widths[state] = width
        place = mix(value) & mask
        known = NONE
        while known == NONE and index[place] != 0:
            other = int(index[place]) - 1
            alike = blocks[other] == blocks[state] and widths[other] == width
            if alike:
                begin = offsets[other]
                k = 0
                while alike and k < width:
                    alike = codes[begin + k] == codes[first + k]
                    k += 1
            if alike:
                known = other
            else:
                place = (place + 1) & mask
        if known == NONE:
            index[place] = state + 1
            fresh[state] = made
            made += 1
        else:
            fresh[state] = fresh[known]
    return made


@inlined
def _home(pair: int, mask: int) -> int:
    return mix(pair * _OTHER) & mask


@compiled
def place_pairs(pairs: Numbers, count: int, index: NDArray[np.int32]) -> None:
    """Enter the first `count` pairs in an index that is zero."""
    mask = len(index) - 1
    for number in range(count):
        place = _home(pairs[number], mask)
        while index[place] != 0:
            place = (place + 1) & mask
        index[place] = number + 1


@compiled
def walk_product(
    old_offsets: Numbers,
    old_keys: Numbers,
    old_targets: NDArray[np.int32],
    new_offsets: Numbers,
    new_keys: Numbers,
    new_targets: NDArray[np.int32],
    same: int,
    pairs: Numbers,
    parents: NDArray[np.int32],
    index: NDArray[np.int32],
    progress: Numbers,
    found: Numbers,
) -> None:
    """Walk both graphs at once, breadth first, until each side has a step that the other has not.

    On each side what is seen of a step says where it leads. A pair is two states, the old one in
    the upper half. `progress` stands still where there is no room for more pairs. `same`: states
    with one number behave alike.
    """
    mask = len(index) - 1
    low = (1 << 32) - 1
    head = progress[LOOKED_AT]
    tail = progress[KNOWN]
    room = True
    while room and head < tail and (found[OLD_PAIR] == NONE or found[NEW_PAIR] == NONE):
        old = pairs[head] >> 32
        new = pairs[head] & low
        i = old_offsets[old]
        j = new_offsets[new]
        old_last = old_offsets[old + 1]
        new_last = new_offsets[new + 1]
        # No more steps than either side has: is there room for all of them?
        if tail + (old_last - i) > len(pairs):
            room = False
        while room and (i < old_last or j < new_last):
            side = 0
            if i == old_last:
                side = 1
            elif j == new_last or old_keys[i] < new_keys[j]:
                side = -1
            elif old_keys[i] > new_keys[j]:
                side = 1
            if side < 0:
                if found[OLD_PAIR] == NONE:
                    found[OLD_PAIR] = head
                    found[OLD_STEP] = i
                i += 1
            elif side > 0:
                if found[NEW_PAIR] == NONE:
                    found[NEW_PAIR] = head
                    found[NEW_STEP] = j
                j += 1
            else:
                key = old_keys[i]
                one = int(old_targets[i])
                two = int(new_targets[j])
                if one >= 0 and (same == 0 or one != two):
                    pair = (one << 32) | two
                    place = _home(pair, mask)
                    while index[place] != 0 and pairs[int(index[place]) - 1] != pair:
                        place = (place + 1) & mask
                    if index[place] == 0:
                        pairs[tail] = pair
                        parents[tail] = head
                        tail += 1
                        index[place] = tail
                ahead = True
                while ahead:
                    i += 1
                    ahead = False
                    if i < old_last:
                        ahead = old_keys[i] == key
                ahead = True
                while ahead:
                    j += 1
                    ahead = False
                    if j < new_last:
                        ahead = new_keys[j] == key
        if room:
            head += 1
    progress[LOOKED_AT] = head
    progress[KNOWN] = tail
