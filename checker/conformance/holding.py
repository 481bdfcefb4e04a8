"""Which ids a state holds: those that it would be another one without.

An id is held where a value has it, and where what the state keeps for it is not as in the
beginning. What is not held may be forgotten, and given to the next that comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from checker.conformance.matching import Held
from checker.conformance.space import Key, Space
from checker.machine.relations import mentions
from checker.machine.types import Bag, Id, Map, Option, Record, Sequence, Set, Type, Union

_KEPT = 200_000

_NOTHING = object()
"""What no map keeps."""


class Holding:
    """What states hold; remembered by state."""

    def __init__(self, space: Space) -> None:
        self.space = space
        machine = space.bound.machine
        begins = space.initial()
        self.first = space.state(begins[0]) if begins else None
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
        self._held: dict[Key, Held] = {}
        layout = space.layout
        self._bits = [
            tuple(sorted(layout.masks(frozenset({it.name})).items())) for it in machine.variables
        ]
        self._parts: dict[tuple[int, ...], Held] = {}

    def held(self, key: Key) -> Held:
        """Return what a state holds."""
        found = self._held.get(key)
        if found is None:
            if len(self._held) > _KEPT:
                self._held.clear()
            found = self._held[key] = frozenset(self._in_state(key))
        return found

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
        yield from _held(whole, self.space.variable(key, index), self.first[index])


def _begins_alike(kind: Id, whole: Type, value: Any) -> bool:
    """Whether a value has no id of a type, and the same for each that it keeps something for."""
    match whole:
        case Id(name):
            return name != kind.name
        case Map(key, held, total):
            kept = [value[one] for one in value]
            if mentions(key, frozenset({kind.name})):
                if kept and (not total or len(set(kept)) > 1):
                    return False
                kept = kept[:1]
            return all(_begins_alike(kind, held, part) for part in kept)
    return all(_begins_alike(kind, part, inside) for part, inside, _ in _parts(whole, value, None))


def _held(whole: Type, value: Any, first: Any) -> Iterator[tuple[str, str]]:
    """Yield the ids that a value holds; `first` is what it was in the beginning, None: unknown.

    What a total map keeps is that of its key where it is not as in the beginning. In one that was
    not there then, what it keeps for most keys is what it keeps for nobody.
    """
    match whole:
        case Id(name):
            yield name, value
        case Map(key, held, total):
            parallel = total and first is not None
            usual = _usual(value) if total and not parallel else _NOTHING
            for one in value:
                if value[one] != (first[one] if parallel else usual):
                    yield from _held(key, one, None)
                yield from _held(held, value[one], first[one] if parallel else None)
        case _:
            for part, inside, begun in _parts(whole, value, first):
                yield from _held(part, inside, begun)


def _parts(whole: Type, value: Any, first: Any) -> Iterator[tuple[Type, Any, Any]]:
    """Yield what stands in a value that is no map: its type, and what stood there first or None."""
    match whole:
        case Option(item):
            if value is not None:
                yield item, value, first
        case Record(_, fields):
            for name, part in fields:
                yield part, value[name], None if first is None else first[name]
        case Union(_, variants):
            shape = next(variant for variant in variants if variant.name == value.name)
            yield shape, value, first if first is not None and first.name == value.name else None
        case Set(item) | Sequence(item, _) | Bag(item, _):
            for one in value:
                yield item, one, None


def _usual(value: Any) -> Any:
    """Return what a map keeps for most of its keys, if that is one thing."""
    counts = Counter(value[one] for one in value).most_common(2)
    one = len(counts) == 1 or (len(counts) == 2 and counts[0][1] > counts[1][1])
    return counts[0][0] if one else _NOTHING
