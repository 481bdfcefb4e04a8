"""The native functions of a kernel, as documented in `kernel`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from checker.kernel.actions import ActionWriter, Selection, Spent, planned, select
from checker.kernel.asking import changed, from_origin
from checker.kernel.columns import Columns
from checker.kernel.commuting import Wanted, commuting, wanted_row
from checker.kernel.judging import StepJudge
from checker.kernel.kernel import EXPLORE
from checker.kernel.leading import evaluate, judge_beginning
from checker.kernel.tallies import Count, tally
from checker.layout.layout import Layout
from checker.llvm import cells
from checker.llvm.code import Code, Operand, Ref
from checker.llvm.fit import convert
from checker.llvm.frame import Constants, Frame, Shapes
from checker.llvm.meta import (
    ACTION_MASK,
    CHECK_ERROR,
    CONDITION,
    CUT,
    DROPPED,
    ERROR,
    ILLEGAL,
    PREMISE,
    SKIPPED,
    STEP,
)
from checker.llvm.states import (
    Sink,
    differs,
    places_of,
    unpack,
    unpacked_before,
    word_place,
    words_at,
)
from checker.machine import terms
from checker.machine.machine import OF_STEPS, Action, Machine, Property
from checker.machine.once import once
from checker.machine.terms import Term
from checker.machine.types import Id
from checker.passes.analysis import mentions_id, shared_analysis
from checker.passes.deltas import asked_of, deltas
from checker.passes.fixed import changeable, fixed_cells
from checker.passes.needs import needs_of
from checker.passes.rewriting import conjunction
from checker.passes.signatures import shared_signatures
from checker.semantics.fairness import FairRow, fair_rows
from checker.semantics.symmetry import reduces, symmetric_ids
from checker.symmetry.symmetry import SymmetryWriter

PIECE_LINES = 8_000
"""Lines of IR from which on the actions that are left go into another function."""

_PIECE_PARAMETERS = (
    "ptr noalias %state, ptr noalias %cells, ptr noalias %out, i64 %capacity, ptr noalias %meta,"
    " i64 %begin, ptr noalias %tallies, ptr noalias %alive, i64 %sign,"
    " ptr noalias %row"
)

_EXPAND_PARAMETERS = (
    "ptr noalias %states, i64 %count, ptr noalias %out, i64 %capacity, ptr noalias %meta,"
    " ptr noalias %ends, ptr noalias %status, ptr noalias %tallies"
)

_EXPAND = (
    f"define i64 @expand({_EXPAND_PARAMETERS}) {{\n"
    "%done = call i64 @explore(ptr %states, i64 %count, ptr %out, i64 %capacity, ptr %meta,"
    " ptr %ends, ptr %status, ptr %tallies, ptr null)\n"
    "ret i64 %done\n}\n"
)
"""All successors, where `explore` may leave some out."""

TICKS = "call i64 @llvm.readcyclecounter()"


class Writer:
    """Writes the functions of one machine; what they share.

    `brief`: what is written and translated sooner, and runs slower. Loops stay loops, every
    successor is looked up, and what step properties ask of all rows that they do not name is
    written once; what is found is the same.
    """

    def __init__(self, machine: Machine, layout: Layout, *, brief: bool = False) -> None:
        self.brief = brief
        self.machine = machine
        self.layout = layout
        self.constants = Constants()
        self.shapes = Shapes()
        self.analysis = shared_analysis()
        self.signatures = None if brief else shared_signatures()
        self.tables = {table.name: table for table in machine.tables}
        self.variable_shapes = dict(zip(layout.variables, layout.shapes, strict=True))
        self.steps = [item for item in machine.properties if item.kind in OF_STEPS]
        self.checks = [item for item in machine.properties if item.kind in {"always", "sometimes"}]
        self.observed = machine.watches
        self.fixed = fixed_cells(machine, layout)
        self.deltas = deltas((item.condition for item in self.steps), shared=brief)
        self.asked = asked_of(machine.actions, self.steps, shared=brief)
        self.masks = cache(layout.masks)
        self._judges = bool(machine.bounds or machine.step_bounds or self.steps)
        self.commuting = None if brief else commuting(machine, self.analysis)
        self.columns = Columns(self.variable_shapes, self.constants)
        self.selections = [
            select(self.analysis, self.variable_shapes, once(planned, action))
            for action in machine.actions
        ]
        for selection in self.selections:
            if selection is not None:
                self.columns.add(selection.tests, selection.count)
        self.fair: dict[str, FairRow] = fair_rows(machine).rows if machine.judges_runs else {}

    # ------------------------------------------------------------------------------- functions

    def initial(self) -> str:
        """Return the text of `initial`."""
        code = Code("define i64 @initial(ptr noalias %out, i64 %capacity, ptr noalias %meta)")
        frame = self._frame(code, "failed")
        start = self._arrays(code, self.layout.variables)
        frame.variables = start
        base, zero = code.reserve(self.layout.words), code.reserve(self.layout.words)
        cursor = code.reserve(1)
        code.store(0, cursor)
        for place in (base, zero):
            cells.clear(frame, place, self.layout.words)
        end, full = code.new_label(), code.new_label()
        self._initial_values(frame, start)
        sink = Sink(code, self.layout, "%out", "%meta", "%capacity", cursor, full, zero, {})
        self._pack_whole(code, sink, start, base)
        sink = Sink(code, self.layout, "%out", "%meta", "%capacity", cursor, full, base, {})
        self._action(frame, self.machine.initial, 0, sink, start, Spent())
        code.jump(end)
        code.label("failed")
        zeros = Sink(code, self.layout, "%out", "%meta", "%capacity", cursor, full, zero, {})
        zeros.emit_source(ERROR)
        code.jump(end)
        code.label(end)
        if self._judges:
            self._judge_all(code, 0, cursor, "%out", "%meta", base, None)
        code.emit(f"ret i64 {code.load(cursor)}")
        code.open = False
        code.label(full)
        code.emit("ret i64 -1")
        code.open = False
        return code.text()

    def expand(self, *, timed: bool = False) -> str:
        """Return the text of `expand` and of what it calls.

        If `timed`, what each action took is added to `tallies`, behind the counts of all actions
        and in the same order: ticks of the processor, and last those that measuring itself takes.
        """
        pieces, called = self._pieces(timed=timed)
        explore = self.commuting is not None
        code = Code(
            f"{EXPLORE}{_EXPAND_PARAMETERS}, ptr noalias %arrivals)"
            if explore
            else f"define i64 @expand({_EXPAND_PARAMETERS})",
            called if len(pieces) > 1 else 0,
        )
        cursor, number, full = code.reserve(1), code.reserve(1), code.new_label()
        first, alive, sign = code.reserve(1), code.reserve(1), code.reserve(1)
        again = code.new_label()
        leaves = len(self.layout.leaves)
        whole = code.reserve(leaves + self.columns.count) if len(pieces) > 1 else None
        if whole is None:
            source = self._arrays(code, self.layout.variables)
        else:
            source = places_of(code, self.layout, whole)
        following = self._arrays(code, self._judged_variables())
        code.store(0, cursor)

        def one(index: str) -> None:
            code.store(index, number)
            begin = code.load(cursor)
            code.store(begin, first)
            code.store(1, sign)
            row = wanted_row(code, index) if explore else "null"
            code.loop_label(again)
            code.store(0, alive)
            state = word_place(code, "%states", index, self.layout.words)
            frame = self._frame(code, full)
            frame.variables = source
            held = unpack(code, self.layout, state, self._used_variables(), source, self.fixed)
            words = self.columns.words(code, source)
            if whole is not None:
                for place, word in enumerate(words):
                    code.store(word, code.shift(whole, leaves + place))
                for piece in range(len(pieces)):
                    self._call_piece(code, piece, (state, whole), cursor, alive, full, sign, row)
            else:
                room = "%out", "%meta", "%capacity"
                sink = Sink(code, self.layout, *room, cursor, full, state, held)
                spent = Spent()
                if self.commuting is not None:
                    self.commuting.restart()
                wanted = self._wanted(code, row)
                for place in range(len(self.machine.actions)):
                    self._counted_action(
                        frame, place, sink, spent, alive, sign, wanted, words, timed=timed
                    )
            with self._ticks(code, len(self.machine.actions), timed=timed):
                pass
            if self._judges:
                self._judge_all(
                    code, begin, cursor, "%out", "%meta", state, (source, following), alive
                )
            code.store(code.load(cursor), Ref("%ends", index))
            self._status(frame, alive, Ref("%status", index))

        code.counted(0, "%count", one)
        code.emit("ret i64 %count")
        code.open = False
        code.label(full)
        if not self._judges:
            # What the state has counted so far is taken back by doing the same again.
            done = code.new_label()
            code.leave_if(code.compare("slt", code.load(sign), 0), done)
            code.store(-1, sign)
            code.store(code.load(first), cursor)
            code.jump(again)
            code.label(done)
        code.emit(f"ret i64 {code.load(number)}")
        code.open = False
        expand = [_EXPAND] if explore else []
        return "\n".join([*(pieces if len(pieces) > 1 else ()), code.text(), *expand])

    def _wanted(self, code: Code, row: str) -> Wanted | None:
        return None if self.commuting is None else Wanted(code, row, self.commuting)

    def _pieces(self, *, timed: bool) -> tuple[list[str], int]:
        """Return the actions as functions of at least PIECE_LINES lines each, but for the last.

        What the compiler does with a function takes more than twice as long for one of twice the
        length. A piece takes a state, packed and unpacked, and where its successors go, and returns
        the cursor behind them; where there is no room for one, -1 less the cursor. With them comes
        how many cells the largest frame has.
        """
        texts: list[str] = []
        place, most, spent = 0, 0, Spent()
        while place < len(self.machine.actions):
            code = Code(f"define private i64 @piece{len(texts)}({_PIECE_PARAMETERS})")
            cursor, alive, full = code.reserve(1), code.reserve(1), code.new_label()
            source = places_of(code, self.layout, Ref("%cells"))
            code.store("%begin", cursor)
            sign = code.reserve(1)
            code.store(0, alive)
            code.store("%sign", sign)
            wanted = self._wanted(code, "%row")
            state = Ref("%state")
            held = words_at(code, self.layout, state)
            unpacked_before(code, self.layout, source, self.fixed)
            frame = self._frame(code, full)
            frame.variables = source
            room = "%out", "%meta", "%capacity"
            sink = Sink(code, self.layout, *room, cursor, full, state, held)
            cells_ = Ref("%cells", len(self.layout.leaves))
            words = [code.load(code.shift(cells_, place)) for place in range(self.columns.count)]
            full_at = code.lines + PIECE_LINES
            while place < len(self.machine.actions) and code.lines < full_at:
                self._counted_action(
                    frame, place, sink, spent, alive, sign, wanted, words, timed=timed
                )
                place += 1
            known = Ref("%alive")
            code.store(code.bits("or", code.load(known), code.load(alive)), known)
            code.emit(f"ret i64 {code.load(cursor)}")
            code.open = False
            code.label(full)
            code.emit(f"ret i64 {code.sub(-1, code.load(cursor))}")
            code.open = False
            texts.append(code.text())
            most = max(most, code.cells)
        return texts, most

    def _call_piece(
        self,
        code: Code,
        piece: int,
        state: tuple[Ref, Ref],
        cursor: Ref,
        alive: Ref,
        full: str,
        sign: Ref,
        row: str,
    ) -> None:
        """Write: the successors that a piece makes of a state, packed and unpacked."""
        packed, cells_ = (code.pointer(place) for place in state)
        given = f"ptr {packed}, ptr {cells_}, ptr %out, i64 %capacity, ptr %meta"
        counts = f"i64 {code.load(cursor)}, ptr %tallies, ptr {code.pointer(alive)}"
        kind = f"i64 {code.load(sign)}, ptr {row}"
        result = code.value(f"call i64 @piece{piece}({given}, {counts}, {kind})")
        short = code.compare("slt", result, 0)
        code.store(code.select(short, code.sub(-1, result), result), cursor)
        code.leave_if(short, full)

    def _counted_action(
        self,
        frame: Frame,
        place: int,
        sink: Sink,
        spent: Spent,
        alive: Ref,
        sign: Ref,
        wanted: Wanted | None,
        words: Sequence[Operand],
        *,
        timed: bool,
    ) -> None:
        """Write action number `place`, what counts its successors, and what times it."""
        code, action = frame.code, self.machine.actions[place]
        count = (
            None
            if self._judges
            else Count(code, place, len(self.machine.actions), sign, code.named("due", 1), alive)
        )
        with self._ticks(code, place, timed=timed):
            fair = self.fair.get(action.name)
            assert isinstance(frame.variables, dict)
            self._action(
                frame, action, place, sink, frame.variables, spent, fair, count, wanted, words,
                self.selections[place],
            )  # fmt: skip
        if count is not None and action.fault is None:
            count.end()

    @contextmanager
    def _ticks(self, code: Code, place: int, *, timed: bool) -> Iterator[None]:
        """Add the ticks between beginning and end to what `place` took, if `timed`."""
        if not timed:
            yield
            return
        begin = code.value(TICKS)
        yield
        taken = Ref("%tallies", 3 * len(self.machine.actions) + place)
        code.store(code.add(code.load(taken), code.sub(code.value(TICKS), begin)), taken)

    def commuting_table(self) -> str:
        """Return what `expand` needs besides functions, once it is written."""
        return "" if self.commuting is None else self.commuting.text()

    def check(self) -> str:
        """Return the text of `check`."""
        code = Code(
            "define i64 @check(ptr noalias %states, i64 %count, ptr noalias %flags, i64 %done,"
            " ptr noalias %origins)"
        )
        unsure = [term for term in self._observed_terms() if self.analysis.may_fail(term)]
        names = self._reads((*(item.condition for item in self.checks), *unsure))
        arrays = self._arrays(code, names)
        flags = code.reserve(1)

        def one(index: str) -> None:
            state = word_place(code, "%states", index, self.layout.words)
            unpack(code, self.layout, state, names, arrays, self.fixed)
            code.store(0, flags)
            differences = from_origin(code, self.layout, state, index)
            for place, item in enumerate(self.checks):
                end = code.new_label()
                if not self.analysis.may_fail(item.condition):
                    told = code.bits("and", "%done", 1 << place)
                    code.leave_if(code.compare("ne", told, 0), end)
                looked_at = self.layout.masks(self._reads((item.condition,)))
                if looked_at:
                    code.leave_unless(changed(code, differences, looked_at), end)
                self._check(code, arrays, item, place, flags)
                code.label(end)
            for term in unsure:
                self._note(code, arrays, term, 0, CHECK_ERROR, flags)
            code.store(code.load(flags), Ref("%flags", index))

        code.counted(0, "%count", one)
        code.emit("ret i64 %count")
        code.open = False
        return code.text()

    def observe(self) -> str:
        """Return the text of `observe`."""
        code = Code("define i64 @observe(ptr noalias %states, i64 %count, ptr noalias %flags)")
        names = self._reads(self._observed_terms())
        arrays = self._arrays(code, names)
        flags = code.reserve(1)

        def one(index: str) -> None:
            state = word_place(code, "%states", index, self.layout.words)
            unpack(code, self.layout, state, names, arrays, self.fixed)
            code.store(0, flags)
            for place, item in enumerate(self.observed):
                self._note(code, arrays, item.condition, 1 << (CONDITION + place), 0, flags)
                if item.premise is not None:
                    self._note(code, arrays, item.premise, 1 << (PREMISE + place), 0, flags)
            code.store(code.load(flags), Ref("%flags", index))

        code.counted(0, "%count", one)
        code.emit("ret i64 %count")
        code.open = False
        return code.text()

    def _observed_terms(self) -> list[Term]:
        """Return all that liveness properties look at."""
        sides = ((item.condition, item.premise) for item in self.observed)
        return [term for both in sides for term in both if term is not None]

    def canonical(self) -> str:
        """Return the text of `canonical` and of what it calls."""
        kinds = symmetric_ids(self.machine)
        return SymmetryWriter(
            self.layout,
            changeable(self.machine, self.fixed),
            kinds,
            lambda code: self._frame(code, ""),
            self.constants,
            numbered=self.commuting is not None,
            brief=self.brief,
        ).text()

    # ---------------------------------------------------------------------------------- parts

    def _frame(self, code: Code, error: str) -> Frame:
        frame = Frame(code, self.constants, self.shapes, self.analysis, evaluate, {}, error)
        frame.unrolling = not self.brief
        frame.signatures = self.signatures
        return frame

    def _arrays(self, code: Code, names: Iterable[str]) -> dict[str, Ref]:
        wanted = set(names)
        return {
            name: code.reserve(max(shape.cells, 1))
            for name, shape in self.variable_shapes.items()
            if name in wanted
        }

    def _initial_values(self, frame: Frame, start: dict[str, Ref]) -> None:
        for variable in self.machine.variables:
            mark = frame.code.mark()
            shape = self.variable_shapes[variable.name]
            given = self.shapes[variable.initial.type]
            value = convert(frame, frame.value(variable.initial), given, shape)
            cells.store(frame, start[variable.name], shape, value)
            frame.code.release(mark)

    def _pack_whole(self, code: Code, sink: Sink, start: dict[str, Ref], target: Ref) -> None:
        """Write: the packed state of whole variables, from that of all zeros."""
        nothing = {
            name: Ref(self.constants.array([0] * max(shape.cells, 1)).base)
            for name, shape in self.variable_shapes.items()
        }
        everything = {name: range(shape.cells) for name, shape in self.variable_shapes.items()}
        for word, value in sink.packed(nothing, start, everything).items():
            code.store(value, code.shift(target, word))

    def _action(
        self,
        frame: Frame,
        action: Action,
        meta: int,
        sink: Sink,
        source: dict[str, Ref],
        spent: Spent,
        fair: FairRow | None = None,
        count: Count | None = None,
        wanted: Wanted | None = None,
        words: Sequence[Operand] = (),
        selection: Selection | None = None,
    ) -> None:
        ActionWriter(
            frame, action, sink, meta, source, self.variable_shapes, self.tables, spent, fair,
            STEP + len(self.steps), count, wanted, self.columns, words, selection,
            () if action is self.machine.initial else self.asked[action.name], self.masks,
            reduces(self.machine),
        ).write()  # fmt: skip

    def _check(
        self, code: Code, arrays: dict[str, Ref], item: Property, place: int, flags: Ref
    ) -> None:
        span = item.condition.span
        found = terms.Not(item.condition, span) if item.kind == "always" else item.condition
        self._note(code, arrays, found, 1 << place, CHECK_ERROR, flags)

    def _note(
        self, code: Code, arrays: dict[str, Ref], term: Term, bit: int, failed: int, flags: Ref
    ) -> None:
        """Write: add `bit` to the flags where `term` holds, `failed` where it has no value."""
        error, end = code.new_label(), code.new_label()
        frame = self._frame(code, error)
        frame.variables = arrays
        mark = code.mark()
        found = code.select(frame.flag(term), bit, 0)
        code.store(code.bits("or", code.load(flags), found), flags)
        code.jump(end)
        code.label(error)
        code.store(code.bits("or", code.load(flags), failed), flags)
        code.jump(end)
        code.label(end)
        code.release(mark)

    # ------------------------------------------------------------------- what holds afterwards

    def _judged_variables(self) -> frozenset[str]:
        asked = (term for item in self.steps for term in (item.condition, item.premise) if term)
        return self._reads((*self.machine.bounds, *self.machine.step_bounds, *asked))

    def _judge_all(
        self,
        code: Code,
        begin: Operand,
        cursor: Ref,
        out: str,
        meta: str,
        origin: Ref,
        step: tuple[dict[str, Ref], dict[str, Ref]] | None,
        alive: Ref | None = None,
    ) -> None:
        """Write: bounds, step properties and tallies of the successors from `begin` to the cursor.

        `origin` is the packed state that a failed step ends in. `step` has the variables of the
        source state and room for those of the next one; it is None for initial states. `alive`
        notes whether the source is no deadlock. Successors that need not be looked up are taken
        out then.
        """
        previous, kept = code.scratch(1), code.scratch(1)
        code.store(-1, previous)
        code.store(begin, kept)
        following = step[1] if step else self._arrays(code, self._judged_variables())
        skips = step is not None and self.commuting is not None

        def one(index: str) -> None:
            word = Ref(meta, index)
            mark = code.load(word)
            if self._judges:
                mark = self._judged(code, index, mark, out, origin, step, following)
                code.store(mark, word)
            if alive is not None:
                moved = differs(code, self.layout, out, index, origin)
                action = tally(code, mark, previous, moved, len(self.machine.actions))
                self._note_alive(code, mark, action, alive)
            if skips:
                self._keep(code, index, mark, kept)

        code.counted(begin, code.load(cursor), one)
        if skips:
            code.store(code.load(kept), cursor)

    def _keep(self, code: Code, index: str, mark: Operand, kept: Ref) -> None:
        """Write: move a successor to the place behind those kept, and keep it if need be."""
        at, size = code.load(kept), self.layout.words
        for word in range(size):
            held = code.load(word_place(code, "%out", index, size, word))
            code.store(held, word_place(code, "%out", at, size, word))
        code.store(code.bits("and", mark, ~SKIPPED), Ref("%meta", at))
        flags = ILLEGAL | ERROR | DROPPED | CUT | ((1 << len(self.steps)) - 1) << STEP
        plain = code.compare("eq", code.bits("and", mark, flags), 0)
        skipped = code.compare("ne", code.bits("and", mark, SKIPPED), 0)
        code.store(code.add(at, code.number(code.negate(code.both(plain, skipped)))), kept)

    def _judged(
        self,
        code: Code,
        index: str,
        mark: Operand,
        out: str,
        origin: Ref,
        step: tuple[dict[str, Ref], dict[str, Ref]] | None,
        following: dict[str, Ref],
    ) -> Operand:
        """Write: return the meta word of a successor with what its bounds and steps add."""
        result, end, error = code.scratch(1), code.new_label(), code.new_label()
        code.store(mark, result)
        code.leave_if(code.compare("ne", code.bits("and", mark, ERROR | DROPPED), 0), end)
        state = word_place(code, out, index, self.layout.words)
        before = dict(code.known)
        names = self._reads(self.machine.bounds) if step else self._judged_variables()
        unpack(code, self.layout, state, names, following, self.fixed)
        frame = self._frame(code, error)
        frame.variables = following
        bounds = self.machine.bounds
        inside = frame.flag(conjunction(bounds)) if bounds else True
        code.store(code.bits("or", mark, code.select(inside, 0, CUT)), result)
        if step:
            frame.variables, frame.following = step[0], following
            if self.machine.step_bounds:
                names = self._reads(self.machine.step_bounds)
                unpack(code, self.layout, state, names, following, self.fixed)
                cut = code.select(frame.flag(conjunction(self.machine.step_bounds)), 0, CUT)
                code.store(code.bits("or", code.load(result), cut), result)
            names_of_rows = [action.name for action in self.machine.actions]
            StepJudge(
                frame, self.layout, self.fixed, self.deltas, origin, state, result, names_of_rows,
                self.masks,
            ).write()  # fmt: skip
        else:
            judge_beginning(frame, self.steps, result)
        code.jump(end)
        code.label(error)
        code.store(code.bits("or", code.bits("and", mark, ACTION_MASK), ERROR), result)
        for word in range(self.layout.words):
            code.store(code.load(code.shift(origin, word)), code.shift(state, word))
        code.jump(end)
        code.label(end)
        code.known = before
        return code.load(result)

    def _note_alive(self, code: Code, mark: Operand, action: Operand, alive: Ref) -> None:
        """Write: note whether a successor says that its source is no deadlock."""
        faults = [int(action.fault is not None) for action in self.machine.actions]
        if not any(faults):
            code.store(1, alive)
            return
        table = self.constants.array(faults)
        failed = code.compare("ne", code.bits("and", mark, ERROR), 0)
        spontaneous = code.compare("ne", code.load(code.shift(table, action)), 0)
        counts = code.number(code.either(failed, code.negate(spontaneous)))
        code.store(code.bits("or", code.load(alive), counts), alive)

    def _status(self, frame: Frame, alive: Ref, target: Ref) -> None:
        """Write: whether the source is no deadlock, looking at terminal conditions if need be."""
        code = frame.code
        code.store(code.number(code.compare("ne", code.load(alive), 0)), target)
        if not self.machine.terminal:
            return
        end, error = code.new_label(), code.new_label()
        code.leave_if(code.compare("ne", code.load(alive), 0), end)
        before, frame.error = frame.error, error
        mark = code.mark()
        span = self.machine.terminal[0].span
        terminal = frame.flag(terms.Or(self.machine.terminal, span))
        code.store(code.number(terminal), target)
        code.jump(end)
        code.label(error)
        code.store(2, target)
        code.jump(end)
        code.label(end)
        code.release(mark)
        frame.error = before

    # --------------------------------------------------------------------- what is read at all

    def _reads(self, items: Iterable[Term]) -> frozenset[str]:
        return frozenset().union(*(self.analysis.reads(item) for item in items))

    def _used_variables(self) -> frozenset[str]:
        """Return the variables that `expand` needs of a source state."""
        names = set(self._reads(self._final_terms()))
        kinds: list[Id] = []
        for action in self.machine.actions:
            needed = once(needs_of, action)
            names |= needed.variables
            kinds += needed.drawn
        for name, shape in self.variable_shapes.items():
            if any(mentions_id(shape.type, kind) for kind in kinds):
                names.add(name)
        return frozenset(names)

    def _final_terms(self) -> Iterator[Term]:
        """Yield what is evaluated in a state once its successors are known."""
        yield from self.machine.terminal
        yield from self.machine.step_bounds
        yield from (item.condition for item in self.steps)
