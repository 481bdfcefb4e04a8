"""Takes a Machine, makes one that asks how near its states are to breaking a property.

Or to reaching one, where `sometimes` properties are all that is looked for.

A property breaks where several things hold together: of `all(implies(p, q) for ...)` that some `p`
holds, and some `q` does not. Each that has to hold first, and the first few of several together, is
asked as a question (`Property.asks`). Search-based testing has gone by such distances since Korel
1990 ("Automated Software Test Data Generation").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checker.kernel.build import CHECKS_MAX
from checker.machine import terms as t
from checker.machine.certain import any_up_to
from checker.machine.machine import OF_STEPS, Machine, Property
from checker.machine.types import Bool
from checker.machine.walk import walk

_BOOL = Bool()
_A_PROPERTY = 12
"""The most that is asked for one property."""


def aims(machine: Machine) -> frozenset[str]:
    """Return the `sometimes` properties that end a hunt: all, where that is all it is for."""
    claims = [item for item in machine.properties if not item.asks]
    reached = all(item.kind == "sometimes" for item in claims) and not machine.deadlock
    return frozenset(item.name for item in claims) if reached else frozenset()


def guided(machine: Machine) -> Machine:
    """Return `machine` with its questions, those that fit: first one of each property."""
    room = CHECKS_MAX - sum(item.kind in ("always", "sometimes") for item in machine.properties)
    wanted = aims(machine)
    asked = [
        [
            _question(item, number, side)
            for number, side in zip(range(_A_PROPERTY), _sides_of(item, wanted), strict=False)
        ]
        for item in machine.properties
    ]
    rounds = [
        questions[turn]
        for turn in range(_A_PROPERTY)
        for questions in asked
        if turn < len(questions)
    ]
    return replace(machine, properties=(*machine.properties, *rounds[: max(room, 0)]))


def _sides_of(item: Property, wanted: frozenset[str]) -> Iterator[t.Term]:
    if item.kind == "always" or item.kind in OF_STEPS or item.name in wanted:
        for side in _sides(item.condition, wanted=item.name in wanted):
            if not any(isinstance(node, (t.Next, t.Ran, t.Leads)) for node in walk(side)):
                yield side


def _question(item: Property, number: int, side: t.Term) -> Property:
    return Property(
        name=f"{item.name}?{number}",
        kind="sometimes",
        condition=side,
        premise=None,
        why="",
        source="",
        span=side.span,
        declared=item.declared or item.name,
        asks=True,
    )


def _sides(term: t.Term, *, wanted: bool) -> Iterator[t.Term]:
    """Yield conditions of which some hold wherever `term` is `wanted`, weaker ones first.

    None can fail where the term itself could not: each looks at no more than the term does.
    """
    match term:
        case t.Not(item):
            yield from _sides(item, wanted=not wanted)
        case t.And(items):
            yield from _together(items, wanted=wanted, every=wanted)
        case t.Or(items):
            yield from _together(items, wanted=wanted, every=not wanted)
        case t.Implies(left, right) if not wanted:
            yield from _together((left, t.Not(right, right.span)), wanted=True, every=True)
        case t.Let(name, value, body, _, _):
            for side in _sides(body, wanted=wanted):
                yield t.Let(name, value, side, _BOOL, side.span)
        case t.Choose(condition, then, otherwise, _, span):
            for side in _sides(then, wanted=wanted):
                yield t.And((condition, side), side.span)
            for side in _sides(otherwise, wanted=wanted):
                yield t.And((t.Not(condition, span), side), side.span)
        case t.Fold("all" | "any" as kind, generators, body, _, _, span) if wanted == (
            kind == "any"
        ):
            if any(generator.condition is not None for generator in generators):
                yield t.Fold("any", generators, t.Literal(True, _BOOL, span), None, _BOOL, span)
            for side in _sides(body, wanted=wanted):
                yield any_up_to(generators, side, _as(body, wanted=wanted))
        case t.Compare("<=" | ">=" as operator, left, right, span) if not wanted:
            # One step before it: where they are equal, and beyond.
            yield t.Compare(">=" if operator == "<=" else "<=", left, right, span)


def _together(items: tuple[t.Term, ...], *, wanted: bool, every: bool) -> Iterator[t.Term]:
    """Yield what holds where `every` one of the items, or one of them, is `wanted`."""
    for place, item in enumerate(items):
        before = items[:place]
        if every:
            told = tuple(_as(other, wanted=wanted) for other in before)
            for side in _sides(item, wanted=wanted):
                yield _both(told, side)
            if place < len(items) - 1:
                yield _both(told, _as(item, wanted=wanted))
        else:
            # The items before it have to be evaluated as they were.
            told = tuple(_as(other, wanted=not wanted) for other in before)
            for side in _sides(item, wanted=wanted):
                yield _both(told, side)


def _as(term: t.Term, *, wanted: bool) -> t.Term:
    if wanted:
        return term
    return term.item if isinstance(term, t.Not) else t.Not(term, term.span)


def _both(before: tuple[t.Term, ...], side: t.Term) -> t.Term:
    return t.And((*before, side), side.span) if before else side
