"""Kernels written by hand, compiled with Numba: fast graphs with known answers."""

from collections.abc import Callable
from typing import Any

from numba import cfunc, njit, types

from checker.kernel.kernel import Kernel

_POINTER = types.CPointer(types.int64)
_EXPAND = types.int64(
    _POINTER,
    types.int64,
    _POINTER,
    types.int64,
    _POINTER,
    _POINTER,
    _POINTER,
    _POINTER,
)
_THREE = types.int64(_POINTER, types.int64, _POINTER)


def grid(counters: int, size: int, words: int) -> Kernel:
    """Counters that go from 0 to size - 1, action i increasing counter i: size ** counters
    states, counters * (size - 1) * size ** (counters - 1) steps, one deadlock. Counter i stands in
    word i % words. Property `far`: the sum is at least three quarters of the largest."""
    width = 60 // -(-counters // words)
    mask = (1 << width) - 1
    far = 3 * counters * (size - 1) // 4

    @cfunc(_THREE)
    def initial(out: Any, capacity: int, meta: Any) -> int:
        if capacity < 1:
            return -1
        for word in range(words):
            out[word] = 0
        meta[0] = 0
        return 1

    @njit
    def value(states: Any, state: int, counter: int) -> int:
        word = counter % words
        return (states[state * words + word] >> (counter // words * width)) & mask

    @cfunc(_EXPAND)
    def expand(
        states: Any,
        count: int,
        out: Any,
        capacity: int,
        meta: Any,
        ends: Any,
        status: Any,
        tallies: Any,
    ) -> int:
        total = 0
        for state in range(count):
            if total + counters > capacity:
                return state
            before = total
            for counter in range(counters):
                if value(states, state, counter) < size - 1:
                    for word in range(words):
                        out[total * words + word] = states[state * words + word]
                    place = total * words + counter % words
                    out[place] += 1 << (counter // words * width)
                    meta[total] = counter
                    tallies[2 * counter] += 1
                    tallies[2 * counter + 1] += 1
                    tallies[2 * counters + counter] += 1
                    total += 1
            ends[state] = total
            status[state] = 1 if total > before else 0
        return count

    @cfunc(_THREE)
    def check(states: Any, count: int, flags: Any) -> int:
        for state in range(count):
            total = 0
            for counter in range(counters):
                total += value(states, state, counter)
            flags[state] = 1 if total >= far else 0
        return count

    names = tuple(f"increase{counter}" for counter in range(counters))
    return _kernel(words, names, initial, expand, check)


def _kernel(
    words: int, actions: tuple[str, ...], initial: Any, expand: Any, check: Callable[..., int]
) -> Kernel:
    functions: Any = (initial, expand, check)
    return Kernel(
        words=words,
        actions=actions,
        checks=("far",),
        steps=(),
        initial_address=functions[0].address,
        expand_address=functions[1].address,
        check_address=functions[2].address,
        ir="",
        keep=functions,
    )
