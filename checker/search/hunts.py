"""A guided search on a kernel, compiled: bursts of steps from the states that are rarest so far.

A state's *cell* is what it looks like from far: the states of its machines, some other parts of it,
and which sides of the properties hold. Whatever reaches a cell that no burst has seen is kept, with
the way to it, and bursts begin at what was kept: mostly there where few have begun, or where a
property is nearest to being broken. Of the successors of a state, mostly the one whose cell and row
are the rarest is taken. After Ecoffet et al. 2021 ("First return, then explore") and, in that each
hunt looks for something else, Holzmann et al. 2011 ("Swarm Verification Techniques") and Groce et
al. 2012 ("Swarm Testing").

One hunt is one thread, and its seed decides everything.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled
from checker.llvm.instructions import load, store
from checker.llvm.meta import ACTION_MASK, DROPPED, ERROR
from checker.search.board import Numbers
from checker.search.visited import mix
from checker.search.walks import (
    DEPTH_MAX,
    DONE,
    ENDED,
    FAILED,
    GOLDEN,
    INITIAL,
    INITIAL_COUNT,
    INITIAL_META,
    LAST_FLAGS,
    LENGTH,
    META,
    NARROW,
    ON,
    OUT,
    SCRATCH,
    SIZE,
    STATE,
    STEPS,
    TAKEN,
    TOO_NARROW,
    VIOLATED,
    WALKING,
    WORDS,
    below,
    expanded,
    go_to,
    look,
)

# Beside the places of a walker (`walks.py`). LENGTH is of the whole way from the initial state.
STEPS_MAX = SIZE
MASK = SIZE + 1
"""Address of a state's worth of bits: those that a cell is made of."""
GUIDE = SIZE + 2
"""Flags of checked states that a cell is made of, too."""
CELLS = SIZE + 3
"""Address of a word for each cell: how many states were seen in it."""
CELLS_MASK = SIZE + 4
CELLS_SEEN = SIZE + 5
KEPT = SIZE + 6
"""Address of the states that are kept, WORDS each."""
KEPT_COUNT = SIZE + 7
KEPT_ROOM = SIZE + 8
ENTRIES = SIZE + 9
"""Address of ENTRY_SIZE words for each state that is kept."""
WAYS = SIZE + 10
"""Address of the numbers of successors that bursts took, one after another."""
WAYS_COUNT = SIZE + 11
WAYS_ROOM = SIZE + 12
BURST = SIZE + 13
"""How many steps a burst may go without a new cell."""
GREED = SIZE + 14
"""Of 1024 choices, how many are for what is rarest; the others are as likely for all."""
CANDIDATES = SIZE + 15
"""How many of the choices there are, drawn by chance, compete for being the rarest."""
EAGER = SIZE + 16
"""What a side of a property that holds counts for where bursts begin."""
MUTED = SIZE + 17
"""Address of a word for each action: not 0 where this hunt never takes it."""
ROW_WEIGHT = SIZE + 18
"""What it counts that a row was taken, against a cell that was seen, in sixteenths."""
# Where a hunt is.
FROM = SIZE + 19
"""The entry that the burst began at."""
BEGAN = SIZE + 20
"""Where in WAYS the burst began."""
NOW = SIZE + 21
"""Where in WAYS its next step goes."""
LEFT = SIZE + 22
DEEPEST = SIZE + 23
BEGINNINGS = SIZE + 24
"""How many initial states were begun at."""
HUNT_SIZE = SIZE + 25

# Of an entry.
PARENT = 0
WAY = 1
WAY_LENGTH = 2
DEPTH = 3
BEGUN = 4
"""How many bursts began at it."""
SIDES = 5
"""How many sides of properties hold in it."""
ENTRY_SIZE = 6

FOUND = 3
"""What `hunt` says besides DONE and TOO_NARROW: something is wrong."""

_NOWHERE = 4
"""There is no state to begin at."""


@compiled
def hunt(hunter: Numbers) -> int:
    """Go on hunting: DONE after STEPS_MAX attempts to make a step, TOO_NARROW or FOUND.

    TOO_NARROW: give more CAPACITY and call again. FOUND: LAST_META and LAST_FLAGS say what, FROM,
    BEGAN and NOW how it was come to.
    """
    while hunter[STEPS] < hunter[STEPS_MAX]:
        ending = ON
        if hunter[WALKING] == 0:
            ending = _begin(hunter)
        while ending == ON and hunter[STEPS] < hunter[STEPS_MAX]:
            ending = _step(hunter)
            if ending == NARROW:
                return TOO_NARROW
        if ending == VIOLATED:
            return FOUND
        if ending == _NOWHERE:
            return DONE
        if ending != ON:
            hunter[WALKING] = 0
    return DONE


@compiled
def _begin(hunter: Numbers) -> int:
    """Begin a burst: at a new initial state while there are any, else at one that is kept."""
    hunter[WALKING] = 1
    hunter[LEFT] = hunter[BURST]
    hunter[BEGAN] = hunter[WAYS_COUNT]
    hunter[NOW] = hunter[WAYS_COUNT]
    if hunter[BEGINNINGS] < hunter[INITIAL_COUNT] and hunter[KEPT_COUNT] < hunter[KEPT_ROOM]:
        return int(_begin_anew(hunter))
    if hunter[KEPT_COUNT] == 0:
        return _NOWHERE
    best = below(hunter, hunter[KEPT_COUNT])
    for _ in range(hunter[CANDIDATES]):
        other = below(hunter, hunter[KEPT_COUNT])
        if _worth(hunter, other) < _worth(hunter, best):
            best = other
    entry = hunter[ENTRIES] + 8 * ENTRY_SIZE * best
    store(entry + 8 * BEGUN, load(entry + 8 * BEGUN) + 1)
    hunter[FROM] = best
    hunter[LENGTH] = load(entry + 8 * DEPTH)
    go_to(hunter, hunter[KEPT] + 8 * hunter[WORDS] * best)
    return ON


@compiled
def _begin_anew(hunter: Numbers) -> int:
    """Begin at the next initial state, and keep it unless it is outside the bounds."""
    number = hunter[BEGINNINGS]
    hunter[BEGINNINGS] += 1
    hunter[LENGTH] = 0
    hunter[FROM] = -1
    go_to(hunter, hunter[INITIAL] + 8 * hunter[WORDS] * number)
    ending = look(hunter, load(hunter[INITIAL_META] + 8 * number))
    if ending == ON:
        _seen(hunter, _cell(hunter, hunter[STATE]))
        hunter[FROM] = hunter[KEPT_COUNT]
        _keep(hunter, -1)
    return int(ending)


@compiled
def _worth(hunter: Numbers, number: int) -> int:
    """Return how little it is worth to begin at an entry: the least is the best."""
    entry = hunter[ENTRIES] + 8 * ENTRY_SIZE * number
    return int(load(entry + 8 * BEGUN) - hunter[EAGER] * load(entry + 8 * SIDES))


@compiled
def _step(hunter: Numbers) -> int:
    """Go one step on from the state the burst is in."""
    hunter[STEPS] += 1
    if hunter[LENGTH] >= hunter[DEPTH_MAX] or hunter[LEFT] <= 0:
        return ENDED
    if hunter[NOW] >= hunter[WAYS_ROOM]:
        return ENDED
    ending = expanded(hunter)
    if ending != ON:
        return int(ending)
    chosen = _chosen(hunter, load(hunter[SCRATCH]))
    if chosen < 0:
        return ENDED
    store(hunter[WAYS] + 8 * hunter[NOW], chosen)
    meta = load(hunter[META] + 8 * chosen)
    if meta & (ERROR | DROPPED) == 0:
        taken = hunter[TAKEN] + 8 * (meta & ACTION_MASK)
        store(taken, load(taken) + 1)
        hunter[LENGTH] += 1
        hunter[NOW] += 1
        hunter[LEFT] -= 1
        go_to(hunter, hunter[OUT] + 8 * hunter[WORDS] * chosen)
    ending = look(hunter, meta)
    hunter[FAILED] = meta & ERROR
    if ending == ON and _seen(hunter, _cell(hunter, hunter[STATE])) == 1:
        hunter[LEFT] = hunter[BURST]
        _keep(hunter, hunter[FROM])
    return int(ending)


@compiled
def _chosen(hunter: Numbers, count: int) -> int:
    """Return which of the successors in OUT to go to; -1 where this hunt takes none of them."""
    best = -1
    least = 0
    tries = hunter[CANDIDATES]
    if below(hunter, 1024) >= hunter[GREED]:
        tries = 1
    if count == 0:
        return -1
    for _ in range(tries):
        number = below(hunter, count)
        rank = _rank(hunter, number)
        if rank >= 0 and (best < 0 or rank < least):
            best = number
            least = rank
    number = 0
    while best < 0 and number < count:
        if _rank(hunter, number) >= 0:
            best = number
        number += 1
    return int(best)


@compiled
def _rank(hunter: Numbers, number: int) -> int:
    """Return how common a successor is: its cell, as far as its state tells, and its row."""
    meta = load(hunter[META] + 8 * number)
    action = meta & ACTION_MASK
    if load(hunter[MUTED] + 8 * action) != 0:
        return -1
    if meta & (ERROR | DROPPED) != 0:
        return 0
    place = _place(hunter, hunter[OUT] + 8 * hunter[WORDS] * number, 0)
    seen = load(hunter[CELLS] + 8 * place)
    return int(16 * seen + hunter[ROW_WEIGHT] * load(hunter[TAKEN] + 8 * action))


@compiled
def _cell(hunter: Numbers, state: int) -> int:
    """Return the place in CELLS of the checked state at an address, the sides that hold included.

    The cell without the sides is counted as well: it is what a successor is ranked by.
    """
    plain = hunter[CELLS] + 8 * _place(hunter, state, 0)
    sides = hunter[LAST_FLAGS] & hunter[GUIDE]
    if sides != 0:
        store(plain, load(plain) + 1)
    return int(_place(hunter, state, sides))


@compiled
def _place(hunter: Numbers, state: int, sides: int) -> int:
    """Return a place in CELLS by some bits of a state and the sides that hold in it."""
    hashed = mix(sides + 1)
    for word in range(hunter[WORDS]):
        part = load(state + 8 * word) & load(hunter[MASK] + 8 * word)
        hashed = mix(hashed + part * GOLDEN + word)
    return int(hashed & hunter[CELLS_MASK])


@compiled
def _seen(hunter: Numbers, place: int) -> int:
    """Count a state in a cell; return how many it has now."""
    cell = hunter[CELLS] + 8 * place
    count = load(cell) + 1
    store(cell, count)
    if count == 1:
        hunter[CELLS_SEEN] += 1
    return int(count)


@compiled
def _keep(hunter: Numbers, parent: int) -> None:
    """Keep the state that the burst is in, with the way to it, while there is room."""
    if hunter[LENGTH] > hunter[DEEPEST]:  # noqa: PLR1730 (compiled code has no `max`)
        hunter[DEEPEST] = hunter[LENGTH]
    if hunter[KEPT_COUNT] < hunter[KEPT_ROOM]:
        number = hunter[KEPT_COUNT]
        entry = hunter[ENTRIES] + 8 * ENTRY_SIZE * number
        for word in range(hunter[WORDS]):
            kept = hunter[KEPT] + 8 * (hunter[WORDS] * number + word)
            store(kept, load(hunter[STATE] + 8 * word))
        store(entry + 8 * PARENT, parent)
        store(entry + 8 * WAY, hunter[BEGAN])
        store(entry + 8 * WAY_LENGTH, hunter[NOW] - hunter[BEGAN])
        store(entry + 8 * DEPTH, hunter[LENGTH])
        store(entry + 8 * BEGUN, 0)
        sides = hunter[LAST_FLAGS] & hunter[GUIDE]
        count = 0
        while sides != 0:
            sides &= sides - 1
            count += 1
        store(entry + 8 * SIDES, count)
        hunter[KEPT_COUNT] += 1
        hunter[WAYS_COUNT] = hunter[NOW]
