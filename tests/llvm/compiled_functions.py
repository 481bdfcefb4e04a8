"""Functions that are compiled, and that say the same when Python runs them (`__wrapped__`)."""

import numpy as np
from numpy.typing import NDArray

from checker.llvm.compiled import compiled, inlined
from checker.search.board import Numbers

TABLE = (5, 0, -3, 11)
LIMIT = 7
YES = True


@inlined
def inner(left: int, right: int) -> int:
    if left > right:
        return left - right
    return LIMIT


@compiled
def arithmetic(a: int, b: int) -> int:
    c = (a + b) * 3 - (a & b) + (a | b) * (a ^ b) - ~a + -b
    c += (a << 3) + (b >> 2)
    if b != 0:
        c += a // b
    return c


@compiled
def conditions(a: int, b: int) -> int:
    found = 0
    if a < b <= LIMIT and not a > 30:
        found |= 1
    elif a in (1, 4, LIMIT) or b not in (0, 2):
        found |= 2
    else:
        found |= 4
    found |= 8 if a >= 0 and (b > 0 or YES) else 16
    found |= (a > b) << 5
    return found + min(a, b, 2) + max(a, b)


@compiled
def loops(a: int, b: int) -> int:
    total = 0
    for outer in range(a):
        if outer == 5:
            continue
        for index in range(outer, b):
            if index > 20:
                break
            total += index * TABLE[index & 3]
    for index in range(b, a, 3):
        total -= index
    first, second = b, a
    while True:
        first, second = second, first
        total += first
        a -= 1
        if a < 0 or total > LIMIT * 100:
            return total


@compiled
def together(a: int, b: int) -> int:
    return inner(a, b) * 2 + inner(b, a) + arithmetic(a, inner(a, 2))


@compiled
def sums(
    words: Numbers, ints: NDArray[np.int32], shorts: NDArray[np.uint16], flags: NDArray[np.bool_]
) -> int:
    total = 0
    for place in range(len(words)):
        total += words[place] * 3 + ints[place] + shorts[place]
        if flags[place]:
            words[place] += 1
            ints[place] = -total
            shorts[place] = place
            flags[place] = False
    return total


@inlined
def taken(words: Numbers) -> int:
    words[0] += 1
    return words[0]


@compiled
def places(words: Numbers) -> int:
    words[taken(words)] += taken(words)
    words[taken(words)] -= 10 * words[0]
    return words[0]


@compiled
def handed_on(words: Numbers, ints: NDArray[np.int32], short: NDArray[np.uint16]) -> int:
    return last_of(words) + len(ints) + short[0]


@compiled
def last_of(words: Numbers) -> int:
    return words[len(words) - 1]


@compiled
def product(a: int, b: int) -> int:
    return a * b
