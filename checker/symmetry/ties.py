"""Native code for states whose ids share colours that nothing tells apart: try, and compare.

Where swapping neighbours of one colour does not change the renamed state, any order of them is as
good (`untie`). Otherwise `search` sets each id of a colour apart in turn, refines, and goes on,
down to states in which all are told apart; the least of these is the representative. An id whose
first such state is the one of the first id is its mirror image, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from checker.llvm import cells
from checker.llvm.code import Code, Flag, Operand, Ref
from checker.llvm.frame import Constants, Frame
from checker.symmetry.colours import Colours, returned

_LAST = (1 << 63) - 1
"""No word of a state comes after this, as signed numbers go."""


class TieWriter:
    """Writes `untie` and what it calls, for states of `words` words."""

    def __init__(
        self,
        colours: Colours,
        words: int,
        frame_of: Callable[[Code], Frame],
        constants: Constants,
    ) -> None:
        self.colours = colours
        self.words = words
        self.frame_of = frame_of
        self.constants = constants

    def text(self) -> str:
        """Return the text of all functions."""
        functions = [self.untie(), self.search(), self.descend(), self.apart()]
        return "\n".join([*functions, self.colours.tied()])

    def untie(self) -> str:
        """Return the text of `untie`: the representative of a state with ids of one colour."""
        words = self.words
        code = Code("define internal void @untie(ptr %state, ptr %colours)")
        frame = self.frame_of(code)
        order = code.reserve(self.colours.size)
        plain, other = code.reserve(words), code.reserve(words)
        cells.copy(frame, order, Ref("%colours"), self.colours.size)
        at, there, here = code.pointer(order), code.pointer(plain), code.pointer(other)
        code.emit(f"call void @settle(ptr {at})")
        code.emit(f"call void @leaf(ptr %state, ptr {at}, ptr {there})")
        unlike, end = code.new_label(), code.new_label()
        for kind in self.colours.kinds:
            for one, two in combinations(self.colours.places(kind), 2):
                following = code.new_label()
                code.leave_unless(self._neighbours(code, order, one, two), following)
                self._swap(code, order, one, two)
                code.emit(f"call void @leaf(ptr %state, ptr {at}, ptr {here})")
                self._swap(code, order, one, two)
                code.leave_unless(cells.same_cells(frame, plain, other, words), unlike)
                code.label(following)
        self._copy_words(code, Ref("%state"), plain)
        code.jump(end)
        code.label(unlike)
        for word in range(words):
            code.store(_LAST, code.shift(plain, word))
        code.emit(f"call void @search(ptr %state, ptr %colours, ptr {there})")
        self._copy_words(code, Ref("%state"), plain)
        code.label(end)
        return returned(code, "void")

    def search(self) -> str:
        """Return the text of `search`: let `best` be the least of itself and what comes out."""
        words = self.words
        code = Code("define internal void @search(ptr %state, ptr %colours, ptr %best)")
        inner, none_yet = code.reserve(self.colours.size), code.reserve(1)
        first, found = code.reserve(words), code.reserve(words)
        place = code.value("call i64 @tied(ptr %colours)")
        ties = code.new_label()
        code.leave_unless(code.compare("slt", place, 0), ties)
        out = code.pointer(found)
        code.emit(f"call void @leaf(ptr %state, ptr %colours, ptr {out})")
        end = code.new_label()
        code.leave_unless(self._precedes(code, found, Ref("%best")), end)
        self._copy_words(code, Ref("%best"), found)
        code.label(end)
        code.emit("ret void")
        code.open = False
        code.label(ties)
        code.store(1, none_yet)
        colour = code.load(Ref("%colours", place))
        at, lead, out = code.pointer(inner), code.pointer(first), code.pointer(found)

        def one(other: Operand) -> None:
            skip, go, later = code.new_label(), code.new_label(), code.new_label()
            same = code.compare("eq", code.load(Ref("%colours", other)), colour)
            code.leave_unless(same, skip)
            code.emit(f"call void @apart(ptr %state, ptr %colours, i64 {other}, ptr {at})")
            code.leave_if(code.compare("eq", code.load(none_yet), 0), later)
            code.store(0, none_yet)
            code.emit(f"call void @descend(ptr %state, ptr {at}, ptr {lead})")
            code.jump(go)
            code.label(later)
            code.emit(f"call void @descend(ptr %state, ptr {at}, ptr {out})")
            mirrored = cells.same_cells(self.frame_of(code), first, found, words)
            code.fork(mirrored, skip, go)
            code.label(go)
            code.emit(f"call void @search(ptr %state, ptr {at}, ptr %best)")
            code.label(skip)

        code.counted(*self.colours.bounds(code, self.constants, place), one)
        return returned(code, "void")

    def descend(self) -> str:
        """Return the text of `descend`: the first state, of those `search` tries, to come out."""
        code = Code("define internal void @descend(ptr %state, ptr %from, ptr %out)")
        colours = code.reserve(self.colours.size)
        cells.copy(self.frame_of(code), colours, Ref("%from"), self.colours.size)
        again, end = code.new_label(), code.new_label()
        at = code.pointer(colours)
        code.loop_label(again)
        place = code.value(f"call i64 @tied(ptr {at})")
        code.leave_if(code.compare("slt", place, 0), end)
        code.emit(f"call void @apart(ptr %state, ptr {at}, i64 {place}, ptr {at})")
        code.jump(again)
        code.label(end)
        code.emit(f"call void @leaf(ptr %state, ptr {at}, ptr %out)")
        return returned(code, "void")

    def apart(self) -> str:
        """Return the text of `apart`: colours with one id before those of its colour, refined."""
        code = Code("define internal void @apart(ptr %state, ptr %from, i64 %place, ptr %to)")
        colour = code.load(Ref("%from", "%place"))
        start, stop = self.colours.bounds(code, self.constants, "%place")

        def one(place: Operand) -> None:
            old = code.load(Ref("%from", place))
            inside = code.both(code.compare("sge", place, start), code.compare("slt", place, stop))
            other = code.both(code.compare("ne", place, "%place"), inside)
            later = code.both(code.compare("eq", old, colour), other)
            code.store(code.add(old, code.number(later)), Ref("%to", place))

        code.counted(0, self.colours.size, one)
        code.emit("call i64 @refine(ptr %state, ptr %to)")
        return returned(code, "void")

    def _neighbours(self, code: Code, order: Ref, one: int, two: int) -> Flag:
        """Write: return whether two ids of one colour come one after the other in `order`."""
        first, second = (code.load(code.shift(order, place)) for place in (one, two))
        following = code.compare("eq", code.add(first, 1), second)
        return code.both(self.colours.same(code, one, two), following)

    def _swap(self, code: Code, order: Ref, one: int, two: int) -> None:
        first, second = (code.load(code.shift(order, place)) for place in (one, two))
        code.store(second, code.shift(order, one))
        code.store(first, code.shift(order, two))

    def _precedes(self, code: Code, one: Ref, two: Ref) -> Flag:
        return cells.precedes(self.frame_of(code), one, two, self.words)

    def _copy_words(self, code: Code, target: Ref, origin: Ref) -> None:
        cells.copy(self.frame_of(code), target, origin, self.words)
