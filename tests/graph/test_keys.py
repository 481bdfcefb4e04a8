"""Goal: rows have equal keys where they are equal and nowhere else, however large the numbers."""

import numpy as np
import pytest
from numpy.typing import NDArray

from checker.graph.difference import _Keys


def keys_of(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    keys = _Keys(len(rows))
    for column in rows.T:
        keys.add(column)
    return keys.dense()


@pytest.mark.parametrize("largest", [2, 1000, 1 << 40, (1 << 63) - 1])
@pytest.mark.parametrize("columns", [0, 1, 3, 9])
def test_keys_are_equal_where_rows_are(largest: int, columns: int) -> None:
    chance = np.random.default_rng(largest + columns)
    few = chance.integers(-largest, largest, (40, columns), dtype=np.int64)
    rows = few[chance.integers(0, 40, 300)]
    keys = keys_of(rows)
    told = {tuple(row): key for row, key in zip(rows.tolist(), keys.tolist(), strict=True)}
    assert [told[tuple(row)] for row in rows.tolist()] == keys.tolist()
    assert len(set(told.values())) == len(told)


def test_no_rows_have_nokeys_of() -> None:
    assert keys_of(np.zeros((0, 3), np.int64)).tolist() == []
