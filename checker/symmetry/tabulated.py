"""Own signatures from tables: what a few bits of a packed state add to the signatures of ids.

A fact of one id that one cell tells (`client.state[c1]`, whether `members` has m2) adds an amount
to that id's signature that depends on the cell's code alone. So do the bits that some cells next
to each other take: one table has what they add, for each of their values. The amounts of several
ids are *lanes* of one word, side by side, so that one load adds to all of them. (Tabulation, as in
A. Zobrist, A New Hashing Method with Application for Game Playing, 1970.)

Variables whose cells tell more than that are left to the code that `Signature` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Row
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.layout.layout import Layout, Leaf
from checker.layout.shape import Shape
from checker.llvm import cells
from checker.llvm.code import Code, Operand, Ref, signed
from checker.llvm.frame import Constants, Frame, Value
from checker.machine.types import Bag, Map, Record, Sequence
from checker.symmetry.colours import Colours
from checker.symmetry.facts import Digits, Fact, Member
from checker.symmetry.signature import Signature, unrolls

CHUNK_BITS = 8
"""Bits that one table of several cells is for: 2 KiB, so that all stay in the first-level cache."""

_FIELD_BITS = 14
"""A cell of more bits than this has no table: 128 KiB, of which little is ever read."""

_CODES_TRIED = 256
"""What cells of more codes than this add is known only by the sorts of their values."""

_WORD_BITS = 64

Amounts = Mapping[int, NDArray[np.int64]]
"""By an id's place: what each code of a cell, or value of some bits, adds to its signature."""


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
        self, code: Code, constants: Constants, words: Row[Operand]
    ) -> dict[int, Operand]:
        """Write: return what these variables add to the signature at each id's place.

        `words` are those of the packed state.
        """
        sums: dict[int, Operand] = {}
        for chunk in self.chunks:
            value = code.bits("lshr", words[chunk.word], chunk.shift)
            if chunk.shift + chunk.width < (63 if chunk.word == 0 else 64):
                value = code.bits("and", value, (1 << chunk.width) - 1)
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


# ------------------------------------------------------------------------------ what cells add


@frozen()
class Cell:
    """A cell of a variable, how many codes it has, and the fact that it begins.

    `shape` is that of what it holds; where `slotted` that of the map with a slot there.
    """

    place: Operand
    codes: int
    shape: Shape
    fact: Fact
    slotted: bool = False


@dataclass(slots=True)
class Trial(Signature):
    """Finds out what facts add to signatures, instead of writing it.

    `met` are the cells that a variable consists of; `added` what was added, and to which place.
    `simple`: nothing but these cells tells anything. `inside`: the facts of one cell are followed.
    """

    met: list[Cell] = field(default_factory=list)
    added: list[tuple[Operand, Operand]] = field(default_factory=list)
    simple: bool = True
    inside: bool = False

    def cells(self, shape: Shape, site: str) -> dict[int, Amounts] | None:
        """Return what each cell of a variable adds; None where tables cannot say it."""
        self._walk(Ref("%cells"), shape, Fact(site))
        if not self.simple:
            return None
        self.inside = True
        found: dict[int, Amounts] = {}
        for cell in self.met:
            amounts = self._amounts(cell)
            if amounts is None or not isinstance(cell.place, int):
                return None
            found[cell.place] = amounts
        return found

    def _amounts(self, cell: Cell) -> Amounts | None:
        """Return what each code of a cell adds, by place; None where that is not known."""
        sorts = None if cell.slotted else self._sorts(cell.shape, cell.fact)
        if sorts is not None:
            size = max(sorts) + 1
            ends = (self._counting(sort, size, "", cell.fact) for sort in range(size))
            each = [self._noted(partial(self._end, fact)) for fact in ends]
            return _by_place([each[sort] for sort in sorts])
        if cell.codes <= _CODES_TRIED:
            return _by_place([self._of_code(code, cell) for code in range(cell.codes)])
        return None if self._of_code("%code", cell) != {} else {}

    def _of_code(self, number: Operand, cell: Cell) -> dict[int, int] | None:
        """Return what a code adds, by place; None where the code that says so does not end in it."""
        if cell.slotted:
            self.frame.code.known["%slot", 0] = number
            element = super(Trial, self)._element
            return self._noted(lambda: element(Ref("%slot"), cell.shape, 0, cell.fact))
        value = cells.value_of(self.frame, number, cell.shape)
        return self._noted(lambda: self._walk(value, cell.shape, cell.fact))

    def _noted(self, write: Callable[[], None]) -> dict[int, int] | None:
        """Return what writing would add, by place; None where that is not known now."""
        self.added.clear()
        write()
        found: dict[int, int] = {}
        for place, amount in self.added:
            if not isinstance(place, int) or not isinstance(amount, int):
                return None
            found[place] = signed(found.get(place, 0) + amount)
        return found

    def _walk(self, value: Value, shape: Shape, fact: Fact) -> None:
        if self.inside:
            super(Trial, self)._walk(value, shape, fact)
        elif not self._wanted(fact, shape):
            return
        elif shape.scalar and not isinstance(shape.type, Record):
            assert isinstance(value, Ref)
            self.met.append(Cell(value.offset, shape.cardinality, shape, fact))
        elif isinstance(shape.type, (Map, Sequence, Bag)) and unrolls(shape):
            super(Trial, self)._walk(value, shape, fact)
        else:
            self.simple = False

    def _element(self, value: Ref, shape: Shape, index: Operand, fact: Fact) -> None:
        item = shape.item
        assert item is not None
        if self.inside or not shape.slotted:
            super(Trial, self)._element(value, shape, index, fact)
        elif not self._wanted(fact, item):
            return
        elif item.coded_slot:
            place = cells.element(self.frame, value, shape, index)
            self.met.append(Cell(place.offset, item.cardinality + 1, shape, fact, slotted=True))
        else:
            self.simple = False

    def _held(self, place: Ref, shape: Shape) -> Value:
        return super(Trial, self)._held(place, shape) if self.inside else place

    def _add(self, member: Member, amount: Operand, fact: Fact) -> None:
        code = self.frame.code
        if code.open:
            self.added.append((member.place, code.bits("and", amount, fact.mask)))


def _by_place(found: Row[Mapping[int, int] | None]) -> Amounts | None:
    """Return what each code adds, by place, without places to which none adds anything."""
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    places = {place for each in known for place, amount in each.items() if amount}
    return {
        place: np.array([each.get(place, 0) for each in known], np.int64)
        for place in sorted(places)
    }


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


def _chunks(fields: Row[Bits]) -> Iterable[Bits]:
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


def _joined(fields: Row[Bits]) -> Bits:
    first, last = fields[0], fields[-1]
    width = last.shift + last.width - first.shift
    values = np.arange(1 << width)
    amounts: dict[int, NDArray[np.int64]] = {}
    for item in fields:
        inside = values >> (item.shift - first.shift) & (1 << item.width) - 1
        for place, added in item.amounts.items():
            amounts[place] = amounts.get(place, np.int64(0)) + added[inside]
    return replace(first, width=width, amounts=amounts)


def _lanes(chunks: Row[Bits]) -> dict[int, Lane]:
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
