"""A kernel from Python, one state at a time: for initial states and for walking along paths."""

from __future__ import annotations

import ctypes

import numpy as np

from checker.errors import EnvironmentFailure
from checker.frozen import frozen
from checker.kernel.kernel import Kernel, Words
from checker.search.memory import available, default_limit


class TooManyInitialError(EnvironmentFailure):
    """The initial states do not fit the memory that a search may use."""


@frozen()
class Step:
    """What leads out of one state: successors (one a row) and their meta words, in canonical order.

    `alive`: the state is no deadlock.
    """

    states: Words
    meta: Words
    alive: bool


class Stepper:
    """The functions of a kernel as ordinary calls."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        word = ctypes.c_int64
        self._initial = ctypes.CFUNCTYPE(word, *[word] * 3)(kernel.initial_address)
        self._expand = ctypes.CFUNCTYPE(word, *[word] * 8)(kernel.expand_address)
        self._check = ctypes.CFUNCTYPE(word, *[word] * 5)(kernel.check_address)
        self._canonical = ctypes.CFUNCTYPE(word, *[word] * 3)(kernel.canonical_address)
        self._tallies = np.zeros(3 * len(kernel.actions), np.int64)
        self._capacity = 1 << 10

    def initial(self, memory_bytes: int | None = None) -> tuple[Words, Words]:
        """Return the initial states, one a row, and their meta words, in canonical order.

        TooManyInitialError where they do not fit so much memory, by default what a search may use.
        """
        words = self.kernel.words
        room = min(memory_bytes or default_limit(), available())
        capacity = 1 << 10
        while True:
            out = np.empty((capacity, words), np.int64)
            meta = np.empty(capacity, np.int64)
            count = self._initial(out.ctypes.data, capacity, meta.ctypes.data)
            if count >= 0:
                return out[:count], meta[:count]
            if 8 * (words + 1) * 4 * capacity > room:
                raise TooManyInitialError(
                    f"there are more than {capacity:,} initial states, which do not fit the memory "
                    "that a search may use: give it more (--memory), or let there be fewer of them"
                )
            capacity *= 4

    def successors(self, state: Words) -> Step:
        """Return what leads out of `state`."""
        source = np.ascontiguousarray(state, np.int64)
        ends = np.zeros(1, np.int64)
        status = np.zeros(1, np.int64)
        while True:
            out = np.empty((self._capacity, self.kernel.words), np.int64)
            meta = np.empty(self._capacity, np.int64)
            processed = self._expand(
                source.ctypes.data,
                1,
                out.ctypes.data,
                self._capacity,
                meta.ctypes.data,
                ends.ctypes.data,
                status.ctypes.data,
                self._tallies.ctypes.data,
            )
            if processed == 1:
                count = int(ends[0])
                return Step(out[:count], meta[:count], bool(status[0]))
            self._capacity *= 2

    def canonical(self, states: Words) -> Words:
        """Return the representatives of `states` (one a row); without symmetry, themselves."""
        if not self.kernel.canonical_address:
            return states
        same = np.array(states, np.int64, order="C")
        meta = np.zeros(len(same), np.int64)
        self._canonical(same.ctypes.data, len(same), meta.ctypes.data)
        return same

    def check(self, states: Words) -> Words:
        """Return the flags of `states` (one a row)."""
        given = np.ascontiguousarray(states, np.int64)
        flags = np.zeros(len(given), np.int64)
        if self.kernel.judges_states and len(given):
            self._check(given.ctypes.data, len(given), flags.ctypes.data, 0, 0)
        return flags
