"""Vacuity: what passes only because it never says anything.

An implication whose left side never holds, a quantifier over nothing, a property of what no step
ever changes, a row that never fires. A machine is *asked* by further properties, which no verdict
shows: one for each left side, which is true where that side holds. So every engine answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from checker.frozen import frozen
from checker.kernel.build import CHECKS_MAX, STEPS_MAX
from checker.machine import terms as t
from checker.machine.certain import any_up_to
from checker.machine.machine import LIVENESS, OF_STEPS, Machine, Property
from checker.machine.types import Bool
from checker.machine.walk import variables_read, walk
from checker.passes.writes import written_variables
from checker.search.exploration import Exploration
from checker.source import Span
from checker.verdict import exits
from checker.verdict.judge import Verdict

Vacuity = Literal["off", "warn", "error"]

_BOOL = Bool()
_ROOM = 12
"""Properties of steps that liveness may need the room of."""


@frozen()
class Looked:
    """One thing that may be vacuous: of which row or property, what would be said of it, where.

    `seen`: it was met, so it is not; false: everything was searched and it was not met; None: the
    search ended before.
    """

    name: str
    message: str
    span: Span
    seen: bool | None

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


def asking(machine: Machine) -> Machine:
    """Return `machine` with its questions; those that fit beside its properties."""
    checks = sum(item.kind in ("always", "sometimes") for item in machine.properties)
    steps = sum(item.kind in OF_STEPS for item in machine.properties)
    room = {"sometimes": CHECKS_MAX - checks, "step": STEPS_MAX - _ROOM - steps}
    asked: list[Property] = []
    for item in machine.properties:
        for number, (side, message) in enumerate(_sides_of(item)):
            kind: Literal["step", "sometimes"] = "step" if item.kind in OF_STEPS else "sometimes"
            if room[kind] > 0:
                room[kind] -= 1
                asked.append(_question(item, f"{item.name}?{number}", kind, side, message))
    return replace(machine, properties=(*machine.properties, *asked))


def _question(
    item: Property, name: str, kind: Literal["step", "sometimes"], side: t.Term, message: str
) -> Property:
    condition: t.Term = t.Not(side, side.span) if kind == "step" else side
    return Property(
        name=name,
        kind=kind,
        condition=condition,
        premise=None,
        why=message,
        source="",
        span=side.span,
        declared=item.declared or item.name,
        asks=True,
    )


def _sides_of(item: Property) -> Iterator[tuple[t.Term, str]]:
    """Yield the left sides of a property, and what is to be said where one never holds."""
    if item.kind in ("always", "step"):
        yield from _sides(item.condition)
    elif item.kind == "refines" and isinstance(item.condition, t.Or):
        same = item.condition.items[0]
        yield t.Not(same, same.span), "nothing happens in that system: every step stutters"
    elif item.kind == "leads_to" and item.premise is not None:
        yield item.premise, "`from` never holds, so that nothing has to follow"


def _sides(term: t.Term) -> Iterator[tuple[t.Term, str]]:
    """Yield what has to hold for a part of a condition to say anything, and the sentence."""
    match term:
        case t.Implies(left, right):
            yield left, "the left side of `implies` never holds"
            for side, message in _sides(right):
                yield t.And((left, side), side.span), message
        case t.And(items):
            for place, item in enumerate(items):
                for side, message in _sides(item):
                    yield _both(items[:place], side), message
        case t.Let(name, value, body, _, _):
            for side, message in _sides(body):
                yield t.Let(name, value, side, _BOOL, side.span), message
        case t.Choose(condition, then, otherwise, _, span):
            for side, message in _sides(then):
                yield t.And((condition, side), side.span), message
            for side, message in _sides(otherwise):
                yield t.And((t.Not(condition, span), side), side.span), message
        case t.Fold("all", generators, body, _, _, span):
            inside = list(_sides(body))
            if not inside and any(_may_be_empty(generator) for generator in generators):
                inside = [(t.Literal(True, _BOOL, span), "`all` runs over nothing, ever")]
            for side, message in inside:
                yield any_up_to(generators, side, t.Not(body, body.span)), message


def _both(before: tuple[t.Term, ...], side: t.Term) -> t.Term:
    return t.And((*before, side), side.span) if before else side


def _may_be_empty(generator: t.Generator) -> bool:
    return generator.condition is not None or not isinstance(generator.domain, t.Everything)


def looked(machine: Machine, asked: Machine, exploration: Exploration) -> tuple[Looked, ...]:
    """Return everything that may be vacuous in `machine`, by what its search, asked, found."""
    never = False if exploration.exhaustive else None
    met = {finding.property for finding in exploration.findings}
    answers = [
        Looked(item.declared, item.why, item.span, True if item.name in met else never)
        for item in asked.properties
        if item.asks
    ]
    fired = {row.row for row in exploration.rows if row.fired}
    message = "this row never fires"
    rows = [
        Looked(action.name, message, action.span, True if action.name in fired else never)
        for action in machine.actions
        if not action.generated
    ]
    return (*_merged(answers), *_untouched(machine, fired, never), *rows)


def _merged(answers: Iterable[Looked]) -> Iterator[Looked]:
    """Yield one answer for each place: a property that `for:` makes several of is one."""
    found: dict[tuple[str, str, Span], Looked] = {}
    for item in answers:
        key = (item.name, item.message, item.span)
        known = found.get(key)
        if known is None or (item.seen and not known.seen):
            found[key] = item
    yield from found.values()


def _untouched(machine: Machine, fired: set[str], never: bool | None) -> Iterator[Looked]:
    """Yield for each property whether some step, or choice of an initial state, changes it."""
    changed = set(written_variables(machine.initial.body))
    for action in machine.actions:
        if action.name in fired:
            changed.update(written_variables(action.body))
    for item in machine.properties:
        said = (item.condition, *item.atoms, *([] if item.premise is None else [item.premise]))
        if item.kind == "sometimes" or any(isinstance(node, t.Ran) for node in walk(*said)):
            continue
        if item.kind in LIVENESS or item.kind in ("always", *OF_STEPS):
            touched = bool(variables_read(*said) & changed)
            message = "nothing that it depends on is ever changed by a step"
            yield Looked(item.declared or item.name, message, item.span, True if touched else never)


def vacuous(met: Iterable[Looked]) -> tuple[Looked, ...]:
    """Return what is vacuous for certain."""
    return tuple(item for item in met if item.seen is False)


def refusing(verdict: Verdict, met: Iterable[Looked]) -> Verdict:
    """Return a verdict whose exit code says that something is vacuous, if nothing worse is."""
    worse = verdict.exit_code not in (exits.HOLDS, exits.INTERRUPTED, exits.INCONCLUSIVE)
    return verdict if worse or not vacuous(met) else replace(verdict, exit_code=exits.UNWITNESSED)
