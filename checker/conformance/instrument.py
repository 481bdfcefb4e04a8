"""Takes a Bound, makes a machine whose steps say what to ask of an implementation.

The machine is the specification's own with more variables, the *labels*. Each step writes the
arguments of its call, the answer it expects and which known differences concern it; a row of the
mapping's own writes what is to be observed in a state, and one for each `refused` the calls that
are to be refused there. All that runs in the native kernel with the steps themselves. Before a
state is expanded or compared its labels are taken out again, so they never make two of one state.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

from checker.conformance.bind import Bound, BoundRow, Terms
from checker.elaborate import build, convert
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Action, Machine, Trigger, Variable
from checker.machine.relations import item_of
from checker.machine.terms import Statement, Term
from checker.machine.types import Id, Option, Type
from checker.machine.walk import rebuild, walk
from checker.semantics.execute import occurring
from checker.semantics.values import first_value
from checker.source import NOWHERE

OBSERVE = "mapping.observe"
REFUSED = "mapping.refused."


@frozen()
class Label:
    """A variable that holds what a step says: its name, and of what it is the value."""

    variable: str
    item: str
    type: Type


@frozen(eq=False, slots=False)
class Labels:
    """The labels of one action, by their use."""

    arguments: tuple[Label, ...] = ()
    answer: Label | None = None
    known: tuple[tuple[int, Label | None], ...] = ()
    sets: tuple[tuple[int, Label], ...] = ()
    fires: tuple[tuple[int, Label], ...] = ()
    ids: tuple[Label, ...] = ()
    """Numbers of timers with which of them a step sets, and fires; which ids the step is for."""


@frozen(eq=False, slots=False)
class Instrumented:
    """A machine with labels.

    Its actions are those of the specification, then the refusals, then the one that observes, then
    one for each window.
    `labels` has an entry for each action. `rows` are those that the specification's actions stand
    for; `refusals` the numbers, among those, of the rows that the refusals are of.
    """

    machine: Machine
    rows: tuple[BoundRow, ...]
    labels: tuple[Labels, ...]
    refusals: tuple[int, ...]
    observed: tuple[Label, ...]
    armed: tuple[Label, ...]
    base: int
    """How many variables are the specification's own."""


def instrument(bound: Bound) -> Instrumented:
    """Return the machine of a mapping's instance with labels."""
    maker = _Maker(bound)
    steps = [maker.step(row) for row in bound.rows]
    refusals = [maker.refusal(n) for n, row in enumerate(bound.rows) if row.refused is not None]
    observe = maker.observation(bound.observe)
    machine = replace(
        bound.machine,
        variables=(*bound.machine.variables, *maker.variables),
        actions=(*steps, *refusals, observe, *(window.slide for window in bound.windows)),
        properties=(),
        bounds=bound.conditions,
        terminal=(),
        deadlock=False,
        symmetry=False,
        expectation=None,
    )
    return Instrumented(
        machine=machine,
        rows=bound.rows,
        labels=tuple(maker.labels),
        refusals=tuple(n for n, row in enumerate(bound.rows) if row.refused is not None),
        observed=maker.observed,
        armed=maker.armed,
        base=len(bound.machine.variables),
    )


class _Maker:
    """Collects the labels of one machine."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.variables: list[Variable] = []
        self.labels: list[Labels] = []
        self.observed: tuple[Label, ...] = ()
        self.armed: tuple[Label, ...] = ()

    def step(self, row: BoundRow) -> Action:
        """Return a row of the specification that also writes its labels."""
        name = row.action.name
        arguments = self._labels(f"{name}.with", row.arguments)
        answer = self._label(f"{name}.answer", "answer", row.answer)
        known = tuple(
            (number, self._label(f"{name}.known.{number}", "known", when))
            for number, when in row.known
            if not self.bound.known[number].refused
        )
        sets, setting = self._of_timers(row, "sets")
        fires, firing = self._of_timers(row, "fires")
        ids, named = self._ids(row)
        self.labels.append(Labels(arguments, answer, known, sets, fires, ids))
        whens = dict(row.known)
        written = [
            *zip(arguments, (term for _, term in row.arguments), strict=True),
            *([(answer, row.answer)] if answer is not None else []),
            *((label, whens[number]) for number, label in known if label is not None),
            *setting,
            *firing,
            *named,
        ]
        body = _writing(row.action.body, [(a, b) for a, b in written if b is not None])
        return replace(row.action, body=body)

    def refusal(self, number: int) -> Action:
        """Return a step that changes nothing: the call of a row where it is not enabled."""
        row = self.bound.rows[number]
        assert row.refused is not None
        name = f"{REFUSED}{row.action.name}"
        arguments = self._labels(f"{name}.with", row.arguments)
        answer = self._label(f"{name}.answer", "answer", row.refused.answer)
        known = tuple(
            (place, self._label(f"{name}.known.{place}", "known", when))
            for place, when in row.known
            if self.bound.known[place].refused
        )
        self.labels.append(Labels(arguments, answer, known))
        whens = dict(row.known)
        written = [
            *(
                (label, _here(term))
                for label, (_, term) in zip(arguments, row.arguments, strict=True)
            ),
            *([(answer, row.refused.answer)] if answer is not None else []),
            *((label, whens[place]) for place, label in known if label is not None),
        ]
        span = row.action.span
        guard = build.conjunction(
            [
                build.negation(row.action.guard, span),
                *([row.refused.when] if row.refused.when is not None else []),
            ],
            span,
        )
        return replace(
            row.action,
            name=name,
            guard=guard,
            body=tuple(_assign(label, term) for label, term in written if term is not None),
            fault=None,
            fair="none",
        )

    def observation(self, observe: Terms) -> Action:
        """Return the step that changes nothing and says what is to be observed."""
        self.observed = self._labels("observe", observe)
        timers = [(timer.name, timer.armed) for timer in self.bound.timers]
        self.armed = self._labels("armed", tuple(timers))
        self.labels.append(Labels())
        return Action(
            name=OBSERVE,
            bindings=(),
            lets=(),
            shown_lets=(),
            guard=convert.truth(True, NOWHERE),
            body=tuple(
                _assign(label, term)
                for label, (_, term) in zip(
                    (*self.observed, *self.armed), (*observe, *timers), strict=True
                )
            ),
            trigger=Trigger("spontaneous", None, None),
            fault=None,
            fair="none",
            generated=True,
            actor=None,
            about="",
            source="",
            span=NOWHERE,
        )

    def _of_timers(
        self, row: BoundRow, what: Literal["sets", "fires"]
    ) -> tuple[tuple[tuple[int, Label], ...], list[tuple[Label, Term]]]:
        """Return the labels that say which timers a row's step sets or fires, and their terms."""
        labels: list[tuple[int, Label]] = []
        written: list[tuple[Label, Term]] = []
        for number, timer in enumerate(self.bound.timers):
            for name, term in getattr(timer, what):
                if name == row.action.name:
                    label = self._label(f"{name}.{what}.{number}", timer.name, term)
                    assert label is not None
                    labels.append((number, label))
                    written.append((label, term))
        return tuple(labels), written

    def _ids(self, row: BoundRow) -> tuple[tuple[Label, ...], list[tuple[Label, Term]]]:
        """Return the labels of the ids that a row that nobody asks for is for.

        Those that are interchangeable, by the mapping's word only where the row is not taken soon
        for whom it can be, and all of a row that waits for a line that names them, or that an
        answer to them tells of.
        """
        name = row.action.name
        waits = any(name in one.rows for one in self.bound.together)
        hidden = row.kind == "silent" or name in self.bound.hidden or waits
        late = name in self.bound.late or waits or name in dict(self.bound.told)
        alike = {kind.name for kind in self.bound.machine.ids if kind.symmetric}
        alike |= self.bound.alike if name not in self.bound.soon else set()
        written: list[tuple[Label, Term]] = []
        for binding in row.action.bindings if hidden and self.bound.recorded else ():
            kind = item_of(binding.domain.type)
            if isinstance(kind, Id) and (kind.name in alike or late):
                term = t.Local(binding.name, kind, row.action.span)
                label = self._label(f"{row.action.name}.id.{binding.name}", binding.name, term)
                assert label is not None
                written.append((label, term))
        return tuple(label for label, _ in written), written

    def _labels(self, prefix: str, terms: Terms) -> tuple[Label, ...]:
        found = [self._label(f"{prefix}.{name}", name, term) for name, term in terms]
        return tuple(label for label in found if label is not None)

    def _label(self, name: str, item: str, term: Term | None) -> Label | None:
        if term is None:
            return None
        variable = f"mapping.{name}"
        kind = self._without_ids(term.type)
        initial = t.Literal(first_value(kind), kind, term.span)
        self.variables.append(Variable(variable, kind, initial, "variable", None, term.span))
        return Label(variable, item, kind)

    def _without_ids(self, kind: Type) -> Type:
        """Return a type for values of `kind` whose first value holds no id: `fresh` sees labels."""
        first = first_value(kind)
        named = any(occurring(ids, kind, first) for ids in self.bound.machine.ids)
        return Option(kind) if named else kind


def _assign(label: Label, term: Term) -> Statement:
    place = t.Place(label.variable, (), label.type, term.span)
    return t.Assign(place, convert.coerce(term, label.type), term.span)


def _here(term: Term) -> Term:
    """Return a term without `next`: in a refusal what follows is what was."""
    return _here(term.item) if isinstance(term, t.Next) else rebuild(term, _here)


def _writing(
    body: tuple[Statement, ...], written: list[tuple[Label, Term]]
) -> tuple[Statement, ...]:
    """Return a row's body that writes labels at its end; what is old is kept from its beginning."""
    kept: dict[str, Statement] = {}
    last: list[Statement] = []
    for label, term in written:
        if any(isinstance(node, t.Next) for node in walk(term)):
            value = _at_the_end(term, kept)
        else:
            name = f"mapping.kept.{label.variable}"
            kept[name] = t.SetLocal(name, term, term.span)
            value = t.Local(name, term.type, term.span)
        last.append(_assign(label, value))
    return (*kept.values(), *_answering(body, tuple(last)), *last)


def _at_the_end(term: Term, kept: dict[str, Statement]) -> Term:
    """Return a term over a state and the next as one that is evaluated in the next."""
    match term:
        case t.Next(item, _, _):
            return item
        case t.Read(variable, kind, span):
            name = f"mapping.old.{variable}"
            kept[name] = t.SetLocal(name, term, span)
            return t.Local(name, kind, span)
    return rebuild(term, partial(_at_the_end, kept=kept))


def _answering(body: tuple[Statement, ...], last: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return statements in which a `reject`, which ends the row, writes the labels too."""
    changed: list[Statement] = []
    for statement in body:
        match statement:
            case t.Reject(inner, _):
                changed.append(replace(statement, body=(*inner, *last)))
            case t.If(_, then, otherwise, _):
                changed.append(
                    replace(
                        statement,
                        then=_answering(then, last),
                        otherwise=_answering(otherwise, last),
                    )
                )
            case t.For(_, _, inner, _) | t.Scope(_, inner, _):
                changed.append(replace(statement, body=_answering(inner, last)))
            case _:
                changed.append(statement)
    return tuple(changed)
