"""Step properties as code: which of them a step is asked, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.kernel.asking import changed
from checker.layout.layout import Layout
from checker.llvm.code import Operand, Ref
from checker.llvm.folds import each
from checker.llvm.frame import Frame
from checker.llvm.meta import ACTION_MASK, STEP
from checker.llvm.states import unpack
from checker.machine.order import met_by_name
from checker.machine.terms import Term
from checker.passes.deltas import Delta
from checker.passes.fixed import Fixed
from checker.passes.rewriting import read_ahead


@dataclass(slots=True)
class StepJudge:
    """Writes what one step violates into the meta word at `result`.

    `source` and `target` are packed states. `frame.variables` are those of the source, and
    `frame.following` room for those of the target, of which only what is looked at is unpacked.
    `actions` are the names of the actions, of which the meta word has the number.
    """

    frame: Frame
    layout: Layout
    fixed: Fixed
    deltas: list[Delta]
    source: Ref
    target: Ref
    result: Ref
    actions: Sequence[str]

    def write(self) -> None:
        """Write all properties, each behind a jump around it for steps that are not asked."""
        code = self.frame.code
        masks = {stay: self.layout.masks(stay) for it in self.deltas for stay in it.triggers}
        differences = {}
        for word in sorted({word for looked_at in masks.values() for word in looked_at}):
            words = (code.load(code.shift(state, word)) for state in (self.source, self.target))
            differences[word] = code.bits("xor", *words)
        spared = list(dict.fromkeys(delta.rows for delta in self.deltas if delta.rows))
        sparing = self._sparing(spared)
        for delta in self.deltas:
            end = code.new_label()
            for stay in delta.triggers:
                code.leave_unless(changed(code, differences, masks[stay]), end)
            if delta.rows:
                here = code.bits("and", sparing, 1 << spared.index(delta.rows))
                code.leave_if(code.compare("ne", here, 0), end)
            self._ask(delta)
            code.label(end)

    def _ask(self, delta: Delta) -> None:
        frame, code = self.frame, self.frame.code
        known, mark, unrolling = dict(code.known), code.mark(), frame.unrolling
        asked = [condition for _, condition in delta.conditions]
        domains = [generator.domain for generator in delta.generators]
        names = frozenset[str]().union(*map(read_ahead, (*asked, *domains)))
        assert frame.following is not None
        unpack(code, self.layout, self.target, names, frame.following, self.fixed)
        frame.unrolling = unrolling and not delta.generators

        failed = self._failures(delta)

        def visit() -> None:
            frame.unrolling = unrolling
            for number, condition in delta.conditions:
                self._judge(number, condition, failed, again=bool(delta.generators))
            frame.unrolling = unrolling and not delta.generators

        each(frame, delta.generators, visit)
        if failed is not None:
            sure = code.bits("xor", code.load(self.result), -1)
            left = code.bits("and", code.load(failed), sure)
            frame.fail_if(code.compare("ne", left, 0))
        frame.unrolling = unrolling
        code.release(mark)
        code.known = known

    def _failures(self, delta: Delta) -> Ref | None:
        """Write: room for errors that count only where nothing is violated; None if none do."""
        unsure = any(self.frame.analysis.may_fail(term) for _, term in delta.conditions)
        if not unsure or not any(met_by_name(item.domain) for item in delta.generators):
            return None
        failed = self.frame.code.scratch(1)
        self.frame.code.store(0, failed)
        return failed

    def _judge(self, number: int, condition: Term, failed: Ref | None, *, again: bool) -> None:
        """Write: note whether a condition is violated, unless it was violated before."""
        frame, code, bit = self.frame, self.frame.code, 1 << (STEP + number)
        end, error = code.new_label(), code.new_label()
        unsure = frame.analysis.may_fail(condition)
        if again and unsure:
            before = code.bits("and", code.load(self.result), bit)
            code.leave_if(code.compare("ne", before, 0), end)
        outside = frame.error
        if failed is not None and unsure:
            frame.error = error
        broken = code.select(frame.flag(condition), 0, bit)
        code.store(code.bits("or", code.load(self.result), broken), self.result)
        if failed is not None and unsure:
            frame.error = outside
            code.jump(end)
            code.label(error)
            code.store(code.bits("or", code.load(failed), bit), failed)
            code.jump(end)
        code.label(end)

    def _sparing(self, spared: Sequence[frozenset[str]]) -> Operand:
        """Write: a bit for each set of rows, whether the row that made the step is among them."""
        if not spared:
            return 0
        code = self.frame.code
        sets = [
            sum((name in rows) << place for place, rows in enumerate(spared))
            for name in self.actions
        ]
        action = code.bits("and", code.load(self.result), ACTION_MASK)
        return code.load(code.shift(self.frame.constants.array(sets), action))
