"""Own signatures from tables: what a few bits of a packed state add to the signatures of ids.

A fact of one id that one cell tells (`client.state[c1]`, whether `members` has m2) adds an amount
to that id's signature that depends on the cell's code alone. So do the bits that some cells next
to each other take: one table has what they add, for each of their values. The amounts of several
ids are *lanes* of one word, side by side, so that one load adds to all of them. (Tabulation, as in
A. Zobrist, A New Hashing Method with Application for Game Playing, 1970.)

Variables whose cells tell more than that are left to the code that `Signature` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.layout.layout import Layout, Leaf
from checker.layout.shape import Shape
from checker.llvm.code import Code, Operand, Ref
from checker.llvm.frame import Constants, Frame
from checker.llvm.states import bits_at
from checker.symmetry.colours import Colours
from checker.symmetry.facts import Digits
from checker.symmetry.sorts import VALUES_MAX
from checker.symmetry.trial import Amounts, Trial

CHUNK_BITS = 8
"""Bits that one table of several cells is for: 2 KiB, so that all stay in the first-level cache."""

_FIELD_BITS = VALUES_MAX.bit_length() - 1
"""Bits that cells share have no table where they are more than this."""

_WORD_BITS = 64


@frozen()
class Bits:
    """Some bits of a packed state, and what each of their values adds."""

    word: int
    shift: int
    width: int
    amounts: Amounts


@frozen()
class Lane:
    """Where an id's sum stands: in which of the words of sums, from which bit on, how wide."""

    word: int
    shift: int
    width: int


@frozen()
class Tabulated:
    """`variables` are those whose facts of one id all stand in tables."""

    variables: frozenset[str]
    chunks: tuple[Bits, ...]
    lanes: Mapping[int, Lane]

    def amounts(
        self, code: Code, constants: Constants, words: Sequence[Operand]
    ) -> dict[int, Operand]:
        """Write: return what these variables add to the signature at each id's place.

        `words` are those of the packed state.
        """
        sums: dict[int, Operand] = {}
        for chunk in self.chunks:
            value = bits_at(code, words[chunk.word], chunk.word, chunk.shift, chunk.width)
            for word, table in self._tables(chunk).items():
                zeros = _common_zeros(table) if chunk.width > CHUNK_BITS else 0
                array = constants.array((table >> np.uint64(zeros)).astype(np.int64).tolist())
                added = code.bits("shl", code.load(code.shift(array, value)), zeros)
                sums[word] = code.add(sums.get(word, 0), added)
        return {place: self._sum(code, sums[lane.word], lane) for place, lane in self.lanes.items()}

    def _tables(self, chunk: Bits) -> dict[int, NDArray[np.uint64]]:
        """Return, by word of sums, what the values of a chunk add to it."""
        tables: dict[int, NDArray[np.uint64]] = {}
        for place, amounts in chunk.amounts.items():
            lane = self.lanes[place]
            moved = amounts.astype(np.uint64) << np.uint64(lane.shift)
            tables[lane.word] = tables.get(lane.word, np.uint64(0)) + moved
        return tables

    @staticmethod
    def _sum(code: Code, word: Operand, lane: Lane) -> Operand:
        moved = code.bits("lshr", word, lane.shift)
        if lane.shift + lane.width == _WORD_BITS:
            return moved
        return code.bits("and", moved, (1 << lane.width) - 1)


def tabulate(
    layout: Layout,
    shapes: Mapping[str, Shape],
    places: Colours,
    digits: Digits,
    frame_of: Callable[[Code], Frame],
) -> Tabulated:
    """Return the tables for variables with these shapes; their digits are given in this order."""
    fields: dict[tuple[int, int, int], list[tuple[Leaf, Amounts]]] = {}
    covered: set[str] = set()
    for name, shape in shapes.items():
        leaves = layout.variable_leaves(layout.variables.index(name))
        trial = Trial(_aside(frame_of), places, digits, "own", Ref("%none"))
        found = trial.cells(shape, name)
        if found is None or any(
            amounts and leaves[cell].width > _FIELD_BITS for cell, amounts in found.items()
        ):
            # Its digits are due now all the same.
            aside = Trial(_aside(frame_of), places, digits, "own", Ref("%none"), inside=True)
            aside.observe(Ref("%cells"), shape, name)
            if not aside.added:
                covered.add(name)
            continue
        covered.add(name)
        for cell, amounts in found.items():
            leaf = leaves[cell]
            if amounts:
                fields.setdefault((leaf.word, leaf.shift, leaf.width), []).append((leaf, amounts))
    chunks = tuple(_chunks([_field(*key, held) for key, held in sorted(fields.items())]))
    return Tabulated(frozenset(covered), chunks, _lanes(chunks))


def _aside(frame_of: Callable[[Code], Frame]) -> Frame:
    """Return a frame whose text nobody reads."""
    frame = frame_of(Code(""))
    frame.constants = Constants()
    return frame


# ----------------------------------------------------------------------------- fields, chunks


def _field(word: int, shift: int, width: int, held: Iterable[tuple[Leaf, Amounts]]) -> Bits:
    """Return what the bits add that some cells share: each of their values is a code of each."""
    values = np.arange(1 << width)
    amounts: dict[int, NDArray[np.int64]] = {}
    for leaf, each in held:
        # Bits may have values that stand for no code; no state has them.
        codes = values // leaf.divisor
        codes = np.minimum(codes, leaf.cardinality - 1) if leaf.last else codes % leaf.cardinality
        for place, added in each.items():
            amounts[place] = amounts.get(place, np.int64(0)) + added[codes]
    return Bits(word, shift, width, amounts)


def _chunks(fields: Sequence[Bits]) -> Iterable[Bits]:
    """Yield fields joined to chunks, where they are near each other."""
    pending: list[Bits] = []
    for item in fields:
        if pending and not _near(pending[0], item):
            yield _joined(pending)
            pending = []
        pending.append(item)
    if pending:
        yield _joined(pending)


def _near(first: Bits, last: Bits) -> bool:
    return first.word == last.word and last.shift + last.width - first.shift <= CHUNK_BITS


def _joined(fields: Sequence[Bits]) -> Bits:
    first, last = fields[0], fields[-1]
    width = last.shift + last.width - first.shift
    values = np.arange(1 << width)
    amounts: dict[int, NDArray[np.int64]] = {}
    for item in fields:
        inside = values >> (item.shift - first.shift) & (1 << item.width) - 1
        for place, added in item.amounts.items():
            amounts[place] = amounts.get(place, np.int64(0)) + added[inside]
    return replace(first, width=width, amounts=amounts)


def _lanes(chunks: Sequence[Bits]) -> dict[int, Lane]:
    """Return a lane for the sum of each place, as few words of them as can be found soon."""
    widths: dict[int, int] = {}
    for place in {place for chunk in chunks for place in chunk.amounts}:
        added = [chunk.amounts[place] for chunk in chunks if place in chunk.amounts]
        most = sum(int(each.max()) for each in added)
        hashed = any(int(each.min()) < 0 for each in added)
        widths[place] = _WORD_BITS if hashed else min(max(1, most.bit_length()), _WORD_BITS)
    lanes: dict[int, Lane] = {}
    used: list[int] = []
    for place in sorted(widths, key=lambda place: (-widths[place], place)):
        width = widths[place]
        room = (word for word, bits in enumerate(used) if bits + width <= _WORD_BITS)
        word = next(room, len(used))
        if word == len(used):
            used.append(0)
        lanes[place] = Lane(word, used[word], width)
        used[word] += width
    return dict(sorted(lanes.items()))


def _common_zeros(table: NDArray[np.uint64]) -> int:
    """Return how many of the lowest bits no number of a table has set: equal tables are one."""
    every = int(np.bitwise_or.reduce(table))
    return (every & -every).bit_length() - 1 if every else 0
