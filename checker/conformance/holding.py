"""Which ids a state holds: those that it would be another one without.

An id is held where a value has it, and where what the state keeps for it is not as in the
beginning. What is not held may be forgotten, and given to the next that comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from checker.conformance.space import Key, Space
from checker.machine.types import Bag, Id, Map, Option, Record, Sequence, Set, Type, Union

Held = frozenset[tuple[str, str]]
"""Types and ids."""

_KEPT = 200_000


class Holding:
    """What states hold; remembered by state."""

    def __init__(self, space: Space) -> None:
        self.space = space
        machine = space.bound.machine
        begins = space.initial()
        self.first = space.state(begins[0]) if begins else None
        self.all = frozenset((kind.name, member) for kind in machine.ids for member in kind.members)
        declared = {kind for kind, _ in space.bound.names}
        self.alike = (
            frozenset()
            if machine.unlike or self.first is None
            else frozenset(
                kind.name
                for kind in machine.ids
                if (kind.symmetric or kind.name in space.bound.alike)
                and kind.name not in declared
                and self._begins_alike(kind, begins)
            )
        )
        """Types whose ids differ in nothing while they are not held."""
        self._order = {kind.name: kind.members for kind in machine.ids}
        self._held: dict[Key, Held] = {}
        layout = space.layout
        self._bits = [
            tuple(sorted(layout.masks(frozenset({it.name})).items())) for it in machine.variables
        ]
        self._parts: dict[tuple[int, ...], Held] = {}
        self._free: dict[tuple[Held, Held], Held] = {}

    def held(self, key: Key) -> Held:
        """Return what a state holds."""
        found = self._held.get(key)
        if found is None:
            if len(self._held) > _KEPT:
                self._held.clear()
            found = self._held[key] = frozenset(self._in_state(key))
        return found

    def free(self, key: Key, bound: Held) -> Held:
        """Return the ids that something new may be: of those that are alike the first only."""
        held = self.held(key)
        found = self._free.get((held, bound))
        if found is None:
            if len(self._free) > _KEPT:
                self._free.clear()
            found = self._free[held, bound] = self._first_of(held, bound)
        return found

    def _first_of(self, held: Held, bound: Held) -> Held:
        hidden: set[tuple[str, str]] = set()
        for kind in self.alike:
            open_ = [(kind, one) for one in self._order[kind]]
            hidden.update([one for one in open_ if one not in held and one not in bound][1:])
        return self.all - hidden

    def _begins_alike(self, kind: Id, begins: list[Key]) -> bool:
        """Whether every initial state keeps the same for each id of a type, and has none of it."""
        variables = self.space.bound.machine.variables
        for key in begins:
            for variable, value in zip(variables, self.space.state(key), strict=True):
                if not _begins_alike(kind, variable.type, value):
                    return False
        return True

    def _in_state(self, key: Key) -> Iterator[tuple[str, str]]:
        """Yield what stands in a state; of each variable what is remembered for its bits."""
        words = np.frombuffer(key, np.uint64).tolist()
        for index, places in enumerate(self._bits):
            bits = (index, *(words[word] & mask for word, mask in places))
            found = self._parts.get(bits)
            if found is None:
                if len(self._parts) > _KEPT:
                    self._parts.clear()
                found = self._parts[bits] = frozenset(self._in_variable(key, index))
            yield from found

    def _in_variable(self, key: Key, index: int) -> Iterator[tuple[str, str]]:
        assert self.first is not None
        whole = self.space.bound.machine.variables[index].type
        value: Any = self.space.variable(key, index)
        first: Any = self.first[index]
        if isinstance(whole, Map) and whole.total and isinstance(whole.key, Id):
            for one in whole.key.members:
                if value[one] != first[one]:
                    yield whole.key.name, one
                    yield from _ids(whole.value, value[one])
        else:
            yield from _ids(whole, value)


def _begins_alike(kind: Id, whole: Type, value: Any) -> bool:
    """Whether a variable has no id of a type, and the same for each that it keeps something for."""
    if isinstance(whole, Map) and whole.total and whole.key == kind:
        kept = [value[one] for one in kind.members]
        return len(set(kept)) == 1 and all(
            name != kind.name for name, _ in _ids(whole.value, kept[0])
        )
    return all(name != kind.name for name, _ in _ids(whole, value))


def _ids(kind: Type, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the ids that stand in a value; what is kept for each of them only with the value."""
    match kind:
        case Id(name):
            yield name, value
        case Option(item):
            if value is not None:
                yield from _ids(item, value)
        case Record(_, fields):
            for name, part in fields:
                yield from _ids(part, value[name])
        case Union(_, variants):
            shape = next(variant for variant in variants if variant.name == value.name)
            yield from _ids(shape, value)
        case Set(item) | Sequence(item, _) | Bag(item, _):
            for one in value:
                yield from _ids(item, one)
        case Map(key, held, total):
            for one in value:
                if not total:
                    yield from _ids(key, one)
                yield from _ids(held, value[one])
