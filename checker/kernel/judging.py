"""Step properties as code: which of them a step is asked, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from checker.kernel.asking import Differences, changed
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

Masks = Callable[[frozenset[str]], Mapping[int, int]]
"""Where variables stand in a packed state: `Layout.masks`, kept."""


@dataclass(slots=True)
class Judge:
    """Writes what steps violate into the word at `result`, a bit for each property.

    `frame.variables` are those of the source, `frame.following` those of the target;
    `differences` are those of the two as packed states. `unfold` writes what is asked for all items
    one after the other, where that is shorter than a loop.
    """

    frame: Frame
    masks: Masks
    differences: Differences
    result: Ref
    unfold: bool
    _begun: set[int] = field(default_factory=set)

    def untouched(self, delta: Delta, end: str) -> None:
        """Write: go to `end` where the step leaves alone what would make it be asked."""
        code = self.frame.code
        for stay in delta.triggers:
            code.leave_unless(changed(code, self.differences, self.masks(stay)), end)

    def ask(self, delta: Delta) -> None:
        """Write: judge a step by what a delta says of it."""
        frame, code = self.frame, self.frame.code
        unrolling = frame.unrolling
        frame.unrolling = unrolling and (self.unfold or not delta.generators)
        failed = self._failures(delta)

        def visit() -> None:
            before, frame.unrolling = frame.unrolling, unrolling
            for number, condition in delta.conditions:
                again = bool(delta.generators) or number in self._begun
                self._judge(number, condition, failed, again=again)
                self._begun.add(number)
            frame.unrolling = before

        each(frame, delta.generators, visit)
        if failed is not None:
            sure = code.bits("xor", code.load(self.result), -1)
            left = code.bits("and", code.load(failed), sure)
            frame.fail_if(code.compare("ne", left, 0))
        frame.unrolling = unrolling

    def _failures(self, delta: Delta) -> Ref | None:
        """Write: room for errors that count only where nothing is violated; None if none do."""
        unsure = any(self.frame.analysis.may_fail(term) for _, term in delta.conditions)
        if not unsure or not any(met_by_name(item.domain) for item in delta.generators):
            return None
        failed = self.frame.code.scratch(1)
        self.frame.code.store(0, failed)
        return failed

    def _judge(self, number: int, condition: Term, failed: Ref | None, *, again: bool) -> None:
        """Write: note whether a condition is violated, unless its property was before."""
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
    deltas: Sequence[Delta]
    source: Ref
    target: Ref
    result: Ref
    actions: Sequence[str]
    masks: Masks

    def write(self) -> None:
        """Write all properties, each behind a jump around it for steps that are not asked."""
        frame, code = self.frame, self.frame.code
        words = {word for it in self.deltas for stay in it.triggers for word in self.masks(stay)}
        differences = {}
        for word in sorted(words):
            pair = (code.load(code.shift(state, word)) for state in (self.source, self.target))
            differences[word] = code.bits("xor", *pair)
        judge = Judge(frame, self.masks, differences, self.result, unfold=False)
        spared = list(dict.fromkeys(delta.rows for delta in self.deltas if delta.rows))
        sparing = self._sparing(spared)
        for delta in self.deltas:
            end = code.new_label()
            judge.untouched(delta, end)
            if delta.rows:
                here = code.bits("and", sparing, 1 << spared.index(delta.rows))
                code.leave_if(code.compare("ne", here, 0), end)
            known, mark = dict(code.known), code.mark()
            self._unpack(delta)
            judge.ask(delta)
            code.release(mark)
            code.known = known
            code.label(end)

    def _unpack(self, delta: Delta) -> None:
        """Write: what a delta looks at of the target."""
        asked = [condition for _, condition in delta.conditions]
        domains = [generator.domain for generator in delta.generators]
        names = frozenset[str]().union(*map(read_ahead, (*asked, *domains)))
        assert self.frame.following is not None
        unpack(self.frame.code, self.layout, self.target, names, self.frame.following, self.fixed)

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
