"""Strongly connected components of part of a graph: Tarjan's algorithm without recursion.

R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1(2), 1972; made
iterative with an explicit stack of (state, next edge).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

OUTSIDE = -1


@njit(cache=True, nogil=True)
def components(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    inside: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], int]:
    """Return the component of each state of the subgraph `inside`, and how many there are.

    Components are numbered in reverse topological order (every edge between two leads to a smaller
    number); states outside get OUTSIDE. Time and space are linear in states and edges.
    """
    count = len(offsets) - 1
    component = np.full(count, OUTSIDE, np.int32)
    number = np.zeros(count, np.int32)
    low = np.zeros(count, np.int32)
    position = np.zeros(count, np.int64)
    path = np.empty(count, np.int32)
    stack = np.empty(count, np.int32)
    path_size = 0
    stack_size = 0
    found = 0
    counter = 0
    for root in range(count):
        if not inside[root] or number[root] != 0:
            continue
        counter += 1
        number[root] = low[root] = counter
        position[root] = offsets[root]
        path[0] = root
        path_size = 1
        stack[stack_size] = root
        stack_size += 1
        while path_size > 0:
            state = path[path_size - 1]
            if position[state] < offsets[state + 1]:
                target = targets[position[state]]
                position[state] += 1
                if not inside[target]:
                    continue
                if number[target] == 0:
                    counter += 1
                    number[target] = low[target] = counter
                    position[target] = offsets[target]
                    path[path_size] = target
                    path_size += 1
                    stack[stack_size] = target
                    stack_size += 1
                elif component[target] == OUTSIDE:
                    low[state] = min(low[state], number[target])
                continue
            path_size -= 1
            if path_size > 0:
                parent = path[path_size - 1]
                low[parent] = min(low[parent], low[state])
            if low[state] == number[state]:
                while True:
                    stack_size -= 1
                    member = stack[stack_size]
                    component[member] = found
                    if member == state:
                        break
                found += 1
    return component, found
