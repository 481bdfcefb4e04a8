"""The native function `canonical`: of states that differ by a renaming of ids only, the same one.

1. Signatures (`signature`) tell the ids of each type apart as far as a state does so directly.
   Where they fall from id to id, as in most successors, the state is its own representative.
2. Their ranks are the ids' *colours*: equal for ids that nothing has told apart yet. Where each id
   has a colour of its own, renaming ids by colour gives the representative: no step depended on
   what ids were called.
3. Where just two ids share a colour, the lesser of the two states that come out is taken.
4. Where more do because the state says just the same of them (`harmless`), any order is as good.
5. Otherwise `refine` looks at who stands with whom, by colour, until that tells nothing more apart.
6. Ids that still share a colour are told apart by trying (`ties`).

Signatures are hashes, but nothing rests on their being different: ids that should have been told
apart and were not are told apart by trying, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from checker.layout.layout import Layout
from checker.layout.shape import Shape
from checker.llvm import cells
from checker.llvm.code import Code, Flag, Operand, Ref
from checker.llvm.frame import Constants, Frame
from checker.llvm.meta import NUMBER
from checker.llvm.states import Sink, unpack, word_place
from checker.machine.types import Id
from checker.symmetry.colours import Colours, returned
from checker.symmetry.facts import Digits
from checker.symmetry.renaming import NIBBLE, Renaming, mentions
from checker.symmetry.signature import Aspect, Signature
from checker.symmetry.ties import TieWriter


class SymmetryWriter:
    """Writes `canonical` for states of a layout and ids of some types, and what it calls.

    `variables` are those that tell ids apart, from the least to the most important: where the last
    ones seldom change, ids seldom change places. `numbered`: meta words have numbers of instances.
    """

    def __init__(
        self,
        layout: Layout,
        variables: Sequence[str],
        kinds: tuple[Id, ...],
        frame_of: Callable[[Code], Frame],
        constants: Constants,
        *,
        numbered: bool,
    ) -> None:
        self.layout = layout
        self.numbered = numbered
        self.colours = Colours(kinds)
        self.ties = TieWriter(self.colours, layout.words, frame_of, constants)
        self.frame_of = frame_of
        names = frozenset(kind.name for kind in kinds)
        shapes = dict(zip(layout.variables, layout.shapes, strict=True))
        self.shapes: dict[str, Shape] = {
            name: shapes[name] for name in variables if mentions(shapes[name].type, names)
        }
        self.digits = Digits()
        self.shares = False

    def text(self) -> str:
        """Return the text of `canonical`, `renamed`, and of the functions they call."""
        functions = [self.canonical(), self.renamed(), self.order(), self.harmless(), self.refine()]
        rest = [self.leaf(), self.rename(), self.colours.settle(), self.ties.text()]
        return "\n".join([*functions, *rest])

    # -------------------------------------------------------------------------- the functions

    def canonical(self) -> str:
        """Return the text of `canonical`."""
        code = Code("define i64 @canonical(ptr noalias %states, i64 %count, ptr noalias %meta)")
        arrays = self._arrays(code)
        sums = code.reserve(self.colours.size)

        def one(index: str) -> None:
            state = word_place(code, "%states", index, self.layout.words)
            there, following = code.pointer(state), code.new_label()
            before = [code.load(code.shift(state, word)) for word in range(self.layout.words)]
            cells.clear(self.frame_of(code), sums, self.colours.size)
            unpack(code, self.layout, Ref(there), self.shapes, arrays, {})
            self._observe(code, arrays, "own", sums, None)
            code.leave_if(self.colours.descend(code, sums, self.digits), following)
            code.emit(f"call void @order(ptr {there}, ptr {code.pointer(sums)})")
            if self.numbered:
                self._forget_number(code, state, before, Ref("%meta", index))
            code.label(following)

        code.counted(0, "%count", one)
        return returned(code, "i64 %count")

    def _forget_number(self, code: Code, state: Ref, before: list[Operand], mark: Ref) -> None:
        """Write: take the number out of the meta word of a state that is not what it was."""
        same: Flag = True
        for word, old in enumerate(before):
            same = code.both(same, code.compare("eq", code.load(code.shift(state, word)), old))
        end = code.new_label()
        code.leave_if(same, end)
        code.store(code.bits("and", code.load(mark), (1 << NUMBER) - 1), mark)
        code.label(end)

    def renamed(self) -> str:
        """Return the text of `renamed`: a state with its ids renamed as it is told."""
        code = Code("define i64 @renamed(ptr noalias %state, ptr noalias %out, ptr %namings)")
        namings = (code.load(Ref("%namings", number)) for number in range(len(self.colours.kinds)))
        given = ", ".join(f"i64 {naming}" for naming in namings)
        code.emit(f"call void @rename(ptr %state, ptr %out, {given})")
        return returned(code, "i64 0")

    def order(self) -> str:
        """Return the text of `order`: the state renamed, its ids not standing in order yet."""
        code = Code("define internal void @order(ptr %state, ptr %sums)")
        colours = code.reserve(self.colours.size)
        pairs = self.colours.rank(code, colours, Ref("%sums"), anew=True)
        end, told_apart, settled = code.new_label(), code.new_label(), code.new_label()
        many, given = code.new_label(), code.pointer(colours)
        code.leave_if(code.compare("eq", pairs, 0), told_apart)
        code.leave_unless(code.compare("eq", pairs, 1), many)
        self._lesser(code, colours)
        code.jump(end)
        code.label(many)
        for refines in (True, False):
            found = code.value(f"call i64 @harmless(ptr %state, ptr {given})")
            code.leave_if(code.compare("ne", found, 0), settled)
            if refines and self.shares:
                refined = code.value(f"call i64 @refine(ptr %state, ptr {given})")
                code.leave_if(code.compare("ne", refined, 0), told_apart)
            else:
                break
        code.emit(f"call void @untie(ptr %state, ptr {given})")
        code.jump(end)
        code.label(settled)
        code.emit(f"call void @settle(ptr {given})")
        code.jump(told_apart)
        code.label(told_apart)
        code.emit(f"call void @leaf(ptr %state, ptr {given}, ptr %state)")
        code.label(end)
        return returned(code, "void")

    def _lesser(self, code: Code, colours: Ref) -> None:
        """Write: of the two states that come out where two ids share a colour, take the lesser."""
        words = self.layout.words
        one, two = code.reserve(words), code.reserve(words)
        for place, first in ((one, True), (two, False)):
            order = code.reserve(self.colours.size)
            self.colours.apart(code, colours, order, first=first)
            at, out = code.pointer(order), code.pointer(place)
            code.emit(f"call void @leaf(ptr %state, ptr {at}, ptr {out})")
        less = cells.precedes(self.frame_of(code), one, two, words)
        for word in range(words):
            held = (code.load(code.shift(place, word)) for place in (one, two))
            code.store(code.select(less, *held), Ref("%state", word))

    def harmless(self) -> str:
        """Return the text of `harmless`: whether ids of one colour are alike in every way.

        They are where all that is said of them are digits, and these are the same. Not being
        sure is no harm.
        """
        code = Code("define internal i64 @harmless(ptr %state, ptr %colours)")
        arrays = self._arrays(code)
        links = code.reserve(self.colours.size)
        cells.clear(self.frame_of(code), links, self.colours.size)
        unpack(code, self.layout, Ref("%state"), self.shapes, arrays, {})
        self._observe(code, arrays, "links", links, None)
        linked: Flag = False
        for kind in self.colours.kinds:
            for one, two in combinations(self.colours.places(kind), 2):
                same = self.colours.same(code, one, two)
                marks = (code.load(code.shift(links, place)) for place in (one, two))
                either = code.compare("ne", code.bits("or", *marks), 0)
                unsure = kind.name in self.digits.spilled or either
                linked = code.either(linked, code.both(same, unsure))
        return returned(code, f"i64 {code.number(code.negate(linked))}")

    def rename(self) -> str:
        """Return the text of `rename`: the packed state at `state` renamed, at `out`."""
        namings = [f"%naming{number}" for number in range(len(self.colours.kinds))]
        given = ", ".join(f"i64 {naming}" for naming in namings)
        code = Code(f"define internal void @rename(ptr %state, ptr %out, {given})")
        frame = self.frame_of(code)
        arrays = self._arrays(code)
        held = unpack(code, self.layout, Ref("%state"), self.shapes, arrays, {})
        names = (kind.name for kind in self.colours.kinds)
        renaming = Renaming(frame, dict(zip(names, namings, strict=True)))
        after = self._arrays(code)
        for name, shape in self.shapes.items():
            mark = code.mark()
            renaming.cells(arrays[name], after[name], shape)
            code.release(mark)
        sink = Sink(code, self.layout, "", "", 0, Ref(""), "", Ref("%state"), held)
        changed = {name: range(shape.cells) for name, shape in self.shapes.items()}
        words = sink.packed(arrays, after, changed)
        whole = {
            word: code.load(Ref("%state", word)) if value is None else value
            for word, value in ((word, words.get(word)) for word in range(self.layout.words))
        }
        for word, value in whole.items():
            code.store(value, Ref("%out", word))
        return returned(code, "void")

    def leaf(self) -> str:
        """Return the text of `leaf`: the state renamed by colours that are all different."""
        code = Code("define internal void @leaf(ptr %state, ptr %colours, ptr %out)")
        namings: list[Operand] = []
        unchanged: Flag = True
        for kind in self.colours.kinds:
            naming: Operand = 0
            for index, place in enumerate(self.colours.places(kind)):
                rank = code.sub(code.load(Ref("%colours", place)), 1)
                naming = code.bits("or", naming, code.bits("shl", rank, NIBBLE * index))
            same = sum(index << NIBBLE * index for index in range(len(kind.members)))
            unchanged = code.both(unchanged, code.compare("eq", naming, same))
            namings.append(naming)
        renamed, end = code.new_label(), code.new_label()
        code.leave_unless(unchanged, renamed)
        self._copy_words(code, Ref("%out"), Ref("%state"))
        code.jump(end)
        code.label(renamed)
        given = ", ".join(f"i64 {naming}" for naming in namings)
        code.emit(f"call void @rename(ptr %state, ptr %out, {given})")
        code.label(end)
        return returned(code, "void")

    def refine(self) -> str:
        """Return the text of `refine`: colours told apart by who stands with whom.

        Returns whether all are different.
        """
        code = Code("define internal i64 @refine(ptr %state, ptr %colours)")
        arrays = self._arrays(code)
        sums, colours, classes = code.reserve(self.colours.size), Ref("%colours"), code.reserve(1)
        again, end = code.new_label(), code.new_label()
        unpack(code, self.layout, Ref("%state"), self.shapes, arrays, {})
        code.store(self.colours.classes(code), classes)
        code.loop_label(again)
        cells.clear(self.frame_of(code), sums, self.colours.size)
        self._observe(code, arrays, "shared", sums, colours)
        self.colours.rank(code, colours, sums, anew=False)
        before, now = code.load(classes), self.colours.classes(code)
        code.store(now, classes)
        code.leave_if(code.compare("eq", now, len(self.colours.ids)), end)
        code.fork(code.compare("ne", now, before), again, end)
        code.label(end)
        every = code.compare("eq", code.load(classes), len(self.colours.ids))
        return returned(code, f"i64 {code.number(every)}")

    # --------------------------------------------------------------------------------- parts

    def _arrays(self, code: Code) -> dict[str, Ref]:
        return {name: code.reserve(max(shape.cells, 1)) for name, shape in self.shapes.items()}

    def _observe(
        self,
        code: Code,
        arrays: dict[str, Ref],
        aspect: Aspect,
        target: Ref,
        colours: Ref | None,
    ) -> None:
        """Write: add what the state, unpacked, says of ids under one aspect to `target`."""
        signature = Signature(
            self.frame_of(code), self.colours, self.digits, aspect, target, colours
        )
        for name, shape in self.shapes.items():
            signature.observe(arrays[name], shape, name)
            self.shares |= signature.most_ids(shape) > 1

    def _copy_words(self, code: Code, target: Ref, origin: Ref) -> None:
        cells.copy(self.frame_of(code), target, origin, self.layout.words)
