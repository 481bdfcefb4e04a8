"""Goal: rows have equal keys where they are equal and nowhere else, however large the numbers."""

import numpy as np
import pytest

from checker.graph.difference import _keys


@pytest.mark.parametrize("largest", [2, 1000, 1 << 40, (1 << 63) - 1])
@pytest.mark.parametrize("columns", [0, 1, 3, 9])
def test_keys_are_equal_where_rows_are(largest: int, columns: int) -> None:
    chance = np.random.default_rng(largest + columns)
    few = chance.integers(-largest, largest, (40, columns), dtype=np.int64)
    rows = few[chance.integers(0, 40, 300)]
    keys = _keys(rows)
    told = {tuple(row): key for row, key in zip(rows.tolist(), keys.tolist(), strict=True)}
    assert [told[tuple(row)] for row in rows.tolist()] == keys.tolist()
    assert len(set(told.values())) == len(told)


def test_no_rows_have_no_keys() -> None:
    assert _keys(np.zeros((0, 3), np.int64)).tolist() == []
