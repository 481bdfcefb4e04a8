"""Actions as code: every instance that is enabled in a state, and every way its body can go."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import prod

from checker.frozen import frozen
from checker.kernel.asking import Differences
from checker.kernel.columns import CellTest, Columns, Finder, keys_of
from checker.kernel.commuting import LOOPS, Wanted
from checker.kernel.judging import Judge, Masks
from checker.kernel.tallies import Count
from checker.layout.shape import Shape
from checker.llvm import cells, loops
from checker.llvm.changes import changed_cells
from checker.llvm.choices import Drawn, Script
from checker.llvm.code import Operand, Ref, signed
from checker.llvm.frame import Bound, Frame, Mutable
from checker.llvm.meta import DROPPED, ERROR, ILLEGAL, NUMBER, SKIPPED
from checker.llvm.statements import Body, cost, set_local, write_block
from checker.llvm.states import Sink
from checker.machine import terms
from checker.machine.machine import Action, Binding
from checker.machine.once import once
from checker.machine.rounds import picks
from checker.machine.terms import Term
from checker.machine.walk import statements_inside
from checker.passes.analysis import NO_FACTS, Analysis, Facts, learned, shared_analysis, without
from checker.passes.deltas import Delta
from checker.passes.rewriting import BOUND_BY_ROW
from checker.passes.writes import assigned_locals, drawn_kinds, written_variables
from checker.semantics.fairness import FairRow
from checker.table.state_table import StateTable

UNROLLED_VALUES = 64
"""Bindings over more values than this are always loops."""

UNROLLED_ACTION = 1_600
"""Bindings are unrolled while the instances of an action stay below this many operations."""

UNROLLED_MODULE = 12_000
"""Once the actions of a machine reach this many operations, the rest is not unrolled."""


@frozen()
class Stage:
    """One thing on the way to an instance: a binding, a `let`, or a conjunct of the guard.

    `facts` are what the conditions of bindings before it establish.
    """

    binding: Binding | None = None
    name: str = ""
    term: Term | None = None
    facts: Facts = NO_FACTS


@frozen()
class Selection:
    """Bindings that are written at once: stages from `first` on are them and `rest`.

    `known` are conditions that hold where `tests` do; `sizes` how many values each binding has.
    """

    first: int
    bindings: tuple[Binding, ...]
    sizes: tuple[int, ...]
    tests: tuple[CellTest, ...]
    known: tuple[Term, ...]
    rest: tuple[Stage, ...]

    @property
    def count(self) -> int:
        """How many combinations of values there are."""
        return prod(self.sizes)


@dataclass(slots=True)
class Spent:
    """How many operations the actions written so far took."""

    operations: int = 0


@dataclass(slots=True)
class ActionWriter:
    """Writes one action.

    `source` are the variables of the state it starts in, `meta` the action's part of the meta
    word, `fair` how its instances are numbered if they are, `count` what counts its successors if
    that is done where they are written, `wanted` which of them are, where not all. `asked` is
    what its steps owe to the step properties that name rows, which `masks` are for.
    `once`: of the picks of an instance that come to the same, only the first are written. Memory
    that instances share is taken once.
    """

    frame: Frame
    action: Action
    sink: Sink
    meta: int
    source: Mapping[str, Ref]
    shapes: Mapping[str, Shape]
    tables: Mapping[str, StateTable]
    spent: Spent
    fair: FairRow | None = None
    instance_shift: int = 0
    count: Count | None = None
    wanted: Wanted | None = None
    columns: Columns | None = None
    words: Sequence[Operand] = ()
    selection: Selection | None = None
    asked: Sequence[Delta] = ()
    masks: Masks | None = None
    once: bool = False
    first: Ref | None = None
    body_cost: int | None = None
    stages: Sequence[Stage] = ()
    work: dict[str, Ref] = field(default_factory=dict)
    script: Script | None = None
    drawn: Drawn | None = None
    illegal: Ref | None = None

    def write(self) -> None:
        """Write all instances of the action, in canonical order."""
        code = self.frame.code
        self.stages = once(planned, self.action)
        if self.selection is not None:
            self.stages = [*self.stages[: self.selection.first], *self.selection.rest]
        for name in written_variables(self.action.body):
            self.work[name] = code.reserve(max(self.shapes[name].cells, 1))
        if any(isinstance(item, terms.Transition) for item in statements_inside(self.action.body)):
            self.illegal = code.reserve(1)
        self.script = Script(self.frame, picks(self.action.body))
        self.drawn = Drawn(self.frame, drawn_kinds(self.action.body))
        if self.once and self._picks():
            self.first = code.reserve(1)
        if self.count is not None:
            self.count.begin()
        end = code.new_label()
        mark = code.mark()
        self._stage(0, end, 1)
        code.release(mark)
        code.label(end)

    # ------------------------------------------------------------------------ up to the guard

    def _stage(self, index: int, skip: str, instances: int) -> None:
        """Write from stage `index` on; `skip` is where the next instance begins."""
        if self.selection is not None and index == self.selection.first:
            selection, self.selection = self.selection, None
            self._selected(selection, skip)
            return
        if not self.frame.code.open:
            return  # nothing leads here: what is known, such as another kind's field, is no value
        if index == len(self.stages):
            self._instance()
            return
        stage, frame = self.stages[index], self.frame
        if stage.binding is not None:
            self._binding(stage.binding, index, skip, instances)
            return
        assert stage.term is not None
        before, frame.error = frame.error, frame.code.new_label()
        value = frame.value(stage.term)
        if stage.name:
            with frame.bound(stage.name, Bound(value, frame.shapes[stage.term.type])):
                frame.error, error = before, frame.error
                self._stage(index + 1, skip, instances)
        else:
            frame.error, error = before, frame.error
            frame.code.leave_unless(value, skip)  # type: ignore[arg-type]
            known = dict(frame.facts)
            frame.learn(stage.term)
            self._stage(index + 1, skip, instances)
            frame.facts = known
        self._failure(error, skip)

    def _selected(self, selection: Selection, skip: str) -> None:
        """Write all bindings at once, for the values at which the selection's tests hold."""
        assert self.columns is not None
        frame, code = self.frame, self.frame.code
        mask = self.columns.mask(code, self.words, self.source, selection.tests, selection.count)
        unroll = self._unrolls(selection.first, selection.count)

        def visit(position: Operand, following: str) -> None:
            mark = code.mark()
            with ExitStack() as names:
                rest: Operand = position
                pairs = list(zip(selection.bindings, selection.sizes, strict=True))
                for binding, size in reversed(pairs):
                    item = frame.shapes[binding.domain.type].item
                    assert item is not None
                    place = rest if binding is selection.bindings[0] else code.remainder(rest, size)
                    rest = code.divide(rest, size)
                    value = Bound(cells.value_of(frame, place, item), item)
                    names.enter_context(frame.bound(binding.name, value))
                before, frame.error = frame.error, code.new_label()
                for term in selection.known:
                    code.assume(frame.flag(term))
                    frame.learn(term)
                frame.error, error = before, frame.error
                self._stage(selection.first, following, selection.count if unroll else 1)
                self._failure(error, following)
            code.release(mark)

        if unroll:
            code.leave_if(code.compare("eq", mask, 0), skip)
            for position in range(selection.count):
                following = code.new_label()
                here = code.bits("and", mask, 1 << position)
                code.leave_if(code.compare("eq", here, 0), following)
                visit(position, following)
                code.label(following)
        else:
            loops.run_bits(frame, mask, visit)
        code.jump(skip)

    def _binding(self, binding: Binding, index: int, skip: str, instances: int) -> None:
        frame, code = self.frame, self.frame.code
        before, frame.error = frame.error, code.new_label()
        domain = loops.domain_of(frame, binding.domain)
        frame.error, error = before, frame.error
        positions = domain.positions
        size = domain.shape.count if positions is None else len(positions)
        count = min([size, *_matching(binding, domain.item)])
        unroll = self._unrolls(index, instances * count) and size <= UNROLLED_VALUES

        def visit(position: Operand, following: str) -> None:
            mark = code.mark()
            value = loops.value_at(frame, domain, position)
            with frame.bound(binding.name, Bound(value, domain.item)):
                if binding.condition is None:
                    self._stage(index + 1, following, instances * (count if unroll else 1))
                else:
                    self._condition(
                        binding.condition, index, following, instances * (count if unroll else 1)
                    )
            code.release(mark)

        loops.run(frame, domain, visit, distinct=True, unroll=unroll)
        code.jump(skip)
        self._failure(error, skip)

    def _condition(self, condition: Term, index: int, following: str, instances: int) -> None:
        frame, code = self.frame, self.frame.code
        before, frame.error = frame.error, code.new_label()
        chosen = frame.flag(condition)
        frame.error, error = before, frame.error
        code.leave_unless(chosen, following)
        frame.learn(condition)
        self._stage(index + 1, following, instances)
        self._failure(error, following)

    def _unrolls(self, index: int, instances: int) -> bool:
        if not self.frame.unrolling:
            return False
        operations = instances * (30 + self._cost_from(index))
        return operations <= UNROLLED_ACTION and self.spent.operations < UNROLLED_MODULE

    def _cost_from(self, index: int) -> int:
        analysis = self.frame.analysis
        if self.body_cost is None:
            self.body_cost = cost(self.frame, self.action.body)
        total = self.body_cost
        total += 4 * sum(self.shapes[name].cells for name in self.work)
        for stage in self.stages[index:]:
            if stage.term is not None:
                total += analysis.cost(stage.term)
            elif stage.binding is not None and stage.binding.condition is not None:
                total += analysis.cost(stage.binding.condition)
        return total

    def _failure(self, error: str, skip: str) -> None:
        """Write: an instance failed before its body began."""
        code = self.frame.code
        code.jump(skip)
        code.label(error)
        self._failed()
        code.jump(skip)

    def _failed(self) -> None:
        """Write: a step failed."""
        self.sink.emit_source(self.meta | ERROR)
        if self.count is not None:
            self.count.failure()

    # -------------------------------------------------------------------------------- the body

    def _instance(self) -> None:
        """Write one enabled instance: its body, once for each script of choices."""
        frame, code = self.frame, self.frame.code
        if frame.unrolling:
            self.spent.operations += self._cost_from(len(self.stages))
        before = (frame.variables, frame.error, frame.locals, frame.facts)
        told = {BOUND_BY_ROW + name: frame.locals[name] for name in self.action.shown}
        frame.variables = {**frame.variables, **self.work}
        frame.error = code.new_label()
        frame.locals, frame.facts = dict(frame.locals), dict(frame.facts)
        number = 0
        if self.wanted is not None and code.open:
            number = self.wanted.commuting.number(self.action, frame.locals)
        meta = code.bits("or", self._meta(), number << NUMBER)
        body = self._body()
        again = code.new_label()
        picks = self._picks()
        if self.first is not None:
            code.store(code.load(self.sink.cursor), self.first)
        if picks:
            body.script.reset()
            code.loop_label(again)
            body.script.begin()
        body.drawn.begin()
        body.begin()
        self._assigned()
        mark = code.mark()
        write_block(body, self.action.body)
        code.release(mark)
        self._outcomes(body, meta, number, told)
        if picks:
            body.script.advance(again)
        body.finish()
        frame.variables, frame.error, frame.locals, frame.facts = before

    def _picks(self) -> bool:
        return any(isinstance(item, terms.Pick) for item in statements_inside(self.action.body))

    def _meta(self) -> Operand:
        """Write: the meta word of this instance: the action and the number for fairness."""
        code = self.frame.code
        if self.fair is None:
            return self.meta
        number: Operand = self.fair.first + 1
        for name, _, factor in self.fair.splits:
            held = self.frame.locals[name]
            assert isinstance(held, Bound)
            value = cells.code_of(self.frame, held.value, held.shape)
            number = code.add(number, code.mul(value, factor))
        return code.bits("or", code.bits("shl", number, self.instance_shift), self.meta)

    def _body(self) -> Body:
        code = self.frame.code
        assert self.script is not None
        assert self.drawn is not None
        changed = changed_cells(self.frame, self.action.body, self.shapes, self.source)
        done, abandoned, out_of_ids = (code.new_label() for _ in range(3))
        return Body(
            self.frame, self.source, self.shapes, self.tables, self.work, changed, self.illegal,
            self.script, self.drawn, done, abandoned, out_of_ids,
        )  # fmt: skip

    def _assigned(self) -> None:
        """Write: bindings and lets that the body assigns become locals."""
        frame = self.frame
        for name in sorted(assigned_locals(self.action.body) & set(frame.locals)):
            held = frame.locals[name]
            if isinstance(held, Bound):
                frame.facts.pop(name, None)
                set_local(frame, name, held.value, held.shape)

    def _outcomes(
        self, body: Body, meta: Operand, number: int, told: Mapping[str, Bound | Mutable]
    ) -> None:
        """Write what each way of ending a run emits, then go on."""
        code = self.frame.code
        code.label(body.done)
        words = self.sink.packed(self.source, self.work, body.changed)
        illegal = code.load(body.illegal) if body.illegal is not None else 0
        mark = code.bits("or", code.mul(illegal, ILLEGAL), meta)
        mark = code.bits("or", mark, self._broken(told, words, body.changed))
        kept = 1 if self.first is not None else self._kept(words, number)
        if self.first is not None:
            self.sink.emit(words, mark, 0)
            self.sink.keep_if_new(code.load(self.first), body.abandoned)
        elif self.count is None:
            skipped = code.mul(code.sub(1, kept), SKIPPED)
            self.sink.emit(words, code.bits("or", mark, skipped))
        else:
            self.sink.emit(words, mark, code.bits("or", kept, illegal))
        if self.count is not None:
            self.count.successor(code.number(self.sink.changes(words)))
        code.jump(body.abandoned)
        code.label(body.out_of_ids)
        self.sink.emit_source(code.bits("or", meta, DROPPED), 1 if self.first is None else 0)
        if self.first is not None:
            self.sink.keep_if_new(code.load(self.first), body.abandoned)
        if self.count is not None:
            self.count.successor(0)
        code.jump(body.abandoned)
        code.label(self.frame.error)
        self._failed()
        code.jump(body.abandoned)
        code.label(body.abandoned)

    def _broken(
        self,
        told: Mapping[str, Bound | Mutable],
        words: Mapping[int, Operand],
        cells_: Mapping[str, Collection[int]],
    ) -> Operand:
        """Write: the bits of the step properties that this step breaks, of those asked here."""
        if not self.asked:
            return 0
        frame, code = self.frame, self.frame.code
        before = (frame.variables, frame.following, frame.locals, frame.facts)
        frame.variables, frame.following = dict(self.source), before[0]
        frame.locals, frame.facts = dict(told), {}
        mark, result = code.mark(), code.scratch(1)
        code.store(0, result)
        assert self.masks is not None
        differences = self._differences(words, cells_)
        judge = Judge(frame, self.masks, differences, result, unfold=True)
        for delta in self.asked:
            end = code.new_label()
            judge.untouched(delta, end)
            judge.ask(delta)
            code.label(end)
        found = code.load(result)
        code.release(mark)
        frame.variables, frame.following, frame.locals, frame.facts = before
        return found

    def _differences(
        self, words: Mapping[int, Operand], cells_: Mapping[str, Collection[int]]
    ) -> Differences:
        """Write: in what a successor with these words differs from its source, if that is asked."""
        code, found = self.frame.code, dict[int, Operand]()
        if any(delta.triggers for delta in self.asked):
            for word, bits in self.sink.layout.bits_of(cells_).items():
                difference = code.bits("xor", words[word], self.sink.word(word))
                found[word] = code.bits("and", difference, signed(bits))
        return found

    def _kept(self, words: Mapping[int, Operand], number: int) -> Operand:
        """Write: return 0 where a successor need not be looked up, else 1."""
        if self.wanted is None:
            return 1
        code = self.frame.code
        kept = self.wanted.bit(number) if number else 1
        if not self.wanted.commuting.settles(number):
            return kept
        moves = code.number(self.sink.changes(words))
        return code.bits("and", kept, code.bits("or", moves, self.wanted.bit(LOOPS)))


# -------------------------------------------------------------------------------- the plan


def planned(action: Action) -> tuple[Stage, ...]:
    """Return the stages of an action, for whoever writes it."""
    return tuple(plan(shared_analysis(), action))


def plan(analysis: Analysis, action: Action) -> list[Stage]:
    """Return the stages of an action: bindings, lets, conjuncts of the guard.

    A conjunct that cannot fail moves before what it does not need, as far as nothing that it
    passes can fail; so the same instances are enabled and the same errors happen.
    """
    facts, stages = NO_FACTS, []
    for binding in action.bindings:
        stages.append(Stage(binding=binding, facts=facts))
        facts = without(facts, binding.name) | _established(binding)
    for name, term in action.lets:
        stages.append(Stage(name=name, term=term, facts=facts))
        facts = without(facts, name)
    for conjunct in _conjuncts(action.guard):
        _insert(analysis, stages, Stage(term=conjunct, facts=facts))
    return stages


def _established(binding: Binding) -> Facts:
    """Return what a binding's condition says of parts that its name leads to.

    What relies on that mentions the name, and so never moves before the binding.
    """
    facts = learned(binding.condition) if binding.condition is not None else NO_FACTS
    return frozenset(fact for fact in facts if binding.name in fact[0])


def _matching(binding: Binding, item: Shape) -> list[int]:
    """Return how many values the message kind has that a binding is of, if it is."""
    kinds = _variant_of(binding)
    return [variant.count for variant in item.variants if item.scalar and variant.name in kinds]


def _variant_of(binding: Binding) -> list[str]:
    """Return the message kind that a binding's condition tests first, if it does."""
    parts = _conjuncts(binding.condition) if binding.condition is not None else []
    match parts[:1]:
        case [terms.IsVariant(terms.Local(name, _, _), variant, _)] if name == binding.name:
            return [variant]
    return []


def _conjuncts(term: Term) -> list[Term]:
    if isinstance(term, terms.And):
        return [part for item in term.items for part in _conjuncts(item)]
    if isinstance(term, terms.Literal) and term.value is True:
        return []
    return [term]


def _insert(analysis: Analysis, stages: list[Stage], new: Stage) -> None:
    assert new.term is not None
    place = len(stages)
    if not analysis.may_fail(new.term, new.facts):
        names = analysis.names(new.term)
        while place and _may_pass(analysis, stages[place - 1], names):
            place -= 1
        # Behind the conjuncts that were there before: the order of tests stays as written.
        while place < len(stages) and stages[place].binding is None and not stages[place].name:
            place += 1
    stages.insert(place, new)


def _may_pass(analysis: Analysis, stage: Stage, names: frozenset[str]) -> bool:
    """Whether a conjunct that mentions `names` may move before `stage`."""
    if stage.binding is not None:
        parts = [stage.binding.domain]
        parts += [stage.binding.condition] if stage.binding.condition is not None else []
        passes = stage.binding.name not in names
        return passes and not any(analysis.may_fail(part, stage.facts) for part in parts)
    assert stage.term is not None
    return stage.name not in names and not analysis.may_fail(stage.term, stage.facts)


def select(
    analysis: Analysis, shapes: Mapping[str, Shape], stages: Sequence[Stage]
) -> Selection | None:
    """Return how the bindings of an action can be written at once, if they can.

    Tests move before all that stands between: none of that can fail.
    """
    first = next((place for place, stage in enumerate(stages) if stage.binding is not None), None)
    bindings = tuple(stage.binding for stage in stages if stage.binding is not None)
    sizes = keys_of(bindings)
    if first is None or sizes is None:
        return None
    lets: dict[str, Term] = {}
    finder = Finder(shapes, [binding.name for binding in bindings], sizes, lets)
    tests: list[CellTest] = []
    known: list[Term] = []
    rest: list[Stage] = []
    sure = True
    for stage in stages[first:]:
        if stage.binding is not None:
            parts = [stage.binding.condition] if stage.binding.condition is not None else []
            if not sure or any(analysis.may_fail(part, stage.facts) for part in parts):
                return None
            parts = [conjunct for part in parts for conjunct in _conjuncts(part)]
        else:
            assert stage.term is not None
            sure = sure and not analysis.may_fail(stage.term, stage.facts)
            parts = [stage.term]
        for part in parts:
            if stage.name:
                lets[stage.name] = part
            test = finder.test(part) if sure and not stage.name else None
            if test is None:
                rest.append(Stage(name=stage.name, term=part, facts=stage.facts))
            else:
                tests.append(test)
                known += [part] if analysis.names(part).isdisjoint(lets) else []
    if not tests:
        return None
    return Selection(first, bindings, tuple(sizes), tuple(tests), tuple(known), tuple(rest))
