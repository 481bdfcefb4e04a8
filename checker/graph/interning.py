"""The compiled half of labelled graphs: each state gets a number when it is first met."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def _home(state: NDArray[np.int64], mask: int) -> np.int64:
    mixed = np.uint64(0)
    for word in state:
        mixed = (mixed ^ np.uint64(word)) * _MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed & np.uint64(mask))


@njit(cache=True, nogil=True)
def enter(store: NDArray[np.int64], count: int, index: NDArray[np.int32]) -> None:
    """Enter the numbers of `count` different states into an empty index (a power of two)."""
    mask = len(index) - 1
    for number in range(count):
        place = _home(store[number], mask)
        while index[place] != 0:
            place = np.int64((place + 1) & mask)
        index[place] = number + 1


@njit(cache=True, nogil=True)
def intern(
    store: NDArray[np.int64],
    count: int,
    index: NDArray[np.int32],
    states: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    numbers: NDArray[np.int64],
) -> int:
    """Write the number of each wanted state, storing new ones; return how many there are then.

    `store` and `index` have room for all of them.
    """
    mask = len(index) - 1
    words = store.shape[1]
    for i in range(len(states)):
        if not wanted[i]:
            continue
        place = _home(states[i], mask)
        while True:
            number = np.int64(index[place]) - 1
            if number < 0:
                for word in range(words):
                    store[count, word] = states[i, word]
                index[place] = count + 1
                numbers[i] = count
                count += 1
                break
            same = True
            for word in range(words):
                if store[number, word] != states[i, word]:
                    same = False
                    break
            if same:
                numbers[i] = number
                break
            place = np.int64((place + 1) & mask)
    return count
