"""Machines whose steps say how they are called: by their row, its bindings, and its picks.

A kernel numbers rows, but what a row bound and picked is gone when the step is made. A *telling*
machine has further variables, none in every state that is stored, into which a step writes it. What
is picked in a loop is told in the order in which it happens: as many variables as it can happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import Action, Machine, Variable
from checker.machine.relations import item_of
from checker.machine.terms import Statement, Term
from checker.machine.types import (
    Bag,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    cardinality,
)
from checker.semantics.symmetry import reduces
from checker.semantics.values import format_value
from checker.source import Span

Slot = tuple[int, str, Literal["bound", "unnamed", "picked"]]
"""What is told: a binding or pick of a step's name, or a binding that is none of it and only tells
instances apart."""

_WRAPPED = "shown"
_TOLD_MAX = 24
"""How often picks in one loop may happen before they are not told."""


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """How a step is called: its row, the bindings that are shown, the picks; values as text."""

    row: str
    bindings: tuple[tuple[str, str], ...]
    picks: tuple[tuple[str, str], ...]

    @property
    def values(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The same for steps that are called the same: what a binding's name is says nothing."""
        bound, picked = ([value for _, value in part] for part in (self.bindings, self.picks))
        return self.row, tuple(bound), tuple(picked)

    @property
    def text(self) -> str:
        """The step as people write it: `leave(m2) pick m1`."""
        bound = ", ".join(value for _, value in self.bindings)
        picked = ", ".join(value for _, value in self.picks)
        return self.row + f"({bound})" * bool(bound) + f" pick {picked}" * bool(picked)


@frozen()
class Telling:
    """A machine that tells, and where: `slots` of each action, in the order of its label.

    A slot is the number of a variable, the name it is for, and what it tells. Actions in `silent`
    pick so often in loops that their picks are not told.
    """

    machine: Machine
    own: int
    slots: tuple[tuple[Slot, ...], ...]
    silent: frozenset[str]

    def picked(self, action: int) -> tuple[int, ...]:
        """Return the variables that tell what an action picks."""
        return tuple(number for number, _, told in self.slots[action] if told == "picked")


def bare(machine: Machine) -> Telling:
    """Return `machine` as one that tells nothing: its steps are called by their rows."""
    without = replace(machine, properties=(), deadlock=False, expectation=None)
    return Telling(without, len(machine.variables), ((),) * len(machine.actions), frozenset())


def telling(machine: Machine) -> Telling:
    """Return the telling machine of `machine`, of which nothing is judged."""
    maker = _Maker(machine)
    actions = tuple(maker.action(action) for action in machine.actions)
    bare = replace(
        machine,
        properties=(),
        deadlock=False,
        expectation=None,
        actions=actions,
        variables=(*machine.variables, *maker.variables),
    )
    return Telling(bare, len(machine.variables), tuple(maker.slots), frozenset(maker.silent))


def shown_value(value: object) -> str:
    """Return the text of what a slot holds."""
    if getattr(value, "name", None) == _WRAPPED:
        value = value["value"]  # type: ignore[index]
    return format_value(value)


class _Maker:
    def __init__(self, machine: Machine) -> None:
        self._first = len(machine.variables)
        self.variables: list[Variable] = []
        self.slots: list[tuple[Slot, ...]] = []
        self._apart = reduces(machine)
        self.silent: set[str] = set()
        self._numbers: dict[tuple[Type, int], int] = {}

    def action(self, action: Action) -> Action:
        """Return an action that tells what it bound and picked, and note in which slots."""
        span = action.span
        used: Counter[Type] = Counter()
        slots: list[Slot] = []
        before: list[Statement] = []
        after: list[Statement] = []

        def tell(
            local: str, kind: Type, name: str, what: Literal["bound", "unnamed", "picked"]
        ) -> None:
            number = self._slot(kind, used[kind], span)
            used[kind] += 1
            slots.append((number, name, what))
            variable = self.variables[number - self._first]
            place = t.Place(variable.name, (), variable.type, span)
            after.append(t.Assign(place, t.Local(local, variable.type, span), span))

        units = _units(action.body)
        bound: list[tuple[str, Type, Literal["bound", "unnamed"]]] = [
            (name, kind, "bound") for name, kind in action.shown.items()
        ]
        if self._apart and units:
            bound += [(name, kind, "unnamed") for name, kind in _unnamed(action)]
        for name, kind, what in bound:
            if cardinality(kind):
                local = f"#{name}"
                before.append(t.SetLocal(local, _wrapped(t.Local(name, kind, span), span), span))
                tell(local, kind, name, what)
        notes: dict[int, tuple[Statement, ...]] = {}
        if any(unit.most > _TOLD_MAX for unit in units):
            self.silent.add(action.name)
            units = []
        for number, unit in enumerate(units):
            for turn in range(unit.most):
                for site, pick in enumerate(unit.picks):
                    local, kind = f"#{number}.{turn}.{site}", _picked_type(pick)
                    nothing = t.Literal(None, _optional(kind), span)
                    before.append(t.SetLocal(local, nothing, span))
                    tell(local, kind, pick.name, "picked")
            if unit.most > 1:
                before.append(t.SetLocal(f"#{number}", _turn(0, unit), span))
            for site, pick in enumerate(unit.picks):
                notes[id(pick)] = _note(number, site, pick, unit)
        body = _noting(action.body, notes)
        self.slots.append(tuple(slots))
        return replace(action, body=(*before, *_ending(body, tuple(after)), *after))

    def _slot(self, kind: Type, place: int, span: Span) -> int:
        if (kind, place) not in self._numbers:
            self._numbers[kind, place] = self._first + len(self.variables)
            optional = _optional(kind)
            name = f"#told.{len(self.variables)}"
            nothing = t.Literal(None, optional, span)
            self.variables.append(Variable(name, optional, nothing, "variable", None, span))
        return self._numbers[kind, place]


def _unnamed(action: Action) -> Iterator[tuple[str, Type]]:
    """Yield the bindings of an action that are not in its steps' names, with their types."""
    for binding in action.bindings:
        kind = item_of(binding.domain.type)
        if not binding.shown and kind is not None:
            yield binding.name, kind


def _optional(kind: Type) -> Option:
    if isinstance(kind, Option):
        return Option(Record(_WRAPPED, (("value", kind),)))
    return Option(kind)


def _wrapped(term: Term, span: Span) -> Term:
    optional = _optional(term.type)
    if isinstance(term.type, Option):
        term = t.RecordOf(_WRAPPED, (("value", term),), optional.item, span)
    return t.Cast(term, optional, span)


def _picked_type(pick: t.Pick) -> Type:
    domain = pick.domain.type
    return domain.key if hasattr(domain, "key") else domain.item  # type: ignore[union-attr]


@frozen()
class _Unit:
    """Picks whose order only a run knows, those in one loop, or a pick alone; at `most` so many."""

    picks: tuple[t.Pick, ...]
    most: int


def _units(body: tuple[Statement, ...]) -> list[_Unit]:
    """Return the picks of statements, in their order."""
    found: list[_Unit] = []
    for item in body:
        match item:
            case t.Pick():
                found.append(_Unit((item,), 1))
            case t.For():
                inner = _units(item.body)
                if inner:
                    picks = tuple(pick for unit in inner for pick in unit.picks)
                    found.append(_Unit(picks, _turns(item) * sum(unit.most for unit in inner)))
            case t.If():
                found += _units(item.then) + _units(item.otherwise)
            case t.Scope() | t.Reject():
                found += _units(item.body)
    return found


def _turns(loop: t.For) -> int:
    """Return how often a loop turns at most."""
    match loop.domain.type:
        case Sequence(_, capacity) | Bag(_, capacity):
            return capacity
        case Set(item) | Map(item):
            return cardinality(item)
    raise TypeError(f"{loop.domain.type} is no collection")


def _turn(number: int, unit: _Unit) -> t.Literal:
    """Return how many picks of a unit there were."""
    return t.Literal(number, Range(0, unit.most), unit.picks[0].span)


def _note(number: int, site: int, pick: t.Pick, unit: _Unit) -> tuple[Statement, ...]:
    """Return what notes a pick as the next one of its unit."""
    span = pick.span
    value = _wrapped(t.Local(pick.name, _picked_type(pick), span), span)
    if unit.most == 1:
        return (t.SetLocal(f"#{number}.0.{site}", value, span),)
    made: tuple[Statement, ...] = ()
    so_far = t.Local(f"#{number}", Range(0, unit.most), span)
    for turn in reversed(range(unit.most)):
        noted = (
            t.SetLocal(f"#{number}.{turn}.{site}", value, span),
            t.SetLocal(f"#{number}", _turn(turn + 1, unit), span),
        )
        made = (t.If(t.Equal(so_far, _turn(turn, unit), span), noted, made, span),)
    return made


def _noting(
    body: tuple[Statement, ...], notes: Mapping[int, tuple[Statement, ...]]
) -> tuple[Statement, ...]:
    """Return statements in which each pick is noted at once."""
    made: list[Statement] = []
    for item in body:
        made.append(_inside(item, lambda inner: _noting(inner, notes)))
        made += notes.get(id(item), ()) if isinstance(item, t.Pick) else ()
    return tuple(made)


def _ending(body: tuple[Statement, ...], after: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return statements in which what ends the row early does `after`, too."""
    made: list[Statement] = []
    for item in body:
        inner = _inside(item, lambda part: _ending(part, after))
        if isinstance(inner, t.Reject):
            inner = replace(inner, body=(*inner.body, *after))
        made.append(inner)
    return tuple(made)


def _inside(item: Statement, change: object) -> Statement:
    """Return a statement with the statements inside it changed."""
    assert callable(change)
    match item:
        case t.If():
            return replace(item, then=change(item.then), otherwise=change(item.otherwise))
        case t.For() | t.Scope() | t.Reject():
            return replace(item, body=change(item.body))
    return item
