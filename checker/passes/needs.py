"""What an action needs of a state: the variables it reads or changes, and the ids that it draws."""

from __future__ import annotations

from checker.frozen import frozen
from checker.machine.machine import Action
from checker.machine.types import Id
from checker.machine.walk import statements_inside, variables_read
from checker.passes.writes import drawn_kinds


@frozen()
class Needs:
    """What an action reads or changes of a state, and the ids that it draws."""

    variables: frozenset[str]
    drawn: tuple[Id, ...]


def needs_of(action: Action) -> Needs:
    """Return what an action needs."""
    reads = variables_read(action.guard, *(term for _, term in action.lets), *action.body)
    for binding in action.bindings:
        reads |= variables_read(binding)
    for statement in statements_inside(action.body):
        place = getattr(statement, "place", None)
        if place is not None:
            reads.add(place.variable)
    return Needs(frozenset(reads), tuple(drawn_kinds(action.body)))
