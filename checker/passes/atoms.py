"""Atoms: the parts of a state that actions are told apart by, numbered, and sets of them as bits.

An atom is the least part that can be changed by itself: an element of a set, the slot of a key in
a partial map, any other value that is not a record or a total map of such. A set of atoms is an
int with their bits, so that two sets are disjoint when `one & other == 0`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from checker.frozen import frozen
from checker.machine.machine import Variable
from checker.machine.types import Map, Record, Set, Type, cardinality
from checker.semantics.values import belongs, code_of

TYPE_MAX = 4096
"""Atoms of a type at most; a value of a type that would have more is one atom."""


@frozen()
class Region:
    """Neighbouring atoms that hold a value of `type`; None where it is only a part of them."""

    start: int
    size: int
    type: Type | None

    @property
    def mask(self) -> int:
        """Its atoms."""
        return ((1 << self.size) - 1) << self.start

    @property
    def opaque(self) -> Region:
        """The same atoms, of which any part may be meant."""
        return Region(self.start, self.size, None)

    def field(self, name: str) -> Region:
        """Return the region of a field, or the whole where that is not known."""
        if not isinstance(self.type, Record) or self.size != _spread(self.type):
            return self.opaque  # one with too many atoms is one atom itself
        start = self.start
        for other, kind in self.type.fields:
            if other == name:
                return Region(start, size_of(kind), kind)
            start += size_of(kind)
        return self.opaque

    def element(self, key: object) -> Region | None:
        """Return the region of a set's element or of a map's key; all of it where that has none.

        None where the collection can hold no such element or key.
        """
        if not isinstance(self.type, (Set, Map)) or self.size != _spread(self.type):
            return self.opaque
        kind = self.type.item if isinstance(self.type, Set) else self.type.key
        if not belongs(kind, key):
            return None
        place = code_of(kind, key)
        if isinstance(self.type, Map) and self.type.total:
            size = size_of(self.type.value)
            return Region(self.start + place * size, size, self.type.value)
        return Region(self.start + place, 1, None)


@lru_cache(maxsize=1024)
def size_of(kind: Type) -> int:
    """Return how many atoms a value of this type has."""
    size = _spread(kind)
    return size if size <= TYPE_MAX else 1


def _spread(kind: Type) -> int:
    match kind:
        case Set(item):
            return max(cardinality(item), 1)
        case Map(key, value, total):
            return max(cardinality(key) * (size_of(value) if total else 1), 1)
        case Record(_, parts):
            return max(sum(size_of(part) for _, part in parts), 1)
    return 1


def regions(variables: Sequence[Variable]) -> dict[str, Region]:
    """Return the region of each variable."""
    found: dict[str, Region] = {}
    start = 0
    for variable in variables:
        size = size_of(variable.type)
        found[variable.name] = Region(start, size, variable.type)
        start += size
    return found
