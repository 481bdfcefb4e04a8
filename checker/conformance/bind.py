"""Takes a Mapping and the Machine of an instance, makes a Bound: every cell a typed term."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from checker.conformance.mapping import Arguments, Kind, KnownDifference, MappedRow, Mapping
from checker.conformance.recording import MappedTimer
from checker.elaborate import build, convert, world_of
from checker.elaborate.connections import handle_of
from checker.elaborate.constants import Setting
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.rows import action_alone
from checker.elaborate.world import Allocator, World
from checker.elaborate.wrong import Wrong, collecting
from checker.errors import Diagnostic, SpecificationError
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Action, Machine
from checker.machine.relations import item_of, show
from checker.machine.types import Bool, Id, Set
from checker.semantics.plain import Names
from checker.table.document import Cell, Document, Word
from checker.table.problems import nearest

Terms = tuple[tuple[str, Term], ...]

ERROR = "error"
ANSWER = "answer"
"""What can differ beside the observed fields: an unexpected failure, the answer of a call."""


@frozen(eq=False, slots=False)
class BoundRefusal:
    """When a row that is not enabled is tried all the same, and what is answered."""

    when: Term | None
    answer: Term | None


@frozen(eq=False, slots=False)
class BoundRow:
    """A row of the machine and what it is for the implementation; `known` are numbers."""

    action: Action
    kind: Kind
    target: str
    outcome: str | None
    arguments: Terms
    answer: Term | None
    refused: BoundRefusal | None
    known: tuple[tuple[int, Term | None], ...]


@frozen(eq=False, slots=False)
class BoundTimer:
    """A timer: the armed ones in a state, and which one a row's step sets or is the firing of."""

    name: str
    armed: Term
    sets: Terms
    fires: Terms
    least: int
    greatest: int | None
    anew: tuple[tuple[str, int], ...] = ()
    or_never: bool = False
    usual: bool = False


@frozen(eq=False, slots=False)
class BoundWindow:
    """Numbers that slide: the keys they stand under, and the step that makes them one less."""

    name: str
    values: frozenset[str]
    slide: Action


@frozen()
class BoundTogether:
    """Rows that are taken one after the other, before lines of some forms or of any."""

    rows: tuple[str, ...]
    before: frozenset[str]
    all: bool


@frozen(eq=False, slots=False)
class Bound:
    """A mapping that fits a machine. `rows` are in the order of the machine's actions.

    `hidden` names the rows that a log does not show, `soon` those of them that are taken as soon as
    they can be, `late` those that wait until a line names one of their ids, `told` those that an
    answer of one of some forms tells of.
    """

    path: str
    machine: Machine
    rows: tuple[BoundRow, ...]
    hidden: frozenset[str]
    observe: Terms
    reset: Terms
    names: Names
    known: tuple[KnownDifference, ...]
    timers: tuple[BoundTimer, ...] = ()
    windows: tuple[BoundWindow, ...] = ()
    soon: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    together: tuple[BoundTogether, ...] = ()
    told: tuple[tuple[str, frozenset[str]], ...] = ()
    assumed: tuple[Term, ...] = ()
    alike: frozenset[str] = frozenset()
    """Types whose ids are used alike, besides those that are declared so."""
    recorded: bool = False
    """Whether it is to explain a recorded run, so that nothing is driven."""
    enough: frozenset[str] = frozenset()
    """Types that have an id for every name of the log."""

    def for_recorded(self, enough: frozenset[str]) -> Bound:
        """Return it for a recorded run, without what only driving needs."""
        rows = tuple(replace(row, refused=None, known=()) for row in self.rows)
        return replace(self, rows=rows, known=(), recorded=True, enough=enough)

    def without_soon(self, rows: frozenset[str]) -> Bound:
        """Return it with some rows that may be taken at any time instead of soon."""
        return replace(self, hidden=self.hidden | (self.soon & rows), soon=self.soon - rows)

    def without_late(self) -> Bound:
        """Return it with rows that may be taken at any time instead of late."""
        return replace(self, hidden=self.hidden | self.late, late=frozenset())

    def without_usual(self) -> Bound:
        """Return it with timers that fire at any time where their times are only what was seen."""
        free = (replace(one, least=0, greatest=None) if one.usual else one for one in self.timers)
        return replace(self, timers=tuple(free))

    def without_told(self) -> Bound:
        """Return it with rows that may be taken whatever the answer says."""
        return replace(self, told=())

    @property
    def conditions(self) -> tuple[Term, ...]:
        """What each state fulfils from which a run goes on: bounds, and what is assumed."""
        return (*self.machine.bounds, *(self.assumed if self.recorded else ()))

    def without_conditions(self) -> Bound:
        """Return it with all states that the specification's rows lead to."""
        return replace(self, machine=replace(self.machine, bounds=(), step_bounds=()), assumed=())


class _OwnNames(Allocator):
    """Hands out names that no local of the specification has."""

    def unique(self, surface: str) -> str:
        return super().unique(f"mapping.{surface}")


def bind(
    document: Document,
    machine: Machine,
    mapping: Mapping,
    overrides: dict[str, Setting],
) -> Bound:
    """Return `mapping` typed against `machine`, which `document` and `overrides` made.

    Raises SpecificationError with every name and type of the mapping that does not fit.
    """
    with_definitions = replace(document, definitions=(*document.definitions, *mapping.definitions))
    world = world_of(with_definitions, machine.instance, overrides)
    binder = _Binder(world, document, machine, mapping)
    bound = binder.bound()
    own = tuple(item for item in world.problems.found if item.severity == "error")
    if own:
        raise SpecificationError(tuple(sorted(own, key=_place)))
    return bound


def _place(item: Diagnostic) -> tuple[str, int, int]:
    return item.span.source.name, item.span.line, item.span.column


class _Binder:
    """One pass over a mapping."""

    def __init__(
        self, world: World, document: Document, machine: Machine, mapping: Mapping
    ) -> None:
        self.world, self.document, self.machine, self.mapping = world, document, machine, mapping
        self.problems = world.problems
        # A row that is there only with other constants has a name all the same.
        self.rows = {row.name.text for row in document.rows} | {
            action.name for action in machine.actions
        }

    def bound(self) -> Bound:
        mapping, document = self.mapping, self.document
        if mapping.system.text != self.machine.name:
            self.problems.add(
                "T115",
                f"this mapping is for `{mapping.system.text}`",
                mapping.system.span,
                expected=self.machine.name,
                help="name the specification that it belongs to, or another mapping",
            )
        mapped = {row.row.text: row for row in mapping.rows}
        for row in mapping.rows:
            self._row_exists(row.row, self.rows, generated=_is_generated(row.row.text, document))
        if mapping.rest is not None:
            mapped |= {name: _silent(name, mapping.rest) for name in self._unmentioned(mapped)}
        for row_name in self._unmentioned(mapped):
            self.problems.add(
                "T114",
                f"the mapping says nothing of the row `{row_name}`",
                mapping.span,
                expected=f"an entry `{row_name}:` below `rows:`",
                help=f"write what it is, or `{row_name}: {{skip: why it is not driven}}`",
            )
        together = mapping.recording.together
        for word in (
            *mapping.hidden,
            *mapping.soon,
            *mapping.late,
            *(word for one in together for word in one.rows),
            *(one.row for one in mapping.recording.told),
        ):
            self._row_exists(word, self.rows, generated=False)
        fields = tuple(word.text for word, _ in mapping.observe)
        for known in mapping.known:
            self._row_exists(known.row, self.rows, generated=False)
            self._items_exist(known, (*fields, ANSWER, ERROR))
        return Bound(
            path=mapping.path,
            machine=self.machine,
            rows=tuple(
                self._row(action, mapped[action.name])
                for action in self.machine.actions
                if action.name in mapped
            ),
            hidden=frozenset(word.text for word in mapping.hidden),
            soon=frozenset(word.text for word in mapping.soon),
            late=frozenset(word.text for word in mapping.late),
            together=tuple(
                BoundTogether(
                    tuple(word.text for word in one.rows),
                    frozenset(word.text for word in one.before),
                    one.all,
                )
                for one in together
            ),
            told=tuple(
                (one.row.text, frozenset(form.text for form in one.forms))
                for one in mapping.recording.told
            ),
            observe=self._terms(mapping.observe, {}, _OwnNames(), following=False),
            reset=self._terms(mapping.reset, {}, _OwnNames(), following=False),
            names=self._names(),
            known=mapping.known,
            timers=tuple(self._timer(timer) for timer in mapping.recording.timers),
            windows=tuple(self._windows(document)),
            assumed=tuple(self._assumed()),
            alike=self._alike(),
        )

    def _unmentioned(self, mapped: dict[str, MappedRow]) -> list[str]:
        return [action.name for action in self.machine.actions if action.name not in mapped]

    def _timer(self, mapped: MappedTimer) -> BoundTimer:
        armed = self._term(mapped.armed, {}, _OwnNames(), following=False)
        if armed is not None and not isinstance(armed.type, Set | Bool):
            self.problems.add(
                "Y301",
                "`armed` is neither a set nor a condition",
                mapped.armed.span,
                expected="the set of those for which the timer runs, or whether it does",
                found=show(armed.type),
            )
        return BoundTimer(
            mapped.name.text,
            armed or convert.truth(False, mapped.armed.span),
            self._terms_of_rows(mapped.sets),
            self._terms_of_rows(mapped.fires),
            mapped.least,
            mapped.greatest,
            tuple((form.text, within) for form, within in mapped.anew),
            mapped.or_never,
            mapped.usual,
        )

    def _terms_of_rows(self, cells: Arguments) -> Terms:
        """Return rows that the machine has with an expression over each one's names."""
        actions = {action.name: action for action in self.machine.actions}
        found = []
        for word, cell in cells:
            generated = _is_generated(word.text, self.document)
            self._row_exists(word, self.rows, generated=generated)
            if word.text in actions:
                term = self._term(cell, names_of(actions[word.text]), _OwnNames())
                found += [(word.text, term)] if term is not None else []
        return tuple(found)

    def _assumed(self) -> Iterable[Term]:
        for cell in self.mapping.recording.assume:
            term = self._condition(cell, {}, _OwnNames(), following=False)
            if term is not None:
                yield term

    def _windows(self, document: Document) -> Iterable[BoundWindow]:
        for window in self.mapping.recording.windows:
            row = replace(
                document.rows[0],
                name=Word(f"mapping.window.{window.name.text}", window.name.span),
                on=None,
                bindings=(),
                only_if=None,
                inside=(),
                lets=(),
                when=window.when,
                do=window.do,
                to=(),
                send=(),
                fault=None,
                fair=None,
                span=window.name.span,
            )
            slide = None
            with collecting(self.problems):
                slide = action_alone(self.world, row)
            if slide is not None:
                values = frozenset(word.text for word in window.values)
                yield BoundWindow(window.name.text, values, slide)

    def _row_exists(self, word: Word, known: set[str], *, generated: bool) -> None:
        if word.text in known or generated:
            return
        close = nearest(word.text, known)
        self.problems.add(
            "N206",
            f"no row is called `{word.text}`",
            word.span,
            help=f"did you mean `{close}`?" if close else None,
        )

    def _items_exist(self, known: KnownDifference, items: tuple[str, ...]) -> None:
        for word in known.differs:
            if word.text not in items:
                close = nearest(word.text, items)
                self.problems.add(
                    "N206",
                    f"nothing that is compared is called `{word.text}`",
                    word.span,
                    expected=", ".join(items),
                    help=f"did you mean `{close}`?" if close else None,
                )

    def _names(self) -> Names:
        found: dict[tuple[str, str], str] = {}
        kinds = {kind.name: kind for kind in self.machine.ids}
        for word, pairs in self.mapping.names:
            kind = kinds.get(word.text)
            if kind is None:
                self._no_ids(word, kinds)
                continue
            for member, name in pairs:
                # A larger instance may have more ids than the one at hand.
                found[kind.name, member.text] = name.text
        return found

    def _alike(self) -> frozenset[str]:
        kinds = {kind.name: kind for kind in self.machine.ids}
        for word in self.mapping.recording.alike:
            if word.text not in kinds:
                self._no_ids(word, kinds)
        return frozenset(word.text for word in self.mapping.recording.alike)

    def _no_ids(self, word: Word, kinds: dict[str, Id]) -> None:
        close = nearest(word.text, kinds)
        self.problems.add(
            "N206",
            f"no ids are called `{word.text}`",
            word.span,
            expected=", ".join(kinds) or "a constant with `ids`",
            help=f"did you mean `{close}`?" if close else None,
        )

    def _row(self, action: Action, mapped: MappedRow) -> BoundRow:
        names = {**names_of(action), **self._call(action)}
        allocator = _OwnNames()
        refused = mapped.refused
        return BoundRow(
            action=action,
            kind=mapped.kind,
            target=mapped.target.text,
            outcome=mapped.outcome.text if mapped.outcome else None,
            arguments=self._terms(mapped.arguments, names, allocator),
            answer=self._term(mapped.answer, names, allocator),
            refused=None
            if refused is None
            else BoundRefusal(
                self._condition(refused.when, names, allocator, following=False),
                self._term(refused.answer, names, allocator, following=False),
            ),
            known=tuple(
                (number, self._condition(item.when, names, allocator, following=not item.refused))
                for number, item in enumerate(self.mapping.known)
                if item.row.text == action.name
            ),
        )

    def _call(self, action: Action) -> dict[str, Term]:
        """Return `call`, the handle of the request that a row takes, where it takes one."""
        asked = [value.type for _, value in action.lets]
        for calls in self.world.calls.values():
            if calls.requests not in asked:
                continue
            ours = [(b.name, item_of(b.domain.type)) for b in action.bindings]
            slots = [n for n, (_, kind) in enumerate(ours) if kind == calls.slots]
            callers = [name for name, kind in ours[: slots[0]] if kind == calls.key]
            caller = t.Local(callers[-1], calls.key, action.span)
            slot = t.Local(ours[slots[0]][0], calls.slots, action.span)
            return {"call": handle_of(calls, caller, slot, action.span)}
        return {}

    def _terms(
        self,
        cells: Arguments,
        names: dict[str, Term],
        allocator: Allocator,
        *,
        following: bool = True,
    ) -> Terms:
        found = [
            (word.text, self._term(cell, names, allocator, following=following))
            for word, cell in cells
        ]
        return tuple((name, term) for name, term in found if term is not None)

    def _term(
        self,
        cell: Cell | None,
        names: dict[str, Term],
        allocator: Allocator,
        *,
        following: bool = True,
    ) -> Term | None:
        if cell is None:
            return None
        with collecting(self.problems):
            context = Context(self.world, cell, dict(names), allocator, next_allowed=following)
            return context.infer(expression(cell))
        return None

    def _condition(
        self,
        cell: Cell | None,
        names: dict[str, Term],
        allocator: Allocator,
        *,
        following: bool,
    ) -> Term | None:
        term = self._term(cell, names, allocator, following=following)
        if term is None:
            return None
        try:
            return build.boolean(term, "`when`")
        except Wrong as wrong:
            self.problems.extend([wrong.diagnostic])
        return None


def _silent(name: str, why: Word) -> MappedRow:
    return MappedRow(Word(name, why.span), "silent", why, None, (), None, None)


def names_of(action: Action) -> dict[str, Term]:
    """Return the names that a row's cells of the mapping see: its bindings and its message's."""
    names: dict[str, Term] = {}
    for binding in action.bindings:
        item = item_of(binding.domain.type)
        assert item is not None
        names[binding.name] = t.Local(binding.name, item, action.span)
    for name, value in action.lets:
        names[name] = t.Local(name, value.type, action.span)
    return {name: term for name, term in names.items() if "#" not in name}


def _is_generated(name: str, document: Document) -> bool:
    """Whether a row of this name is made for a channel in some instance."""
    verbs = ("lose", "duplicate", "reorder", "ignore")
    return any(name.startswith(f"{verb}_") for verb in verbs) and bool(
        document.channels or document.unhandled
    )
