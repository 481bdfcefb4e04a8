"""Renaming interchangeable ids: what makes two states the same up to who is who.

The ids of a type declared symmetric can change places everywhere at once, and nothing that matters
changes. The states that renamings make of one state are its *orbit*. Everything here is brute
force: all permutations of every symmetric type, their product. It is what faster ways are held to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from checker.machine import terms as t
from checker.machine.machine import Action, Machine
from checker.machine.once import once
from checker.machine.types import Bag, Id, Map, Option, Record, Sequence, Set, Type, Union
from checker.machine.walk import statements_inside
from checker.semantics.successor import State
from checker.semantics.values import RecordValue, bag_value, code_of, map_value

IDS_MAX = 15
"""Ids of a symmetric type that native code renames: none and all of them fit 16 nibbles."""

Renaming = Mapping[str, Mapping[object, object]]
"""For the name of an id type: what each of its ids is called afterwards."""


RENAMINGS_MAX = 720
"""Renamings of a machine whose infinite runs are judged on one state of each orbit."""


def reduces(machine: Machine) -> bool:
    """Whether a search of `machine` keeps one state of each orbit."""
    if not machine.symmetry:
        return False
    kinds = symmetric_ids(machine)
    if not machine.judges_runs:
        return bool(kinds)
    return machine.endless_symmetry and 1 < renamings_of(kinds) <= RENAMINGS_MAX


def symmetric_ids(machine: Machine) -> tuple[Id, ...]:
    """Return the id types whose ids are interchangeable and more than one.

    Where infinite runs are judged, those that `fresh` draws are left out: it always draws the
    least, so what becomes of each id for ever is not what becomes of any other.
    """
    kinds = tuple(kind for kind in machine.ids if kind.symmetric and len(kind.members) > 1)
    if not kinds or not machine.judges_runs:
        return kinds
    drawn = drawn_ids(machine)
    return tuple(kind for kind in kinds if kind.name not in drawn)


def drawn_ids(machine: Machine) -> frozenset[str]:
    """Return the names of the id types of which rows draw ids that occur nowhere."""
    actions = (machine.initial, *machine.actions)
    return frozenset[str]().union(*(once(_drawn, action) for action in actions))


def _drawn(action: Action) -> frozenset[str]:
    """Return the names of the id types of which a row draws."""
    inside = statements_inside(action.body)
    return frozenset(part.type.name for part in inside if isinstance(part, t.Fresh))


def renamings_of(kinds: tuple[Id, ...]) -> int:
    """Return in how many ways ids of these types can be renamed."""
    return prod(factorial(len(kind.members)) for kind in kinds)


def renamings(machine: Machine) -> Iterator[Renaming]:
    """Yield every renaming of the machine's symmetric ids, first the one that changes nothing."""
    kinds = symmetric_ids(machine)
    for orders in product(*(permutations(kind.members) for kind in kinds)):
        yield {
            kind.name: dict(zip(kind.members, order, strict=True))
            for kind, order in zip(kinds, orders, strict=True)
        }


def permute(kind: Type, value: Any, renaming: Renaming) -> Any:
    """Return `value`, a value of `kind`, with every id in it renamed, however deep."""
    match kind:
        case Id(name, _, _):
            return renaming[name][value] if name in renaming else value
        case Option(item):
            return None if value is None else permute(item, value, renaming)
        case Record(name, fields):
            parts = ((field, permute(part, value[field], renaming)) for field, part in fields)
            return RecordValue(name, tuple(parts))
        case Union(_, variants):
            shape = next(variant for variant in variants if variant.name == value.name)
            return permute(shape, value, renaming)
        case Set(item):
            return frozenset(permute(item, member, renaming) for member in value)
        case Map(key, held, _):
            entries = {
                permute(key, name, renaming): permute(held, value[name], renaming) for name in value
            }
            return map_value(kind, entries)
        case Sequence(item, _):
            return tuple(permute(item, member, renaming) for member in value)
        case Bag(item, _):
            return bag_value(kind, (permute(item, member, renaming) for member in value))
    return value


def permute_state(machine: Machine, state: State, renaming: Renaming) -> State:
    """Return `state` with every id in it renamed."""
    return tuple(
        permute(variable.type, value, renaming)
        for variable, value in zip(machine.variables, state, strict=True)
    )


def orbit(machine: Machine, state: State) -> set[State]:
    """Return the states that renamings make of `state`, itself included."""
    return {permute_state(machine, state, renaming) for renaming in renamings(machine)}


def representative(machine: Machine, state: State) -> State:
    """Return the state of the orbit of `state` that is least by the codes of its variables.

    All states of an orbit have the same representative.
    """
    same = orbit(machine, state)
    if len(same) == 1:
        return state

    def codes(other: State) -> tuple[int, ...]:
        pairs = zip(machine.variables, other, strict=True)
        return tuple(code_of(variable.type, value) for variable, value in pairs)

    return min(same, key=codes)
