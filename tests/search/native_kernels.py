"""Kernels written by hand, compiled like the search: fast graphs with known answers."""

import ast
from typing import Any

from checker.kernel.kernel import Kernel
from checker.llvm import compiled as machinery
from checker.llvm.compiled import Compiled, compiled, inlined
from checker.llvm.instructions import load, store
from checker.llvm.native import NativeCode
from checker.llvm.translate import Translation

# What a grid sets.
COUNTERS = 1
SIZE = 2
WORDS = 1
WIDTH = 60
FAR = 1


@compiled
def initial(out: int, capacity: int, meta: int) -> int:
    if capacity < 1:
        return -1
    for word in range(WORDS):
        store(out + 8 * word, 0)
    store(meta, 0)
    return 1


@inlined
def value(state: int, counter: int) -> int:
    turn = counter // WORDS
    return (load(state + 8 * (counter - turn * WORDS)) >> (turn * WIDTH)) & ((1 << WIDTH) - 1)


@inlined
def add(place: int, amount: int) -> int:
    store(place, load(place) + amount)
    return 0


@compiled
def expand(
    states: int,
    count: int,
    out: int,
    capacity: int,
    meta: int,
    ends: int,
    status: int,
    tallies: int,
) -> int:
    total = 0
    for number in range(count):
        if total + COUNTERS > capacity:
            return number
        state = states + 8 * WORDS * number
        before = total
        for counter in range(COUNTERS):
            if value(state, counter) < SIZE - 1:
                successor = out + 8 * WORDS * total
                for word in range(WORDS):
                    store(successor + 8 * word, load(state + 8 * word))
                turn = counter // WORDS
                add(successor + 8 * (counter - turn * WORDS), 1 << (turn * WIDTH))
                store(meta + 8 * total, counter)
                add(tallies + 8 * (2 * counter), 1)
                add(tallies + 8 * (2 * counter + 1), 1)
                add(tallies + 8 * (2 * COUNTERS + counter), 1)
                total += 1
        store(ends + 8 * number, total)
        store(status + 8 * number, total > before)
    return count


@compiled
def check(states: int, count: int, flags: int, _done: int, _origins: int) -> int:
    for number in range(count):
        total = 0
        for counter in range(COUNTERS):
            total += value(states + 8 * WORDS * number, counter)
        store(flags + 8 * number, total >= FAR)
    return count


def grid(counters: int, size: int, words: int) -> Kernel:
    """Counters that go from 0 to size - 1, action i increasing counter i: size ** counters
    states, counters * (size - 1) * size ** (counters - 1) steps, one deadlock. Counter i stands in
    word i % words. Property `far`: the sum is at least three quarters of the largest."""
    numbers = {
        "COUNTERS": counters,
        "SIZE": size,
        "WORDS": words,
        "WIDTH": 60 // -(-counters // words),
        "FAR": 3 * counters * (size - 1) // 4,
    }
    code = _code(numbers)
    addresses = [code.address(item.symbol) for item in (initial, expand, check)]  # type: ignore[attr-defined]
    return Kernel(
        words=words,
        actions=tuple(f"increase{counter}" for counter in range(counters)),
        checks=("far",),
        steps=(),
        initial_address=addresses[0],
        expand_address=addresses[1],
        check_address=addresses[2],
        ir="",
        keep=(code,),
    )


class _Set:
    """A function some of whose names mean given numbers."""

    def __init__(self, function: Compiled, numbers: dict[str, int]) -> None:
        self.symbol, self.inline = function.symbol, function.inline
        self._function, self._numbers = function, numbers

    @property
    def definition(self) -> ast.FunctionDef:
        return self._function.definition

    def meaning(self, name: str) -> object:
        return self._numbers.get(name, self._function.meaning(name))


def _code(numbers: dict[str, int]) -> NativeCode:
    functions: Any = (initial, value, add, expand, check)
    texts = [Translation(_Set(function, numbers), "").text() for function in functions]
    return NativeCode(machinery._object_code("\n".join([*machinery.DECLARATIONS, *texts])))
