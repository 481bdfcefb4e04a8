"""Goal: what leads to a finding is looked up by whole states, in little memory beside the marks."""

import numpy as np
import pytest

from checker.search.paths import _Index


@pytest.mark.parametrize("words", [1, 2, 3, 5])
def test_marks_are_found_by_their_states(words: int) -> None:
    choose = np.random.default_rng(words)
    states = np.unique(choose.integers(0, 9, (3000, words), dtype=np.int64), axis=0)
    choose.shuffle(states)
    bits = 1 << choose.integers(0, 4, len(states))
    marked = states[: len(states) // 2]
    index = _Index(np.column_stack([marked, bits[: len(marked)]]))
    for wanted in (1, 8, 6, 16):
        hits = np.flatnonzero(bits[: len(marked)] & wanted)
        first = int(hits[0]) if len(hits) else -1
        assert index.first(states, wanted) == first
        assert index.first(states[len(marked) :], wanted) == -1
    assert index.table.nbytes <= 4 * 8 * (len(marked) + 1)
