"""The compiled half of rebuilding paths: which states of a level lead on to what was found.

A *mark* is a state with a word of bits: bit i is set where finding i can be reached from it in
as few steps as possible. The marks of one level are found from those of the next by expanding the
level once more, on all cores.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled
from checker.llvm.instructions import call, fetch_add, load, store
from checker.llvm.meta import CUT, DROPPED, ERROR
from checker.search.board import (
    CHECK,
    DEADLOCK,
    ENDS,
    EXPANDED,
    FLAGS,
    META,
    NEXT,
    OUT,
    PENDING,
    STATUS,
    UNCLEAR,
    WORDS,
    Numbers,
)
from checker.search.visited import hash_state, same_tail
from checker.search.worker import WORKING, expand_next, expanded_state

# Places of a trail, the array that says what a level's states are marked by.
LATER = 0
"""Address of the index of the next level's marks; 0 if there are none."""
LATER_MASK = 1
MARKS = 2
"""Address the level's marks are written to."""
DEAD_BITS = 3
"""The findings that a deadlock of this level is."""
EDGE_FLAGS = 4
"""The flags of meta words that are findings; EDGE_BITS + flag's place says which."""
CHECK_FLAGS = 5
"""The same for the flags of checked successors, and CHECK_BITS."""
COUNT = 8
"""How many marks were written."""
EDGE_BITS = 16
CHECK_BITS = 80
TRAIL_SIZE = 144


@compiled
def index_marks(table: int, mask: int, words: int, marks: int, count: int) -> None:
    """Enter the addresses of `count` marks, of different states, into the empty `table`.

    It has mask + 1 places.
    """
    for index in range(count):
        mark = marks + 8 * (words + 1) * index
        place = hash_state(mark, words) & mask
        while load(table + 8 * place) != 0:
            place = (place + 1) & mask
        store(table + 8 * place, mark)


@compiled
def _bits_of(table: int, mask: int, words: int, state: int) -> int:
    """Return the bits of a state's mark; 0 if it has none."""
    place = hash_state(state, words) & mask
    while True:
        mark = load(table + 8 * place)
        if mark == 0:
            return 0
        if load(mark) == load(state) and same_tail(mark, state, words):
            return int(load(mark + 8 * words))
        place = (place + 1) & mask


@compiled
def first_marked(table: int, mask: int, words: int, states: int, count: int, bits: int) -> int:
    """Return the first of `count` states whose mark has one of `bits`; -1 where there is none."""
    for index in range(count):
        if _bits_of(table, mask, words, states + 8 * words * index) & bits != 0:
            return index
    return -1


@compiled
def _aimed_at(flags: int, trail: Numbers, bits: int) -> int:
    """Return the findings that any of `flags` is, by the list at place `bits` of the trail."""
    found = 0
    for flag in range(63):
        if (flags >> flag) & 1 == 1:
            found |= trail[bits + flag]
    return found


@compiled
def _bits_of_edges(board: Numbers, desk: Numbers, trail: Numbers, start: int, end: int) -> int:
    """Return the findings that the successors `start` to `end` are or lead to."""
    words = board[WORDS]
    bits = 0
    for index in range(start, end):
        meta = load(desk[META] + 8 * index)
        if meta & (ERROR | DROPPED) != 0:
            if meta & trail[EDGE_FLAGS] & ERROR != 0:
                bits |= _aimed_at(ERROR, trail, EDGE_BITS)
            continue
        if meta & trail[EDGE_FLAGS] != 0:
            bits |= _aimed_at(meta & trail[EDGE_FLAGS], trail, EDGE_BITS)
        if trail[CHECK_FLAGS] != 0:
            flags = load(desk[FLAGS] + 8 * index) & trail[CHECK_FLAGS]
            if flags != 0:
                bits |= _aimed_at(flags, trail, CHECK_BITS)
        if trail[LATER] != 0 and meta & CUT == 0:
            state = desk[OUT] + 8 * words * index
            bits |= _bits_of(trail[LATER], trail[LATER_MASK], words, state)
    return bits


@compiled
def mark_level(
    board: Numbers, desk: Numbers, board_address: int, trail: Numbers, trail_address: int
) -> int:
    """Mark states of the level until it is finished; return why it stopped, like `work`."""
    while True:
        result = expand_next(board, desk, board_address, 0)
        if result != WORKING:
            return int(result)
        if trail[CHECK_FLAGS] != 0:
            call(board[CHECK], desk[OUT], desk[PENDING], desk[FLAGS], 0, 0)
        begin = 0
        for index in range(desk[EXPANDED]):
            end = load(desk[ENDS] + 8 * index)
            bits = _bits_of_edges(board, desk, trail, begin, end)
            status = load(desk[STATUS] + 8 * index)
            if status == DEADLOCK:
                bits |= trail[DEAD_BITS]
            elif status == UNCLEAR:
                bits |= _aimed_at(trail[EDGE_FLAGS] & ERROR, trail, EDGE_BITS)
            if bits != 0:
                state = expanded_state(board, desk, index)
                _write_mark(trail, trail_address, board[WORDS], state, bits)
            begin = end
        desk[NEXT] = desk[PENDING]


@compiled
def _write_mark(trail: Numbers, trail_address: int, words: int, state: int, bits: int) -> None:
    """Add a mark to the level's."""
    mark = trail[MARKS] + 8 * (words + 1) * fetch_add(trail_address + 8 * COUNT, 1)
    for word in range(words):
        store(mark + 8 * word, load(state + 8 * word))
    store(mark + 8 * words, bits)
