"""Where the time of `expand` goes: measured on a sample of states, beside any search.

The measured function is the kernel's own with a reading of the processor's tick counter before
and after each action; what the readings themselves take is measured as well and taken off. Work
that several actions share is paid by the first of them.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np

from checker.frozen import frozen
from checker.kernel.build import fingerprint
from checker.kernel.kernel import Kernel, Words
from checker.kernel.text import timed_text
from checker.layout.layout import Layout
from checker.llvm.beside import optimised_unless
from checker.llvm.meta import ERROR
from checker.llvm.native import NativeCode, cached, keep
from checker.machine.machine import Machine
from checker.process import deep_recursion

PASSES = 9
"""The sample is expanded so often, and the least counts: other processes only add to it."""

BLOCK = 256
"""States that are expanded in one call, as a search does."""


@frozen(eq=False)
class Timing:
    """`seconds` of `expand` and `check` for all states of the sample, on one thread.

    `shares[a]` is the part of the actions' time that action a takes; all are 0 where the processor
    has no tick counter. `degrees[i]` is the number of successors of state i.
    """

    expand_seconds: float
    check_seconds: float
    shares: Words
    degrees: Words


def measure(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    states: Words,
    stop: Callable[[], bool] = lambda: False,
) -> Timing | None:
    """Expand `states` (one a row) again and again, and say what that took.

    None where `stop` said so before the code for that was there.
    """
    given = np.ascontiguousarray(states, np.int64)
    code = _timed(machine, layout, stop)
    if code is None:
        return None
    plain = _Runner(kernel.expand_address, kernel, 0)
    timed = _Runner(code.address("expand"), kernel, len(kernel.actions) + 1)
    quickest = min(plain.run(given) for _ in range(PASSES))
    # The least of each action by itself: a pause of this process falls into one of them.
    ticks = np.min([timed.ticks(given) for _ in range(PASSES)], axis=0)
    spent = np.maximum(ticks[:-1] - ticks[-1], 0)
    return Timing(
        expand_seconds=quickest,
        check_seconds=min(_check(kernel, given) for _ in range(PASSES)),
        shares=spent / max(int(spent.sum()), 1),
        degrees=plain.degrees(given),
    )


def _timed(machine: Machine, layout: Layout, stop: Callable[[], bool]) -> NativeCode | None:
    """Return the timed function, from the cache where it was compiled before."""
    with deep_recursion():
        key = f"{fingerprint(machine)}-timed"
        known = cached(key)
        if known is None:
            text = timed_text(machine, layout)
            code = optimised_unless(stop, text)
            if code is None:
                return None
            known = text, code
            keep(key, *known)
    return NativeCode(known[1])


class _Runner:
    """An `expand` with its buffers; `extra` words follow the tallies."""

    def __init__(self, address: int, kernel: Kernel, extra: int) -> None:
        word = ctypes.c_int64
        self._expand = ctypes.CFUNCTYPE(word, *[word] * 8)(address)
        self._words = kernel.words
        self._tallies = np.zeros(3 * len(kernel.actions) + extra, np.int64)
        self._extra = extra
        self._ends = np.zeros(BLOCK, np.int64)
        self._status = np.zeros(BLOCK, np.int64)
        self._enlarge(1 << 12)

    def _enlarge(self, capacity: int) -> None:
        self._out = np.zeros(capacity * self._words, np.int64)
        self._meta = np.zeros(capacity, np.int64)

    def run(self, states: Words) -> float:
        """Expand all states; return the seconds it took."""
        started = time.perf_counter()
        done = 0
        while done < len(states):
            done += self._block(states, done)
        return time.perf_counter() - started

    def ticks(self, states: Words) -> Words:
        """Expand all states; return what is counted behind the tallies."""
        self._tallies[:] = 0
        self.run(states)
        return self._tallies[len(self._tallies) - self._extra :].copy()

    def degrees(self, states: Words) -> Words:
        """Expand all states; return the number of successors of each, failed steps left out."""
        found: list[Words] = []
        done = 0
        while done < len(states):
            count = self._block(states, done)
            made = np.zeros(int(self._ends[count - 1]) + 1, np.int64)
            np.cumsum((self._meta[: len(made) - 1] & ERROR) == 0, out=made[1:])
            found.append(np.diff(made[self._ends[:count]], prepend=0))
            done += count
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _block(self, states: Words, first: int) -> int:
        """Expand some states from `first` on; return how many."""
        while True:
            processed = int(
                self._expand(
                    states.ctypes.data + 8 * self._words * first,
                    min(BLOCK, len(states) - first),
                    self._out.ctypes.data,
                    len(self._meta),
                    self._meta.ctypes.data,
                    self._ends.ctypes.data,
                    self._status.ctypes.data,
                    self._tallies.ctypes.data,
                )
            )
            if processed:
                return processed
            self._enlarge(4 * len(self._meta))


def _check(kernel: Kernel, states: Words) -> float:
    """Check all states; return the seconds it took."""
    if not kernel.judges_states:
        return 0.0
    word = ctypes.c_int64
    check = ctypes.CFUNCTYPE(word, *[word] * 5)(kernel.check_address)
    flags = np.zeros(len(states), np.int64)
    started = time.perf_counter()
    check(states.ctypes.data, len(states), flags.ctypes.data, 0, 0)
    return time.perf_counter() - started
