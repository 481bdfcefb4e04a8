"""Calling a kernel from Python: arrays in, arrays out, buffers that grow as needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import Event, Thread

import numpy as np
from numpy.typing import NDArray

from checker.errors import EnvironmentFailure, InternalError
from checker.frozen import frozen
from checker.kernel.kernel import Kernel, Words
from checker.memory import available, default_limit

_INT = ctypes.c_int64
_POINTER = ctypes.c_void_p

CAPACITY = 1024
"""Successors that buffers have room for at first."""

_POLL_SECONDS = 0.05
"""How often it is asked whether finding initial states is to end."""


class TooManyInitialError(EnvironmentFailure):
    """The initial states do not fit the memory that a search may use."""


class TooManyStepsError(EnvironmentFailure):
    """The steps of one state do not fit the memory that a search may use."""


class HaltedError(EnvironmentFailure):
    """Something was not done to its end, because that was asked for."""


def require_room(successors: int, words: int, more: int = 1) -> None:
    """Raise TooManyStepsError where the successors of one state would not fit the memory.

    Each takes `words` words and `more` beside.
    """
    if 8 * (words + more) * successors > min(default_limit(), available()):
        raise TooManyStepsError("one state has more steps than fit the memory that may be used")


@frozen(eq=False)
class Expansion:
    """The successors of some states.

    `words` (successors, words), `meta` (successors,), `ends` and `status` (states,), and `tallies`
    (three an action), as `checker.kernel.kernel` documents them.
    """

    words: Words
    meta: Words
    ends: Words
    status: Words
    tallies: Words


class Calls:
    """The functions of one kernel, to be called with NumPy arrays."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._initial = _function(kernel.initial_address, _POINTER, _INT, _POINTER)
        eight = (_POINTER, _INT, _POINTER, _INT, _POINTER, _POINTER, _POINTER, _POINTER)
        self._expand = _function(kernel.expand_address, *eight)
        self._explore = _function(kernel.explore_address, *eight, _POINTER)
        self._check = _function(kernel.check_address, _POINTER, _INT, _POINTER, _INT, _POINTER)
        self._observe = _function(kernel.observe_address, _POINTER, _INT, _POINTER)
        self._canonical = None
        if kernel.canonical_address:
            self._canonical = _function(kernel.canonical_address, _POINTER, _INT, _POINTER)

    def initial(
        self, memory_bytes: int | None = None, halt: Callable[[], bool] | None = None
    ) -> tuple[Words, Words]:
        """Return the initial states (states, words) and their meta words.

        TooManyInitialError where they do not fit so much memory, by default what a search may
        use; HaltedError once `halt` says so, which is asked many times a second.
        """
        room = min(memory_bytes or default_limit(), available())
        capacity = CAPACITY
        while True:
            out, meta = self._buffers(capacity)
            count = self._fill(out, meta, halt)
            if count >= 0:
                return out[:count], meta[:count]
            capacity *= 4
            if 8 * (self._kernel.words + 1) * capacity > room:
                raise TooManyInitialError(
                    f"there are more than {capacity // 4:,} initial states, which do not fit the "
                    "memory that a search may use: give it more (--memory), or let there be "
                    "fewer of them"
                )

    def _fill(self, out: Words, meta: Words, halt: Callable[[], bool] | None) -> int:
        """Write the initial states; return how many there are, -1 where there is too little room.

        A single call of native code can take minutes (many choices, of which few are allowed), and
        Python hears of no signal meanwhile. So it runs in a thread. One that nobody waits for any
        more ends by itself, or with the process.
        """
        counts: list[int] = []
        done = Event()

        def fill() -> None:
            counts.append(self._initial(out.ctypes.data, len(meta), meta.ctypes.data))
            done.set()

        Thread(target=fill, name="initial", daemon=True).start()
        while not done.wait(_POLL_SECONDS):
            if halt is not None and halt():
                raise HaltedError("initial states were not found to the end")
        return counts[0]

    def expand(
        self,
        states: Words,
        capacity: int | None = None,
        arrivals: NDArray[np.int16] | None = None,
        most: int | None = None,
    ) -> Expansion:
        """Return the successors of `states` (states, words).

        After `most` successors, if that is given, no further states are expanded. `capacity`
        successors are asked for at first; more where one state has more. With `arrivals` (states,)
        those that need not be looked up are left out, if the kernel has `explore`.
        """
        states = self._checked(states)
        count = len(states)
        ends, status = np.zeros(count, np.int64), np.zeros(count, np.int64)
        tallies = np.zeros(3 * len(self._kernel.actions), np.int64)
        capacity = capacity or max(CAPACITY, 4 * count)
        pieces: list[tuple[Words, Words]] = []
        done = total = 0
        while done < count and (most is None or total < most):
            out, meta = self._buffers(capacity)
            given = (
                states[done:].ctypes.data,
                count - done,
                out.ctypes.data,
                capacity,
                meta.ctypes.data,
                ends[done:].ctypes.data,
                status[done:].ctypes.data,
                tallies.ctypes.data,
            )
            if arrivals is None:
                processed = self._expand(*given)
            else:
                processed = self._explore(*given, arrivals[done:].ctypes.data)
            if processed == 0:
                capacity *= 4
                require_room(capacity, self._kernel.words)
                continue
            made = int(ends[done + processed - 1])
            pieces.append((out[:made], meta[:made]))
            ends[done : done + processed] += total
            done, total = done + processed, total + made
        empty = self._buffers(0)
        words, meta = (np.concatenate(part) for part in zip(empty, *pieces, strict=True))
        return Expansion(words, meta, ends[:done], status[:done], tallies)

    def canonical(self, states: Words) -> Words:
        """Return the representatives of `states` (states, words); without symmetry, themselves."""
        if self._canonical is None:
            return states
        same = np.array(self._checked(states))
        meta = np.zeros(len(same), np.int64)
        self._canonical(same.ctypes.data, len(same), meta.ctypes.data)
        return same

    def check(
        self, states: Words, *, done: int = 0, origins: Words | None = None
    ) -> NDArray[np.int64]:
        """Return the flags of the state properties in each of `states` (states, words).

        `done` and `origins`, one for each state, say what may be left out (`Kernel`).
        """
        states = self._checked(states)
        flags = np.zeros(len(states), np.int64)
        given = states.ctypes.data, len(states), flags.ctypes.data, done
        if origins is None:
            self._check(*given, 0)
            return flags
        before = self._checked(origins)
        places = before.ctypes.data + before.strides[0] * np.arange(len(states), dtype=np.int64)
        self._check(*given, places.ctypes.data)
        return flags

    def observe(self, states: Words) -> NDArray[np.int64]:
        """Return what the liveness properties see in each of `states` (states, words)."""
        states = self._checked(states)
        flags = np.zeros(len(states), np.int64)
        self._observe(states.ctypes.data, len(states), flags.ctypes.data)
        return flags

    def _buffers(self, capacity: int) -> tuple[Words, Words]:
        return np.empty((capacity, self._kernel.words), np.int64), np.empty(capacity, np.int64)

    def _checked(self, states: Words) -> Words:
        if states.ndim != 2 or states.shape[1] != self._kernel.words:
            raise InternalError(f"states of shape {states.shape}, not (n, {self._kernel.words})")
        return np.ascontiguousarray(states, np.int64)


def _function(address: int, *arguments: type) -> Callable[..., int]:
    return ctypes.CFUNCTYPE(_INT, *arguments)(address)
