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

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from checker.layout.layout import Layout
from checker.layout.shape import Shape
from checker.llvm import cells
from checker.llvm.code import Code, Flag, Operand, Ref
from checker.llvm.frame import Constants, Frame
from checker.llvm.meta import NUMBER
from checker.llvm.states import Sink, unpack, word_place
from checker.machine.relations import mentions
from checker.machine.types import Id
from checker.symmetry.codes import Order
from checker.symmetry.colours import Colours, returned
from checker.symmetry.facts import Digits
from checker.symmetry.renaming import NIBBLE, Renaming
from checker.symmetry.signature import Aspect, Signature
from checker.symmetry.tabulated import tabulate
from checker.symmetry.ties import TieWriter


class SymmetryWriter:
    """Writes `canonical` for states of a layout and ids of some types, and what it calls.

    `variables` are those that tell ids apart, from the least to the most important: where the last
    ones seldom change, ids seldom change places. `numbered`: meta words have numbers of instances.
    `brief`: what takes long to write and translate is left out.
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
        brief: bool,
    ) -> None:
        self.layout = layout
        self.numbered = numbered
        self.brief = brief
        self.colours = Colours(kinds)
        self.constants = constants
        self.ties = TieWriter(self.colours, layout.words, frame_of, constants)
        self.frame_of = frame_of
        names = frozenset(kind.name for kind in kinds)
        shapes = dict(zip(layout.variables, layout.shapes, strict=True))
        self.shapes: dict[str, Shape] = {
            name: shapes[name] for name in variables if mentions(shapes[name].type, names)
        }
        self.digits = Digits()
        aside = Signature(frame_of(Code("")), self.colours, self.digits, "links", Ref(""))
        self.shares = any(aside.most_ids(shape) > 1 for shape in self.shapes.values())

    def text(self) -> str:
        """Return the text of `canonical`, `renamed`, and of the functions they call."""
        functions = [self.canonical(), self.renamed(), self.order(), *self.swaps()]
        ties = [self.tell_apart(), self.harmless(), self.refine(), self.leaf(), self.rename()]
        return "\n".join([*functions, *ties, self.colours.settle(), self.ties.text()])

    # -------------------------------------------------------------------------- the functions

    def canonical(self) -> str:
        """Return the text of `canonical`."""
        code = Code("define i64 @canonical(ptr noalias %states, i64 %count, ptr noalias %meta)")
        tables = tabulate(self.layout, self.shapes, self.colours, self.digits, self.frame_of)
        others = [name for name in self.shapes if name not in tables.variables]
        arrays = self._arrays(code, self.shapes)
        written, sums = code.reserve(self.colours.size), code.reserve(self.colours.size)

        def one(index: str) -> None:
            state = word_place(code, "%states", index, self.layout.words)
            there, following = code.pointer(state), code.new_label()
            before = [code.load(code.shift(state, word)) for word in range(self.layout.words)]
            totals = tables.amounts(code, self.constants, before)
            if others:
                cells.clear(self.frame_of(code), written, self.colours.size)
                unpack(code, self.layout, Ref(there), others, arrays, {})
                self._observe(code, arrays, "own", written, None, others)
            for place in self.colours.ids:
                more = code.load(code.shift(written, place)) if others else 0
                totals[place] = code.add(totals.get(place, 0), more)
            code.leave_if(self.colours.descend(code, totals, self.digits), following)
            for place in self.colours.ids:
                code.store(totals[place], code.shift(sums, place))
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
        """Return the text of `order`: the representative of a state with these signatures.

        Neighbours are swapped until signatures fall from id to id, or stay the same.
        """
        code = Code("define internal void @order(ptr %state, ptr %sums)")
        for kind in self.colours.kinds:
            places = self.colours.places(kind)
            for last in range(len(places) - 1, 0, -1):
                for place in places[:last]:
                    self._swap_if_less(code, place)
        end, many = code.new_label(), code.new_label()
        ties: Operand = 0
        for kind in self.colours.kinds:
            for place in self.colours.places(kind)[:-1]:
                ties = code.add(ties, code.number(self._tied(code, place)))
        code.leave_if(code.compare("eq", ties, 0), end)
        code.leave_unless(code.compare("eq", ties, 1), many)
        self._lesser(code)
        code.jump(end)
        code.label(many)
        code.emit("call void @tell_apart(ptr %state, ptr %sums)")
        code.label(end)
        return returned(code, "void")

    def _swap_if_less(self, code: Code, place: int) -> None:
        """Write: let the id at a place and the next one change names if that has the larger sum."""
        one, two = (code.load(Ref("%sums", at)) for at in (place, place + 1))
        end = code.new_label()
        code.leave_unless(code.compare("ult", one, two), end)
        code.store(two, Ref("%sums", place))
        code.store(one, Ref("%sums", place + 1))
        code.emit(f"call void @swap{place}(ptr %state)")
        code.label(end)

    def _tied(self, code: Code, place: int) -> Flag:
        """Write: return whether the id at a place and the next one have the same sum."""
        one, two = (code.load(Ref("%sums", at)) for at in (place, place + 1))
        return code.compare("eq", one, two)

    def _lesser(self, code: Code) -> None:
        """Write: where just two ids have the same sum, take the lesser of the two states."""
        words, end = self.layout.words, code.new_label()
        other = code.reserve(words)
        there = code.pointer(other)
        self._copy_words(code, other, Ref("%state"))
        for kind in self.colours.kinds:
            for place in self.colours.places(kind)[:-1]:
                following = code.new_label()
                code.leave_unless(self._tied(code, place), following)
                code.emit(f"call void @swap{place}(ptr {there})")
                code.label(following)
        less = cells.precedes(self.frame_of(code), other, Ref("%state"), words)
        code.leave_unless(less, end)
        self._copy_words(code, Ref("%state"), other)
        code.label(end)

    def swaps(self) -> list[str]:
        """Return the texts of functions that let two neighbours change names in `%state`.

        They are called `swap` and the place of the first of them.
        """
        found = []
        for kind in self.colours.kinds:
            ids = range(len(kind.members))
            for first, place in zip(ids, self.colours.places(kind)[:-1], strict=False):
                order = tuple(
                    {first: first + 1, first + 1: first}.get(index, index) for index in ids
                )
                code = Code(f"define internal void @swap{place}(ptr %state)")
                naming = sum(name << NIBBLE * index for index, name in enumerate(order))
                orders = None if self.brief else {kind.name: order}
                self._rename(code, Ref("%state"), {kind.name: naming}, orders)
                found.append(returned(code, "void"))
        return found

    def tell_apart(self) -> str:
        """Return the text of `tell_apart`: the representative where several ids share sums."""
        code = Code("define internal void @tell_apart(ptr %state, ptr %sums)")
        colours = code.reserve(self.colours.size)
        self.colours.rank(code, colours, Ref("%sums"), anew=True)
        end, told_apart, settled = code.new_label(), code.new_label(), code.new_label()
        given = code.pointer(colours)
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

    def harmless(self) -> str:
        """Return the text of `harmless`: whether ids of one colour are alike in every way.

        They are where all that is said of them are digits, and these are the same. Not being
        sure is no harm.
        """
        code = Code("define internal i64 @harmless(ptr %state, ptr %colours)")
        arrays = self._arrays(code, self.shapes)
        links = code.reserve(self.colours.size)
        cells.clear(self.frame_of(code), links, self.colours.size)
        unpack(code, self.layout, Ref("%state"), self.shapes, arrays, {})
        self._observe(code, arrays, "links", links, None, self.shapes)
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
        names = (kind.name for kind in self.colours.kinds)
        self._rename(code, Ref("%out"), dict(zip(names, namings, strict=True)), None)
        return returned(code, "void")

    def _rename(
        self,
        code: Code,
        target: Ref,
        namings: Mapping[str, Operand],
        orders: Mapping[str, Order] | None,
    ) -> None:
        """Write: the packed state at `%state` renamed, at `target`, which may be `%state`."""
        renaming = Renaming(self.frame_of(code), namings, orders)
        shapes = {name: shape for name, shape in self.shapes.items() if renaming.changes(shape)}
        arrays, after = self._arrays(code, shapes), self._arrays(code, shapes)
        held = unpack(code, self.layout, Ref("%state"), shapes, arrays, {})
        for name, shape in shapes.items():
            mark = code.mark()
            renaming.cells(arrays[name], after[name], shape)
            code.release(mark)
        sink = Sink(code, self.layout, "", "", 0, Ref(""), "", Ref("%state"), held)
        changed = {name: range(shape.cells) for name, shape in shapes.items()}
        words = sink.packed(arrays, after, changed)
        for word in range(self.layout.words):
            value = words.get(word)
            if value is None and target == Ref("%state"):
                continue
            value = code.load(Ref("%state", word)) if value is None else value
            code.store(value, code.shift(target, word))

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
        arrays = self._arrays(code, self.shapes)
        sums, colours, classes = code.reserve(self.colours.size), Ref("%colours"), code.reserve(1)
        again, end = code.new_label(), code.new_label()
        unpack(code, self.layout, Ref("%state"), self.shapes, arrays, {})
        code.store(self.colours.classes(code), classes)
        code.loop_label(again)
        cells.clear(self.frame_of(code), sums, self.colours.size)
        self._observe(code, arrays, "shared", sums, colours, self.shapes)
        self.colours.rank(code, colours, sums, anew=False)
        before, now = code.load(classes), self.colours.classes(code)
        code.store(now, classes)
        code.leave_if(code.compare("eq", now, len(self.colours.ids)), end)
        code.fork(code.compare("ne", now, before), again, end)
        code.label(end)
        every = code.compare("eq", code.load(classes), len(self.colours.ids))
        return returned(code, f"i64 {code.number(every)}")

    # --------------------------------------------------------------------------------- parts

    def _arrays(self, code: Code, shapes: Mapping[str, Shape]) -> dict[str, Ref]:
        return {name: code.reserve(max(shape.cells, 1)) for name, shape in shapes.items()}

    def _observe(
        self,
        code: Code,
        arrays: dict[str, Ref],
        aspect: Aspect,
        target: Ref,
        colours: Ref | None,
        names: Iterable[str],
    ) -> None:
        """Write: add what these variables, unpacked, say of ids under one aspect to `target`."""
        signature = Signature(
            self.frame_of(code), self.colours, self.digits, aspect, target, colours
        )
        for name in names:
            signature.observe(arrays[name], self.shapes[name], name)

    def _copy_words(self, code: Code, target: Ref, origin: Ref) -> None:
        cells.copy(self.frame_of(code), target, origin, self.layout.words)
