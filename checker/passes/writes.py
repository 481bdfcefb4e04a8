"""What statements may change: places, variables, locals."""

from __future__ import annotations

from collections.abc import Iterable

from checker.machine import terms
from checker.machine.terms import Place, Statement
from checker.machine.types import Id
from checker.machine.walk import statements_inside

_CHANGING = (terms.Assign, terms.Transition, terms.Delete, terms.Send, terms.Receive)
_NAMING = (terms.SetLocal, terms.Pick, terms.Fresh)


def places(statements: Iterable[Statement]) -> list[Place]:
    """Return the places that statements may change."""
    return [item.place for item in statements_inside(statements) if isinstance(item, _CHANGING)]


def written_variables(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Return the variables that statements may change, each once."""
    return tuple(dict.fromkeys(place.variable for place in places(statements)))


def assigned_locals(statements: Iterable[Statement]) -> set[str]:
    """Return the names that statements assign as locals."""
    return {item.name for item in statements_inside(statements) if isinstance(item, _NAMING)}


def drawn_kinds(statements: Iterable[Statement]) -> list[Id]:
    """Return the id types that statements draw fresh ids of."""
    kinds = {
        item.type.name: item.type
        for item in statements_inside(statements)
        if isinstance(item, terms.Fresh)
    }
    return list(kinds.values())
