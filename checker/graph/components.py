"""Strongly connected components of part of a graph: peeled, then searched forwards and backwards.

States without a step from or to what is left lie on no cycle and are peeled off. Then, from one
state on, what it reaches and what reaches it are searched in turns, a step each; whichever is whole
first contains its component, and the rest falls into parts that share none (L. Fleischer,
B. Hendrickson, A. Pinar, On identifying strongly connected components in parallel, IPDPS 2000; in
lockstep, so that n states and m steps cost at most m log n: R. Bloem, H. Gabow, F. Somenzi, Formal
Methods in System Design 28, 2006). Searches breadth-first go along the order in which a search
numbered the states, and so along memory; depth-first, as R. Tarjan's, they jump.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.graph.state_graph import StepsInto
from checker.llvm.compiled import compiled, inlined
from checker.search.board import Numbers

OUTSIDE = -1
"""The component of a state that is not looked at."""
_SETTLED = -1
"""The region of a state that is outside, or whose component is known."""


def components(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    into: StepsInto,
    inside: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], int]:
    """Return the component of each state of the subgraph `inside`, and how many there are.

    `into` are the same steps, by where they lead. States outside get OUTSIDE.
    """
    states = len(inside)
    component = np.full(states, OUTSIDE, np.int32)
    region = np.where(inside, np.int32(0), np.int32(_SETTLED))
    ahead, behind = np.zeros(states, np.int32), np.zeros(states, np.int32)
    queue, other = np.empty(states, np.int32), np.empty(states, np.int32)
    forward, back = (offsets, targets), (into.offsets, into.sources)
    count = _peel(*forward, *back, region, component, ahead, queue, 0)
    count = _peel(*back, *forward, region, component, ahead, queue, count)
    ahead.fill(0)
    count = _split(*forward, *back, region, component, ahead, behind, queue, other, count)
    return component, count


@compiled
def _peel(
    offsets: Numbers,
    targets: NDArray[np.int32],
    back_offsets: Numbers,
    sources: NDArray[np.int32],
    region: NDArray[np.int32],
    component: NDArray[np.int32],
    degrees: NDArray[np.int32],
    queue: NDArray[np.int32],
    found: int,
) -> int:
    """Settle each state without a step to another that is left, one after the other.

    Returns how many components there are then; there were `found`.
    """
    tail = 0
    for state in range(len(region)):
        if region[state] != _SETTLED:
            degree = 0
            for edge in range(offsets[state], offsets[state + 1]):
                target = targets[edge]
                degree += (region[target] != _SETTLED) & (target != state)
            degrees[state] = degree
            if degree == 0:
                queue[tail] = state
                tail += 1
    head = 0
    while head < tail:
        state = queue[head]
        head += 1
        region[state] = _SETTLED
        component[state] = found
        found += 1
        for edge in range(back_offsets[state], back_offsets[state + 1]):
            source = sources[edge]
            if region[source] != _SETTLED and source != state:
                degrees[source] -= 1
                if degrees[source] == 0:
                    queue[tail] = source
                    tail += 1
    return found


@compiled
def _split(
    offsets: Numbers,
    targets: NDArray[np.int32],
    back_offsets: Numbers,
    sources: NDArray[np.int32],
    region: NDArray[np.int32],
    component: NDArray[np.int32],
    ahead: NDArray[np.int32],
    behind: NDArray[np.int32],
    queue: NDArray[np.int32],
    other: NDArray[np.int32],
    found: int,
) -> int:
    """Settle what is left, component by component; return how many there are then.

    `ahead` and `behind` say which search last came to a state: that from the pivot number so many.
    """
    pivots = 0
    for pivot in range(len(region)):
        if region[pivot] == _SETTLED:
            continue
        pivots += 1
        ahead[pivot], behind[pivot] = pivots, pivots
        queue[0], other[0] = pivot, pivot
        head, tail, back_head, back_tail = 0, 1, 0, 1
        # The difference of how many steps both have looked at.
        lead = 0
        while head < tail and back_head < back_tail:
            if lead <= 0:
                state = queue[head]
                lead += offsets[state + 1] - offsets[state] + 1
                tail = _reach(offsets, targets, region, ahead, queue, state, tail, pivots)
                head += 1
            else:
                state = other[back_head]
                lead -= back_offsets[state + 1] - back_offsets[state] + 1
                back_tail = _reach(
                    back_offsets, sources, region, behind, other, state, back_tail, pivots
                )
                back_head += 1
        if head == tail:
            while back_head < back_tail:
                state = other[back_head]
                back_head += 1
                if ahead[state] == pivots:
                    back_tail = _reach(
                        back_offsets, sources, region, behind, other, state, back_tail, pivots
                    )
            _part(region, component, behind, queue, tail, pivots, found)
        else:
            while head < tail:
                state = queue[head]
                head += 1
                if behind[state] == pivots:
                    tail = _reach(offsets, targets, region, ahead, queue, state, tail, pivots)
            _part(region, component, ahead, other, back_tail, pivots, found)
        found += 1
    return found


@inlined
def _reach(
    offsets: Numbers,
    targets: NDArray[np.int32],
    region: NDArray[np.int32],
    seen: NDArray[np.int32],
    queue: NDArray[np.int32],
    state: int,
    tail: int,
    pivots: int,
) -> int:
    """Queue what `state` leads to in its region and was not seen; return the queue's new end."""
    here = region[state]
    for edge in range(offsets[state], offsets[state + 1]):
        target = targets[edge]
        if seen[target] != pivots and region[target] == here:
            seen[target] = pivots
            queue[tail] = target
            tail += 1
    return tail


@inlined
def _part(
    region: NDArray[np.int32],
    component: NDArray[np.int32],
    seen: NDArray[np.int32],
    queue: NDArray[np.int32],
    tail: int,
    pivots: int,
    found: int,
) -> int:
    """Settle what of the first `tail` in `queue` was seen as well; the others are a new region."""
    for place in range(tail):
        state = queue[place]
        if seen[state] == pivots:
            component[state] = found
            region[state] = _SETTLED
        else:
            region[state] = pivots
    return 0
