"""Where states are best cut in two, so that there are few different halves; on a sample of them.

The bits of a state are taken in pieces. Beginning with the piece that has most values, each goes
to the side where it makes fewer new halves, and then over to the other side as long as that makes
fewer. How many halves all states have is guessed from how many of the sample's are alike: counted
in the sample alone, all bits on one side would seem as good as any split. The sample decides how
many bytes a state takes, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1

import numpy as np
from numpy.typing import NDArray

from checker.kernel.kernel import Words
from checker.llvm.compiled import compiled
from checker.llvm.instructions import load, store
from checker.search.visited import mix

SAMPLE = 1 << 16
"""States that are looked at."""

_PIECE = 4
"""Bits of a piece."""
_SWEEPS = 4
_SLOTS = 4 * SAMPLE


@compiled
def _distinct(sums: int, more: int, sign: int, count: int, table: int, slots: int) -> int:
    """Return how many different numbers `sums + sign * more` there are; `slots` is 2**n."""
    for slot in range(slots):
        store(table + 8 * slot, 0)
    found = 0
    for index in range(count):
        value = mix(load(sums + 8 * index) + sign * load(more + 8 * index)) | 1
        place = (value >> 20) & (slots - 1)
        while load(table + 8 * place) != 0 and load(table + 8 * place) != value:
            place = (place + 1) & (slots - 1)
        if load(table + 8 * place) == 0:
            store(table + 8 * place, value)
            found += 1
    return found


@compiled
def _write_hashes(states: int, words: int, count: int, word: int, mask: int, out: int) -> None:
    """Write of each state a number that says what the bits of `mask` are in one of its words."""
    for index in range(count):
        value = load(states + 8 * (words * index + word)) & mask
        store(out + 8 * index, mix(value ^ mix(mask + word)))


def _guessed(distinct: int, count: int) -> float:
    """Return of how many equally likely values `count` draws show `distinct` different ones."""
    if distinct >= count:
        return float(count) * count
    # Draws a value: (1 - exp(-x)) / x falls from 1 to 0.
    low, high = 0.0, count / distinct + 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if -expm1(-middle) * count > distinct * middle:
            low = middle
        else:
            high = middle
    return count / high


class _Sides:
    """The sample's states in two halves: of each half a sum of what its pieces are."""

    def __init__(self, count: int) -> None:
        self.sums = [np.zeros(count, np.int64), np.zeros(count, np.int64)]
        self.sizes = [1.0, 1.0]
        self._table = np.zeros(_SLOTS, np.int64)

    def with_piece(self, side: int, piece: NDArray[np.int64], sign: int = 1) -> float:
        """Return how many halves a side has with a piece more (-1: less), as far as is known."""
        given = self.sums[side].ctypes.data, piece.ctypes.data, sign, len(piece)
        return _guessed(int(_distinct(*given, self._table.ctypes.data, _SLOTS)), len(piece))

    def add(self, side: int, piece: NDArray[np.int64], sign: int = 1) -> None:
        """Add a piece to a side, or take it away."""
        self.sizes[side] = self.with_piece(side, piece, sign)
        self.sums[side] += sign * piece


Piece = tuple[int, int]
"""Bits of a state that stay together: the word, and a mask of it as a signed number."""


def pieces_of(words: int) -> list[Piece]:
    """Return the pieces of states of which nothing is known but how many words they have."""
    masks = [(1 << _PIECE) - 1 << shift for shift in range(0, 64, _PIECE)]
    return [(word, signed(mask)) for word in range(words) for mask in masks]


def signed(mask: int) -> int:
    """Return the signed number that has these 64 bits."""
    return mask - (1 << 64) if mask >> 63 else mask


def split_of(sample: Words, pieces: Sequence[Piece]) -> Words:
    """Return a mask, a word for each of a state's: the bits that one of the halves has.

    `sample` has at most SAMPLE states, one a row. Bits of no piece, and bits that are the same in
    all states of the sample, go to the other half.
    """
    count, words = sample.shape
    held = np.ascontiguousarray(sample)
    sides = _Sides(count)
    found: list[tuple[float, Piece, NDArray[np.int64]]] = []
    for piece in pieces:
        hashes = np.empty(count, np.int64)
        _write_hashes(held.ctypes.data, words, count, *piece, hashes.ctypes.data)
        if (hashes != hashes[0]).any():
            found.append((sides.with_piece(0, hashes), piece, hashes))
    found.sort(key=lambda item: -item[0])
    side_of = [_placed(sides, hashes) for *_, hashes in found]
    for _ in range(_SWEEPS):
        moved = [_moved(sides, side_of, at, hashes) for at, (*_, hashes) in enumerate(found)]
        if not any(moved):
            break
    masks = np.zeros(words, np.int64)
    for side, (_, (word, mask), _) in zip(side_of, found, strict=True):
        masks[word] |= mask if side == 0 else 0
    return masks


def _placed(sides: _Sides, piece: NDArray[np.int64]) -> int:
    """Put a piece to the side where it makes fewer halves; return which."""
    more = [sides.with_piece(side, piece) - sides.sizes[side] for side in (0, 1)]
    side = 0 if more[0] <= more[1] else 1
    sides.add(side, piece)
    return side


def _moved(sides: _Sides, side_of: list[int], at: int, piece: NDArray[np.int64]) -> bool:
    """Move a piece to the other side if that makes fewer halves; return whether it did."""
    here = side_of[at]
    there = 1 - here
    after = sides.with_piece(here, piece, -1) + sides.with_piece(there, piece)
    if after >= sum(sides.sizes):
        return False
    sides.add(here, piece, -1)
    sides.add(there, piece)
    side_of[at] = there
    return True
