"""Properties that name ids, where each state stands for its orbit: followed under changing names.

What is claimed of one id is claimed of a representative under another name. So the graph is made
anew with a state for each representative and each property that renaming makes of the one that is
judged: the property as the representative has it. An edge leads to the property under the name
that the edge's renaming takes back. Whatever is claimed of the first is claimed of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.graph.lasso import Lasso
from checker.graph.quotient import require_room
from checker.graph.space import Space
from checker.graph.state_graph import StateGraph, Turning
from checker.llvm.compiled import compiled
from checker.llvm.meta import CONDITION, PREMISE
from checker.search.beyond import OUTSIDE_RAISED
from checker.search.board import Numbers
from checker.search.recording import bytes_of_judging


@frozen(slots=False)
class Thread:
    """The properties that renaming makes of one, and a Space to judge the first of them on.

    `moves` int64 (renamings, properties): which of them each becomes. State s of a run that
    begins with property p is state s * properties + p of the Space.
    """

    space: Space
    turning: Turning
    moves: NDArray[np.int64]

    def lasso_of(self, lasso: Lasso, member: int) -> Lasso:
        """Return what a lasso of the first property is of another one, in representatives."""
        width = self.moves.shape[1]
        begin = lasso.states[0] % width
        first = int(np.flatnonzero(self.moves[:, begin] == member)[0])
        names = tuple(int(self.turning.after[first * self.turning.count + n]) for n in lasso.names)
        return Lasso(tuple(state // width for state in lasso.states), lasso.loop, names)


def thread(
    space: Space, turning: Turning, members: Sequence[int], places: Sequence[int], watches: int
) -> Thread:
    """Return what the first of some properties is judged on, which renaming makes of each other.

    `members` are their numbers among the liveness properties, `places` those of their first
    watches, of which each has as many.
    """
    assert space.properties is not None
    number = {member: place for place, member in enumerate(members)}
    moves = np.array(
        [[number[int(row[member])] for member in members] for row in space.properties], np.int64
    )
    if len(members) == 1:
        return Thread(space, turning, moves)
    states, steps = (len(members) * each for each in (space.graph.states, len(space.graph.targets)))
    require_room(states, bytes_of_judging(states, steps) + 2 * steps)
    return Thread(
        replace(
            space,
            graph=_threaded(space.graph, turning, moves),
            flags=_seen(space.flags, places, watches, (CONDITION, PREMISE)),
            outside=_seen(space.outside, places, watches, (0, OUTSIDE_RAISED)),
        ),
        turning,
        moves,
    )


def _seen(
    words: NDArray[np.int64], places: Sequence[int], watches: int, firsts: Sequence[int]
) -> NDArray[np.int64]:
    """Return a word for each property of each state, with its bits where the first one has them.

    `firsts` are where the bits of properties begin.
    """
    own = (1 << watches) - 1
    columns = []
    for place in places:
        column = words.copy()
        for first in firsts:
            bits = (words >> (first + place)) & own
            column &= ~(own << (first + places[0]))
            column |= bits << (first + places[0])
        columns.append(column)
    return np.ascontiguousarray(np.stack(columns, axis=1)).ravel()


def _threaded(graph: StateGraph, turning: Turning, moves: NDArray[np.int64]) -> StateGraph:
    width = moves.shape[1]
    sizes = np.diff(graph.offsets[:-1])
    offsets = np.zeros(len(sizes) * width + 2, np.int64)
    np.cumsum(np.repeat(sizes, width), out=offsets[1:-1])
    offsets[-1] = offsets[-2]
    targets, labels = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    turns = np.empty(offsets[-1], np.uint16)
    back = np.ascontiguousarray(moves[turning.back]).ravel()

    def stays(nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        same = moves[:, nodes % width] == nodes % width
        found: NDArray[np.bool_] = turning.stays(nodes // width) & same.T
        return found

    _follow(
        graph.offsets, graph.targets, graph.labels, turning.turns, back, width, offsets, targets,
        labels, turns,
    )  # fmt: skip
    return StateGraph(
        offsets=offsets,
        targets=targets,
        labels=labels,
        strong=graph.strong,
        initial=(graph.initial[:, None] * width + np.arange(width)).ravel(),
        cut=np.append(np.repeat(graph.cut[:-1], width), False),
        turning=turning.along(turns, stays),
    )


@compiled
def _follow(
    offsets: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    turns: NDArray[np.uint16],
    back: Numbers,
    width: int,
    ends: Numbers,
    to: NDArray[np.int32],
    marks: NDArray[np.int32],
    twists: NDArray[np.uint16],
) -> None:
    """Write the edges of `_threaded`, which begin at `ends`.

    `back` says at turn * width + member what the member was before the turn.
    """
    states = len(offsets) - 2
    for state in range(states):
        for member in range(width):
            filled = ends[state * width + member]
            for edge in range(offsets[state], offsets[state + 1]):
                to[filled] = targets[edge] * width
                twists[filled] = 0
                if targets[edge] < states:
                    to[filled] += back[turns[edge] * width + member]
                    twists[filled] = turns[edge]
                marks[filled] = labels[edge]
                filled += 1
