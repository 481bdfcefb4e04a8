"""All renamings of a machine's symmetric ids as numbers, and what they do to what runs are told by.

Where infinite runs are judged on one state of each orbit, each step has to say how its end is
renamed. A renaming is its place in `semantics.symmetry.renamings`; 0 changes nothing. What they
compose to, what becomes of the instances that fairness is promised to and of the properties that
`for:` makes for each id, stands in tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.machine import LIVENESS, Machine, Property
from checker.machine.terms import Term
from checker.machine.types import Id, Option, Type, cardinality
from checker.machine.walk import rebuild
from checker.semantics.fairness import FairRow, fair_rows
from checker.semantics.symmetry import Renaming, permute, renamings, renamings_of, symmetric_ids
from checker.semantics.values import code_of, value_of

NIBBLE = 4
"""Bits of a naming, as native code has it, for each id."""

_KEY_BITS = 3
"""RENAMINGS_MAX leaves a type six ids at most, and all together eighteen."""

_TABLES = 3
"""Tables of promises: the graph's, those with properties of each id, and with an automaton."""


@frozen(slots=False)
class Renamings:
    """The renamings of `kinds`.

    `names[g]` says what becomes of each id, those of one type after those of another, by its place
    in its type. `after[g, h]`: first h, then g. `back[g]` undoes g. `instances[g]`: what becomes of
    each instance that fairness is promised to; `properties[g]`, of each liveness property: the
    first one that claims that, for several may claim the same. All of them are int64.
    """

    kinds: tuple[Id, ...]
    maps: tuple[Renaming, ...]
    names: NDArray[np.int64]
    after: NDArray[np.int64]
    back: NDArray[np.int64]
    instances: NDArray[np.int64]
    properties: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.maps)

    @property
    def namings(self) -> NDArray[np.int64]:
        """Return int64 (count, kinds): each as native code takes it, nibble i for id i."""
        columns: list[NDArray[np.int64]] = []
        first = 0
        for kind in self.kinds:
            size = len(kind.members)
            shifts = NIBBLE * np.arange(size)
            columns.append((self.names[:, first : first + size] << shifts).sum(axis=1))
            first += size
        return np.ascontiguousarray(np.stack(columns, axis=1))


def bytes_of_renamings(machine: Machine) -> int:
    """Return what tables of what becomes of each promise take, of all that a graph may need."""
    promised = sum(row.count for row in fair_rows(machine).promised)
    return _TABLES * 8 * promised * renamings_of(symmetric_ids(machine))


def renamings_for(machine: Machine) -> Renamings:
    """Return the renamings of a machine that is to be reduced."""
    kinds = symmetric_ids(machine)
    maps = tuple(renamings(machine))
    names = np.array([_names(kinds, given) for given in maps], np.int64)
    after = _after(kinds, names)
    swaps = _swaps(kinds, names)
    judged = [item for item in machine.properties if item.kind in LIVENESS]
    promised = fair_rows(machine).promised

    def properties(given: Renaming) -> NDArray[np.int64]:
        return np.array([_place(judged, renamed(item, given)) for item in judged], np.int64)

    def instances(given: Renaming) -> NDArray[np.int64]:
        rows = (_of_row(row, given) for row in promised)
        return np.concatenate([np.empty(0, np.int64), *rows])

    return Renamings(
        kinds=kinds,
        maps=maps,
        names=names,
        after=after,
        back=np.argmin(after, axis=1),
        instances=_composed(after, swaps, maps, instances),
        properties=_composed(after, swaps, maps, properties),
    )


def _after(kinds: tuple[Id, ...], names: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which renaming each is after each other."""
    sizes = [len(kind.members) for kind in kinds]
    starts = np.repeat(np.cumsum([0, *sizes])[:-1], sizes)
    keys = _keys(names)
    order = np.argsort(keys)
    made = names[:, starts + names]
    found: NDArray[np.int64] = order[np.searchsorted(keys[order], _keys(made))]
    return found


def _keys(names: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each row of names, another for each other row."""
    shifts = _KEY_BITS * np.arange(names.shape[-1])
    keys: NDArray[np.int64] = (names << shifts).sum(axis=-1)
    return keys


def _swaps(kinds: tuple[Id, ...], names: NDArray[np.int64]) -> list[int]:
    """Return the renamings that swap an id with the next one: all others are made of these."""
    ids = np.concatenate([np.arange(len(kind.members)) for kind in kinds])
    moved = (names != ids).sum(axis=1)
    near = np.abs(names - ids).max(axis=1, initial=0)
    return np.flatnonzero((moved == 2) & (near == 1)).tolist()


def _composed(
    after: NDArray[np.int64],
    swaps: Sequence[int],
    maps: Sequence[Renaming],
    moved: Callable[[Renaming], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Return what becomes of things by each renaming, from what `moved` says of a few of them."""
    first = moved(maps[0])
    found = np.empty((len(maps), len(first)), np.int64)
    found[0] = first
    moves = {swap: moved(maps[swap]) for swap in swaps}
    known, waiting = {0}, [0]
    while waiting:
        other = waiting.pop()
        for swap, move in moves.items():
            made = int(after[swap, other])
            if made not in known:
                known.add(made)
                found[made] = move[found[other]]
                waiting.append(made)
    return found


def _names(kinds: tuple[Id, ...], given: Renaming) -> list[int]:
    return [
        kind.members.index(str(given[kind.name][member]))
        for kind in kinds
        for member in kind.members
    ]


# ------------------------------------------------------------------------------ what is promised


def _of_row(row: FairRow, given: Renaming) -> NDArray[np.int64]:
    """Return what becomes of each instance of a row or group."""
    own = np.arange(row.count)
    found = np.full(row.count, row.first, np.int64)
    for _, kind, factor in row.splits:
        codes = np.array(_codes(kind, given), np.int64)
        found += codes[own // factor % cardinality(kind)] * factor
    return found


def _codes(kind: Type, given: Renaming) -> list[int]:
    """Return the code of what becomes of each value of a type, by its code."""
    inner = kind.item if isinstance(kind, Option) else kind
    if not isinstance(inner, Id) or inner.name not in given:
        return list(range(cardinality(kind)))
    return [
        code_of(kind, permute(kind, value_of(kind, code), given))
        for code in range(cardinality(kind))
    ]


# -------------------------------------------------------------------------- what is to come about


def _place(judged: Sequence[Property], item: Property) -> int:
    return next(place for place, other in enumerate(judged) if same_claim(item, other))


def renamed(item: Property, given: Renaming) -> Property:
    """Return what a property claims of ids after they are renamed; its name is that of before."""

    def change(term: Term) -> Term:
        if isinstance(term, t.Literal):
            value = permute(term.type, term.value, given)
            return term if value == term.value else replace(term, value=value)
        return rebuild(term, change)

    def changed(term: Term | None) -> Term | None:
        return None if term is None else change(term)

    return replace(
        item,
        condition=change(item.condition),
        premise=changed(item.premise),
        atoms=tuple(map(change, item.atoms)),
        initially=changed(item.initially),
    )


def same_claim(one: Property, other: Property) -> bool:
    """Whether two properties, of one declaration, claim the same."""
    if one.declared != other.declared or (not one.declared and one.name != other.name):
        return False
    return replace(one, name="") == replace(other, name="")
