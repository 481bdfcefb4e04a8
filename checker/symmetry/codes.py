"""Codes renamed: what becomes of the code of a value when ids are renamed as is known beforehand.

For a type with few values a table holds it for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from checker.layout.shape import Shape, VariantShape
from checker.machine.relations import mentions
from checker.machine.types import Id, Option, Record, Set, Union
from checker.symmetry.sorts import VALUES_MAX

Codes = NDArray[np.int64]

Order = tuple[int, ...]
"""What each id of a type is called afterwards."""


def renamed_codes(shape: Shape, orders: Mapping[str, Order]) -> tuple[int, ...] | None:
    """Return the code of each value renamed, by its code; None if there is no table.

    `orders` are those of id types, by name. Parts of rarer types have none.
    """
    if not shape.flat or shape.cardinality > VALUES_MAX:
        return None
    return _known(shape, tuple(sorted(orders.items())))


@lru_cache(maxsize=1024)
def _known(shape: Shape, orders: tuple[tuple[str, Order], ...]) -> tuple[int, ...] | None:
    found = _renamed(shape, dict(orders))
    return None if found is None else tuple(found.tolist())


def _renamed(shape: Shape, orders: Mapping[str, Order]) -> Codes | None:
    match shape.type:
        case Id(name, _, _) if name in orders:
            return np.array(orders[name], np.int64)
        case Option():
            assert shape.item is not None
            item = _renamed(shape.item, orders)
            return None if item is None else np.concatenate([[0], item + 1])
        case Set(Id(name, _, _)) if name in orders:
            masks = np.arange(shape.cardinality, dtype=np.int64)
            moved = [(masks >> old & 1) << new for old, new in enumerate(orders[name])]
            return sum(moved, np.zeros(shape.cardinality, np.int64))
        case Record() | Union():
            parts = [_renamed_variant(variant, orders) for variant in shape.variants]
            found = [part for part in parts if part is not None]
            return np.concatenate(found) if found and len(found) == len(parts) else None
        case kind if not mentions(kind, frozenset(orders)):
            return np.arange(shape.cardinality, dtype=np.int64)
    return None


def _renamed_variant(variant: VariantShape, orders: Mapping[str, Order]) -> Codes | None:
    """Return the codes of a variant's values renamed, in their order."""
    values = np.arange(variant.count, dtype=np.int64)
    total = values + variant.base
    for part in variant.fields:
        renamed = _renamed(part.shape, orders)
        if renamed is None:
            return None
        if len(renamed):
            digits = values // part.weight % len(renamed)
            total += (renamed[digits] - digits) * part.weight
    return total
