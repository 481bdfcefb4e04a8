"""States as packed words and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from checker.layout.cells import cells_of, value_from
from checker.layout.layout import Layout
from checker.semantics.successor import State

Words = NDArray[np.int64]


def encode(layout: Layout, state: State) -> Words:
    """Return a state as int64 words, shape (words,). ValueError for a value outside its type."""
    totals = [0] * layout.words
    cells = [
        cell
        for shape, value in zip(layout.shapes, state, strict=True)
        for cell in cells_of(shape, value)
    ]
    for leaf, cell in zip(layout.leaves, cells, strict=True):
        totals[leaf.word] += cell * leaf.divisor << leaf.shift if leaf.width else 0
    return np.array(totals, np.uint64).view(np.int64)


def encode_all(layout: Layout, states: Sequence[State]) -> Words:
    """Return states as int64 words, shape (states, words)."""
    result = np.zeros((len(states), layout.words), np.int64)
    for index, state in enumerate(states):
        result[index] = encode(layout, state)
    return result


def decode(layout: Layout, words: Words) -> State:
    """Return the state in int64 words of shape (words,)."""
    return decode_all(layout, words.reshape(1, -1))[0]


def decode_all(layout: Layout, words: Words) -> list[State]:
    """Return the states in int64 words of shape (states, words)."""
    return Decoder(layout).states(words)


class Decoder:
    """Makes values of packed states, of each variable each value once.

    From one state of a path to the next few variables change, and paths share their beginnings.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: list[dict[tuple[int, ...], object]] = [{} for _ in layout.shapes]

    def states(self, words: Words) -> list[State]:
        """Return the states in int64 words of shape (states, words)."""
        layout = self._layout
        bounds = list(
            zip(layout.shapes, layout.starts, layout.starts[1:], self._known, strict=False)
        )
        states = []
        for row in unpack(layout, words).tolist():
            state = []
            for shape, start, stop, known in bounds:
                cells = tuple(row[start:stop])
                if cells not in known:
                    known[cells] = value_from(shape, cells)
                state.append(known[cells])
            states.append(tuple(state))
        return states


def unpack(layout: Layout, words: Words) -> Words:
    """Return the cells of states in int64 words of shape (states, words): (states, leaves)."""
    unsigned = np.ascontiguousarray(words).view(np.uint64)
    result = np.zeros((len(words), len(layout.leaves)), np.int64)
    for index, leaf in enumerate(layout.leaves):
        if leaf.width:
            mask = np.uint64((1 << leaf.width) - 1)
            group = unsigned[:, leaf.word] >> np.uint64(leaf.shift) & mask
            digit = group // np.uint64(leaf.divisor)
            result[:, index] = digit if leaf.last else digit % np.uint64(leaf.cardinality)
    return result


def packed_cells(layout: Layout, cells: Words) -> Words:
    """Return the states whose cells, of shape (states, leaves), are given: what `unpack` undoes."""
    result = np.zeros((len(cells), layout.words), np.uint64)
    for index, leaf in enumerate(layout.leaves):
        if leaf.width:
            weight = np.uint64(leaf.weight % (1 << 64))
            result[:, leaf.word] += cells[:, index].astype(np.uint64) * weight
    return result.view(np.int64)
