"""The compiled half of building a state graph: index the states, expand them, find the targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.llvm.compiled import compiled
from checker.llvm.instructions import call, load, prefetch, store
from checker.llvm.meta import CUT, DROPPED, ERROR
from checker.search.beyond import of_no_state, told_by
from checker.search.board import (
    BLOCK_SIZE_MAX,
    CANONICAL,
    ENDS,
    EXPAND,
    FLAGS,
    META,
    OUT,
    OUT_CAPACITY,
    QUEUE,
    SLOTS,
    STATUS,
    TALLIES,
    WORDS,
    Numbers,
)
from checker.search.indexed import differs
from checker.search.visited import hash_state, same_tail

# Places of a plan, the numbers that all threads share.
STATES = 0
"""How many states there are; also the number of the state that stands for what was cut."""
INDEX = 1
"""Address of the index: int32, 1 + a state's number, 0 where there is none."""
MASK = 2
OBSERVE = 3
SHIFT = 4
"""The lowest bit of a meta word's row instance."""
PROPERTIES = 5
"""How many properties are observed."""
META_BITS = 6
"""The bits of a meta word below and with those of the row instance."""
RENAMED = 7
"""Address of the kernel's `renamed`, where the board has one of `canonical`."""
NAMINGS = 8
"""Address of all namings, the one that changes nothing first, of NAMING_SIZE bytes each."""
NAMING_SIZE = 9
RENAMINGS = 10
PLAN_SIZE = 11

# Places of what a thread has beside its desk; the first ones where states are replaced by
# representatives.
RAW = 0
"""Address of the successors as they are; those at OUT are their representatives."""
SPARE = 1
"""Address of room for as many meta words as at META."""
SCRATCH = 2
"""Address of room for one state."""
DONE = 3
"""How many states were expanded."""
BESIDE_SIZE = 4

TOO_NARROW = -1
"""The successors of one state do not fit the desk's buffer."""
NO_ROOM = -2
"""The edges do not fit the arrays for them."""
LOST = -3
"""A step failed, or led to a state that the search has not stored."""

_AHEAD = 64
"""States whose places are asked for at a time."""


@compiled
def index_states(
    queue: int, words: int, count: int, index: NDArray[np.int32], address: int
) -> None:
    """Enter the numbers of `count` different states into the empty `index` (a power of two)."""
    mask = len(index) - 1
    size = 8 * words
    for first in range(0, count, _AHEAD):
        end = min(first + _AHEAD, count)
        for number in range(first, end):
            prefetch(address + 4 * (hash_state(queue + size * number, words) & mask))
        for number in range(first, end):
            place = hash_state(queue + size * number, words) & mask
            while index[place] != 0:
                place = (place + 1) & mask
            index[place] = number + 1


@compiled
def find(queue: int, words: int, state: int, place: int, index: NDArray[np.int32]) -> int:
    """Return the number of the state at address `state`, whose home is `place`; LOST if unknown."""
    mask = len(index) - 1
    while True:
        number = int(index[place]) - 1
        if number < 0:
            return LOST
        known = queue + 8 * words * number
        if load(known) == load(state) and same_tail(known, state, words):
            return number
        place = (place + 1) & mask


@compiled
def find_all(
    queue: int, words: int, states: int, count: int, index: NDArray[np.int32], numbers: Numbers
) -> None:
    """Write the numbers of `count` states, or LOST, to `numbers`."""
    for i in range(count):
        state = states + 8 * words * i
        place = hash_state(state, words) & (len(index) - 1)
        numbers[i] = find(queue, words, state, place, index)


@compiled
def _locate(
    board: Numbers, desk: Numbers, plan: Numbers, count: int, index: NDArray[np.int32]
) -> None:
    """Compute the homes of the successors in the index, and ask for all memory that is needed."""
    words, size = board[WORDS], 8 * board[WORDS]
    for i in range(count):
        place = hash_state(desk[OUT] + size * i, words) & plan[MASK]
        store(desk[SLOTS] + 8 * i, place)
        prefetch(plan[INDEX] + 4 * place)
    for i in range(count):
        number = int(index[load(desk[SLOTS] + 8 * i)])
        prefetch(board[QUEUE] + size * max(number - 1, 0))


@compiled
def _target(
    board: Numbers,
    desk: Numbers,
    plan: Numbers,
    index: NDArray[np.int32],
    raw: int,
    i: int,
    source: int,
    outside: Numbers,
    place: int,
) -> int:
    """Return where successor `i` of the buffer leads; a cut one tells `outside[place]` of it.

    `raw` is the address of the successors as they are. A step of state number `source` that changes
    nothing leads nowhere else, whatever the bounds say of it.
    """
    meta = load(desk[META] + 8 * i)
    if meta & (ERROR | DROPPED | CUT) == 0:
        same = desk[OUT] + 8 * board[WORDS] * i
        return int(find(board[QUEUE], board[WORDS], same, load(desk[SLOTS] + 8 * i), index))
    state = raw + 8 * board[WORDS] * i
    if meta & ERROR != 0:
        return LOST
    if meta & DROPPED != 0:
        outside[place] |= of_no_state(plan[PROPERTIES])
    elif differs(board[QUEUE] + 8 * board[WORDS] * source, state, board[WORDS]) == 0:
        return source
    else:
        call(plan[OBSERVE], state, 1, desk[FLAGS])
        outside[place] |= told_by(load(desk[FLAGS]), plan[PROPERTIES])
    return int(plan[STATES])


@compiled
def _reduce(board: Numbers, desk: Numbers, reducing: Numbers, count: int) -> None:
    """Keep the successors as they are at RAW, and let their representatives take their place."""
    for word in range(count * board[WORDS]):
        store(reducing[RAW] + 8 * word, load(desk[OUT] + 8 * word))
    for i in range(count):
        store(reducing[SPARE] + 8 * i, load(desk[META] + 8 * i))
    call(board[CANONICAL], desk[OUT], count, reducing[SPARE])


@compiled
def _turn(board: Numbers, desk: Numbers, plan: Numbers, reducing: Numbers, i: int) -> int:
    """Return the first renaming that makes successor `i` of its representative; LOST if none."""
    words = board[WORDS]
    same = desk[OUT] + 8 * words * i
    wanted = reducing[RAW] + 8 * words * i
    made = reducing[SCRATCH]
    if load(same) == load(wanted) and same_tail(same, wanted, words):
        return 0
    for number in range(1, plan[RENAMINGS]):
        call(plan[RENAMED], same, made, plan[NAMINGS] + plan[NAMING_SIZE] * number)
        if load(made) == load(wanted) and same_tail(made, wanted, words):
            return number
    return LOST


@compiled
def expand_states(
    board: Numbers,
    desk: Numbers,
    plan: Numbers,
    index: NDArray[np.int32],
    first: int,
    last: int,
    beside: Numbers,
    targets: NDArray[np.int32],
    labels: NDArray[np.int32],
    turns: NDArray[np.uint16],
    ends: Numbers,
    outside: Numbers,
) -> int:
    """Write the edges of the states `first` to `last` that change the state; return their number.

    Of so many states, DONE of `beside`, as have room for theirs.
    `ends[i]` is the number of edges up to and including the i-th of these states, `outside[i]`
    what is known beyond its cut steps. `turns` is written where states are replaced by
    representatives: how the target is renamed. TOO_NARROW, NO_ROOM, LOST: nothing of use was
    written.
    """
    words = board[WORDS]
    reduces = board[CANONICAL] != 0
    raw = beside[RAW] if reduces else desk[OUT]
    edges = 0
    begin = first
    while begin < last:
        processed = call(
            board[EXPAND],
            board[QUEUE] + 8 * words * begin,
            min(last - begin, BLOCK_SIZE_MAX),
            desk[OUT],
            desk[OUT_CAPACITY],
            desk[META],
            desk[ENDS],
            desk[STATUS],
            desk[TALLIES],
        )
        if processed == 0:
            return TOO_NARROW
        pending = load(desk[ENDS] + 8 * (processed - 1))
        if edges + pending > len(targets):
            beside[DONE] = begin - first
            return edges if begin > first else NO_ROOM
        if reduces:
            _reduce(board, desk, beside, pending)
        _locate(board, desk, plan, pending, index)
        successor = 0
        for k in range(processed):
            source = begin + k
            outside[source - first] = 0
            end = load(desk[ENDS] + 8 * k)
            while successor < end:
                target = _target(
                    board, desk, plan, index, raw, successor, source, outside, source - first
                )
                turn = 0
                if reduces and 0 <= target < plan[STATES]:
                    turn = _turn(board, desk, plan, beside, successor)
                if target < 0 or turn < 0:
                    return LOST
                if target != source or turn != 0:
                    if reduces:
                        turns[edges] = turn
                    targets[edges] = target
                    meta = load(desk[META] + 8 * successor) & ((1 << plan[META_BITS]) - 1)
                    labels[edges] = (meta >> plan[SHIFT]) - 1
                    edges += 1
                successor += 1
            ends[source - first] = edges
        begin += processed
    beside[DONE] = last - first
    return edges


@compiled
def staying(
    queue: int,
    words: int,
    plan: Numbers,
    numbers: Numbers,
    scratch: Numbers,
    stays: NDArray[np.bool_],
) -> None:
    """Write whether each renaming leaves each of some states as it is.

    `scratch` has the address of room for one state.
    """
    made = scratch[0]
    for i in range(len(numbers)):
        state = queue + 8 * words * numbers[i]
        for renaming in range(plan[RENAMINGS]):
            call(plan[RENAMED], state, made, plan[NAMINGS] + plan[NAMING_SIZE] * renaming)
            same = load(made) == load(state) and same_tail(made, state, words)
            stays[i * plan[RENAMINGS] + renaming] = same
