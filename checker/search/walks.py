"""Random walks on a kernel, compiled: expand one state, choose a successor, check it, go on.

A walk's choices come from its own seed, made from the run's seed and the walk's number, so a walk
is the same whichever thread makes it and whatever ran before.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled
from checker.llvm.instructions import call, load, store
from checker.llvm.meta import ACTION_MASK, CHECK_ERROR, CUT, DROPPED, ERROR
from checker.search.board import DEADLOCK, UNCLEAR, Numbers
from checker.search.visited import mix

# What a walker is told; addresses of its buffers.
WORDS = 0
EXPAND = 1
CHECK = 2
INITIAL = 3
INITIAL_META = 4
INITIAL_COUNT = 5
DEPTH_MAX = 6
SEED = 7
WRONG_EDGES = 8
"""Flags of meta words that are violations."""
WRONG_CHECKS = 9
"""Flags of checked states that are violations."""
DEADLOCK_IS_WRONG = 10
HALT = 11
"""Address of a word that is not 0 when all walkers are to stop."""
STATE = 12
OUT = 13
META = 14
CAPACITY = 15
SCRATCH = 16
"""Address of three words: ends, status and flags of one state."""
TALLIES = 17
TAKEN = 18
"""Address of a word for each action: how many steps it made."""
RECORD = 19
"""Address the states of the walk are written to, one after another; 0 to keep none."""
# Where a walker is.
WALK = 20
WALKING = 21
RANDOM = 22
LENGTH = 23
LAST_META = 24
LAST_FLAGS = 25
# What a walker has found.
STEPS = 26
FINISHED_WALKS = 27
FLAGS_SEEN = 28
BEST_WALK = 29
"""The number of the violating walk that is shortest, and first among those; -1 without one."""
BEST_LENGTH = 30
LENGTHS = 31
"""Address of a word for each length, up to DEPTH_MAX: how many walks were so long."""
FIRSTS = 32
"""Address of a word for each action: the first of the walker's walks that took it, or -1."""
FAILED = 33
"""Not 0: what is wrong is that a step out of the state failed."""
SIZE = 34

DONE = 0
HALTED = 1
TOO_NARROW = 2

# How a walk can end.
ON = 0
ENDED = 1
VIOLATED = 2
NARROW = 3

GOLDEN = -7046029254386353131
_LOW_31 = (1 << 31) - 1


@compiled
def walk_all(walker: Numbers, end: int, stride: int) -> int:
    """Make walks number WALK, WALK + stride, ... below `end`; DONE, HALTED or TOO_NARROW.

    TOO_NARROW: give more CAPACITY and call again; the walk goes on where it is.
    """
    while walker[WALK] < end:
        ending = ON
        if walker[WALKING] == 0:
            ending = _begin(walker)
        while ending == ON:
            if load(walker[HALT]) != 0:
                return HALTED
            ending = _step(walker)
            if ending == NARROW:
                return TOO_NARROW
        if ending == VIOLATED and (walker[BEST_WALK] < 0 or walker[LENGTH] < walker[BEST_LENGTH]):
            walker[BEST_WALK] = walker[WALK]
            walker[BEST_LENGTH] = walker[LENGTH]
        walker[WALKING] = 0
        walker[FINISHED_WALKS] += 1
        lengths = walker[LENGTHS] + 8 * walker[LENGTH]
        store(lengths, load(lengths) + 1)
        walker[WALK] += stride
    return DONE


@compiled
def below(walker: Numbers, count: int) -> int:
    """Return a number from 0 to `count` - 1, each as likely; advance the walk's generator."""
    walker[RANDOM] += GOLDEN
    return ((int(mix(walker[RANDOM]) >> 33) & _LOW_31) * count) >> 31


@compiled
def _begin(walker: Numbers) -> int:
    """Go to an initial state."""
    walker[WALKING] = 1
    walker[LENGTH] = 0
    walker[RANDOM] = mix(walker[SEED] + mix(walker[WALK] * GOLDEN + 1))
    if walker[INITIAL_COUNT] == 0:
        return ENDED
    chosen = below(walker, walker[INITIAL_COUNT])
    state = walker[INITIAL] + 8 * walker[WORDS] * chosen
    go_to(walker, state)
    return int(look(walker, load(walker[INITIAL_META] + 8 * chosen)))


@compiled
def expanded(walker: Numbers) -> int:
    """Put the successors of the state into OUT and META, and their number first into SCRATCH.

    NARROW where they have no room; VIOLATED where the state is a deadlock that is wrong, or nobody
    can tell; else ON.
    """
    scratch = walker[SCRATCH]
    processed = call(
        walker[EXPAND],
        walker[STATE],
        1,
        walker[OUT],
        walker[CAPACITY],
        walker[META],
        scratch,
        scratch + 8,
        walker[TALLIES],
    )
    if processed == 0:
        return NARROW
    status = load(scratch + 8)
    if status == UNCLEAR or (status == DEADLOCK and walker[DEADLOCK_IS_WRONG] != 0):
        walker[LAST_META] = 0
        walker[LAST_FLAGS] = CHECK_ERROR if status == UNCLEAR else 0
        walker[FAILED] = 0
        return VIOLATED
    return ON


@compiled
def _step(walker: Numbers) -> int:
    """Go one step on from the state the walk is in."""
    if walker[LENGTH] >= walker[DEPTH_MAX]:
        return ENDED
    ending = expanded(walker)
    if ending != ON:
        return int(ending)
    count = load(walker[SCRATCH])
    if count == 0:
        return ENDED
    chosen = below(walker, count)
    meta = load(walker[META] + 8 * chosen)
    if meta & (ERROR | DROPPED) == 0:
        taken = walker[TAKEN] + 8 * (meta & ACTION_MASK)
        if load(taken) == 0:
            store(walker[FIRSTS] + 8 * (meta & ACTION_MASK), walker[WALK])
        store(taken, load(taken) + 1)
        walker[LENGTH] += 1
        walker[STEPS] += 1
        go_to(walker, walker[OUT] + 8 * walker[WORDS] * chosen)
    ending = look(walker, meta)
    walker[FAILED] = meta & ERROR
    return int(ending)


@compiled
def go_to(walker: Numbers, state: int) -> None:
    """Make the state at address `state` the walk's."""
    words = walker[WORDS]
    for word in range(words):
        value = load(state + 8 * word)
        store(walker[STATE] + 8 * word, value)
        if walker[RECORD] != 0:
            store(walker[RECORD] + 8 * (words * walker[LENGTH] + word), value)


@compiled
def look(walker: Numbers, meta: int) -> int:
    """Judge the step with this `meta`, and the state it led to."""
    walker[LAST_META] = meta
    walker[LAST_FLAGS] = 0
    walker[FAILED] = 0
    if meta & ERROR != 0:
        return VIOLATED
    if meta & DROPPED != 0:
        return ENDED
    if walker[CHECK] != 0:
        flags = walker[SCRATCH] + 16
        call(walker[CHECK], walker[STATE], 1, flags, 0, 0)
        walker[LAST_FLAGS] = load(flags)
        walker[FLAGS_SEEN] |= load(flags)
    if meta & walker[WRONG_EDGES] != 0 or walker[LAST_FLAGS] & walker[WRONG_CHECKS] != 0:
        return VIOLATED
    return ENDED if meta & CUT != 0 else ON
