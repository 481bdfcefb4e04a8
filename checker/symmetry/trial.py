"""Trials: what each code of a cell adds to the signatures of ids, found without writing code.

`Signature` is followed with cells whose codes are known, and what it would write is noted. A
variable is *simple* if each fact is told by one of its cells alone, so that what they add can be
summed cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Row
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.layout.shape import Shape, cell_cardinalities
from checker.llvm import cells
from checker.llvm.blocks import Block
from checker.llvm.code import Operand, Ref, signed
from checker.llvm.frame import Value
from checker.machine.types import Bag, Map, Record, Sequence
from checker.symmetry.facts import Fact, Member
from checker.symmetry.signature import Signature, unrolls
from checker.symmetry.sorts import VALUES_MAX

_CODES_TRIED = 256
"""What cells of more codes than this add is known only by the sorts of their values."""

Amounts = Mapping[int, NDArray[np.int64]]
"""By an id's place: what each code of a cell, or value of some bits, adds to its signature."""


@frozen()
class Cell:
    """A cell of a variable, how many codes it has, and the fact that it begins.

    `shape` is that of what it holds; where `slotted` that of the map with a slot there. `plain`:
    it is part of a value that has no ids, and which one.
    """

    place: Operand
    codes: int
    shape: Shape
    fact: Fact
    slotted: bool = False
    plain: str | None = None


@dataclass(slots=True)
class Trial(Signature):
    """Finds out what facts add to own signatures, instead of writing it.

    `met` are the cells that a variable consists of; `added` what was added, and to which place.
    `simple`: nothing but these cells tells anything. `inside`: the facts of one cell are followed,
    from the block `begun` on; `certain`: what was added since is added in any case.
    """

    met: list[Cell] = field(default_factory=list)
    added: list[tuple[Operand, Operand]] = field(default_factory=list)
    simple: bool = True
    inside: bool = False
    begun: Block | None = None
    certain: bool = True

    def cells(self, shape: Shape, site: str) -> dict[int, Amounts] | None:
        """Return what each cell of a variable adds; None where tables cannot say it."""
        self._walk(Ref("%cells"), shape, Fact(site))
        if not self.simple or self.added:
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
        if cell.plain is not None:
            if cell.codes > VALUES_MAX:
                return None
            return self._multiples(range(cell.codes), cell.plain, cell.fact)
        sorts = None if cell.slotted else self._sorts(cell.shape, cell.fact)
        if sorts is not None:
            return self._multiples(sorts, "", cell.fact)
        if cell.codes <= _CODES_TRIED:
            return _by_place([self._of_code(code, cell) for code in range(cell.codes)])
        return None if self._of_code("%code", cell) != {} else {}

    def _multiples(self, numbers: Row[int], part: str, fact: Fact) -> Amounts | None:
        """Return what codes add that count as these numbers: one and none of them tell of all."""
        ends = (self._counting(number, max(numbers) + 1, part, fact) for number in (0, 1))
        amounts = _by_place([self._noted(partial(self._end, end)) for end in ends])
        each = np.array(numbers, np.int64)
        return amounts and {
            place: none + each * (one - none) for place, (none, one) in amounts.items()
        }

    def _of_code(self, number: Operand, cell: Cell) -> dict[int, int] | None:
        """Return what a code adds, by place; None where that is not known now."""
        if cell.slotted:
            self.frame.code.known["%slot", 0] = number
            element = super(Trial, self)._element
            return self._noted(lambda: element(Ref("%slot"), cell.shape, 0, cell.fact))
        value = cells.value_of(self.frame, number, cell.shape)
        return self._noted(lambda: self._walk(value, cell.shape, cell.fact))

    def _noted(self, write: Callable[[], None]) -> dict[int, int] | None:
        """Return what writing would add, by place; None where that is not known now.

        Nor is it where a flag that is not known decides whether it is added.
        """
        self.added.clear()
        self.begun, self.certain = self.frame.code.here, True
        write()
        if not self.certain:
            return None
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
        elif fact.own and self.most_ids(shape) == 0:
            self._meet_plain(value, shape, fact)
        elif shape.scalar and not isinstance(shape.type, Record):
            assert isinstance(value, Ref)
            self.met.append(Cell(value.offset, shape.cardinality, shape, fact))
        elif isinstance(shape.type, (Map, Sequence, Bag)) and unrolls(shape):
            super(Trial, self)._walk(value, shape, fact)
        else:
            self.simple = False

    def _meet_plain(self, value: Value, shape: Shape, fact: Fact) -> None:
        """Note the cells of a value without ids: each counts by itself."""
        assert isinstance(value, Ref)
        whole = shape.scalar and not isinstance(shape.type, Record)
        for cell, (_, size) in enumerate(cell_cardinalities(shape)):
            place, part = self.frame.code.shift(value, cell), "" if whole else f".{cell}"
            self.met.append(Cell(place.offset, size, shape, fact, plain=part))

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
            self.certain = self.certain and (self.begun is None or code.follows(self.begun))
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
