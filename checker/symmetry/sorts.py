"""Sorts: what is left of a value when the ids in it are not told apart.

Values that renaming ids turns into each other are of one sort. For a type with few values a table
holds the sort of each.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from checker.layout.shape import Shape
from checker.machine.relations import mentions
from checker.machine.types import Id, Option, Record, Set, Union

Sorts = NDArray[np.int64]

VALUES_MAX = 1 << 14
"""Values of a type whose sorts are kept in a table: 128 KiB, of which little is ever read."""


def sorts_of(shape: Shape, names: frozenset[str]) -> list[int] | None:
    """Return the sort of each value by its code, numbers from 0 up; None if there is no table.

    `names` are the id types whose ids are not told apart. Parts of rarer types have none.
    """
    if not shape.scalar or shape.cardinality > VALUES_MAX:
        return None
    found = _sorts(shape, names)
    return None if found is None else np.unique(found, return_inverse=True)[1].ravel().tolist()


def _sorts(shape: Shape, names: frozenset[str]) -> Sorts | None:
    match shape.type:
        case Id(name, _, _) if name in names:
            return np.zeros(shape.cardinality, np.int64)
        case Option():
            assert shape.item is not None
            item = _sorts(shape.item, names)
            return None if item is None else np.concatenate([[0], item + 1])
        case Set(Id(name, _, _)) if name in names:
            return np.array([code.bit_count() for code in range(shape.cardinality)], np.int64)
        case Record() | Union():
            return _sorts_of_variants(shape, names)
        case kind if not mentions(kind, names):
            return np.arange(shape.cardinality)
    return None


def _sorts_of_variants(shape: Shape, names: frozenset[str]) -> Sorts | None:
    base, found = 0, []
    for variant in shape.variants:
        parts = [_sorts(part.shape, names) for part in variant.fields]
        if any(part is None for part in parts):
            return None
        whole = reduce(
            _product, (part for part in parts if part is not None), np.zeros(1, np.int64)
        )
        found.append(base + whole)
        base += int(whole.max(initial=-1)) + 1
    return np.concatenate(found)


def _product(left: Sorts, right: Sorts) -> Sorts:
    """Return the sorts of pairs, the first being the more significant."""
    size = int(right.max(initial=-1)) + 1
    pairs: Sorts = (left[:, None] * size + right[None, :]).ravel()
    return pairs
