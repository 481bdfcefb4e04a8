"""The compiled half of labelled graphs: each state gets a number when it is first met."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.graph.edges import LOST, find
from checker.llvm.compiled import compiled
from checker.llvm.instructions import load, store
from checker.search.board import Numbers
from checker.search.visited import hash_state


@compiled
def intern(
    known: int,
    words: int,
    count: int,
    index: NDArray[np.int32],
    states: int,
    wanted: NDArray[np.bool_],
    numbers: Numbers,
) -> int:
    """Write the number of each wanted state, storing new ones; return how many there are then.

    `known` is the address of the `count` states with a number, `states` of those given, of `words`
    words each; `index` is that of `edges.index_states`. Both have room for all states.
    """
    mask = len(index) - 1
    for i in range(len(wanted)):
        if not wanted[i]:
            continue
        state = states + 8 * words * i
        place = hash_state(state, words) & mask
        number = find(known, words, state, place, index)
        if number == LOST:
            number = count
            for word in range(words):
                store(known + 8 * (words * count + word), load(state + 8 * word))
            count += 1
            while index[place] != 0:
                place = (place + 1) & mask
            index[place] = count
        numbers[i] = number
    return count
