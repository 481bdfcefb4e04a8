"""The search's inner loop, compiled: claim a block of states, expand, look up, keep, check.

A worker can stop at any state and be called again: where it is stands on its desk. It stops when
the level is claimed, when the board says halt, or when it cannot go on without the coordinator.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import call, fetch_add, load, store, store_short
from checker.llvm.meta import CUT, DROPPED, ERROR, NUMBER
from checker.search.board import (
    ARRIVALS,
    BESIDE,
    BLOCK,
    BLOCK_END,
    BLOCK_SIZE,
    CANONICAL,
    CAPACITY,
    CHECK,
    CHECKS_SEEN,
    CHUNK,
    CHUNK_END,
    CHUNK_SIZE,
    CLAIMED,
    CUTS,
    CUTTER,
    DEADLOCK,
    DEADLOCKS,
    DISTINCT,
    EDGES_SEEN,
    ENDS,
    EXPAND,
    EXPANDED,
    EXPLORE,
    FLAGS,
    HALT,
    INDEXED,
    LEVEL_END,
    LOOKED_UP,
    META,
    NEXT,
    ORIGINS,
    OUT,
    OUT_CAPACITY,
    PENDING,
    QUEUE,
    RECORDING,
    RESERVED_BITS,
    ROOM,
    SLOTS,
    SPLIT,
    STATUS,
    TABLE,
    TAIL,
    TALLIES,
    UNCLEAR,
    UNKNOWN,
    WORDS,
    Numbers,
)
from checker.search.halves import (
    DEPTH,
    FORM,
    FRESH,
    LOCATED,
    SOURCES,
    read_roots,
    write_roots,
)
from checker.search.indexed import announce, differs, foresee, look_up, number_of
from checker.search.recording import record
from checker.search.roots import ask_for, insert_root
from checker.search.visited import CROWDED, KNOWN, NEW, NO_ROOM, insert, is_at_home, locate

FINISHED = 0
"""The level has no state left to claim, and this worker's are done."""
HALTED = 1
"""The board said halt."""
TOO_NARROW = 2
"""The successors of one state do not fit the desk's buffer."""
NO_QUEUE = 3
"""The queue has no room for the next state."""
NO_TABLE = 4
"""A segment of the table has no room for the next state."""
NO_HALVES = 6
"""A dictionary has no room for the next half."""
NO_STEPS = 7
"""There is no room to record more steps."""
WORKING = 5
"""There is more to do; inside this module and `backward.py` only."""

_WHOLE = 0
_INDEXED = 1
_ROOTS = 2
"""What the table holds."""
_SPECIAL = ERROR | DROPPED | CUT


@compiled
def work(board: Numbers, desk: Numbers, board_address: int) -> int:
    """Work on the level; return why this ended: FINISHED, HALTED, or what there was no room for."""
    _locate_pending(board, desk)  # the table may have grown since they were expanded
    while True:
        result = _keep_pending(board, desk, board_address)
        if result == WORKING and board[RECORDING] != 0 and not record(board, desk):
            result = NO_STEPS
        if result == WORKING:
            result = expand_next(board, desk, board_address, board[ARRIVALS])
        if result == WORKING:
            _locate_pending(board, desk)
        else:
            if result not in (FINISHED, HALTED):
                board[HALT] = 1
            return int(result)


@compiled
def expand_next(board: Numbers, desk: Numbers, board_address: int, arrivals: int) -> int:
    """Expand states of the claimed block, or of a newly claimed one, into the buffer.

    Successors that need not be looked up are left out where `arrivals` is the address of the
    arrivals of the queue's states, not 0.
    """
    if load(board_address + 8 * HALT) != 0:  # within a block, too: its states may take long
        return HALTED
    if desk[BLOCK] == desk[BLOCK_END]:
        first = fetch_add(board_address + 8 * CLAIMED, board[BLOCK_SIZE])
        if first >= board[LEVEL_END]:
            return FINISHED
        desk[BLOCK] = first
        desk[BLOCK_END] = min(first + board[BLOCK_SIZE], board[LEVEL_END])
    count = desk[BLOCK_END] - desk[BLOCK]
    states = _states_to_expand(board, desk, count)
    if arrivals != 0:
        processed = call(
            board[EXPLORE],
            states,
            count,
            desk[OUT],
            desk[OUT_CAPACITY],
            desk[META],
            desk[ENDS],
            desk[STATUS],
            desk[TALLIES],
            arrivals + 2 * desk[BLOCK],
        )
    else:
        processed = call(
            board[EXPAND],
            states,
            count,
            desk[OUT],
            desk[OUT_CAPACITY],
            desk[META],
            desk[ENDS],
            desk[STATUS],
            desk[TALLIES],
        )
    if processed == 0:
        return TOO_NARROW
    deadlocks = 0
    for index in range(processed):
        status = load(desk[STATUS] + 8 * index)
        if status == DEADLOCK:
            deadlocks += 1
        elif status == UNCLEAR:
            desk[EDGES_SEEN] |= ERROR
    pending = load(desk[ENDS] + 8 * (processed - 1))
    if board[CANONICAL] != 0:
        call(board[CANONICAL], desk[OUT], pending, desk[META])
    desk[DEADLOCKS] += deadlocks
    desk[LOOKED_UP] += pending
    desk[BLOCK] += processed
    desk[EXPANDED] = processed
    desk[NEXT] = 0
    desk[PENDING] = pending
    return WORKING


@compiled
def _states_to_expand(board: Numbers, desk: Numbers, count: int) -> int:
    """Return the address of the next `count` states of the claimed block."""
    if board[SPLIT] == 0:
        return int(board[QUEUE] + 8 * board[WORDS] * desk[BLOCK])
    states = load(desk[CUTTER] + 8 * SOURCES)
    read_roots(board[SPLIT], board[QUEUE] + 8 * desk[BLOCK], count, states)
    return states


@inlined
def expanded_state(board: Numbers, desk: Numbers, index: int) -> int:
    """Return the address of the state number `index` of those that were expanded last."""
    if board[SPLIT] != 0:
        return int(load(desk[CUTTER] + 8 * SOURCES) + 8 * board[WORDS] * index)
    return int(board[QUEUE] + 8 * board[WORDS] * (desk[BLOCK] - desk[EXPANDED] + index))


@compiled
def enter(board: Numbers, desk: Numbers, board_address: int) -> int:
    """Put the states of the level, which are in the queue, into the table; return FINISHED.

    NO_TABLE: a segment is full. DISTINCT counts those that were not there yet.
    """
    words, table, capacity = board[WORDS], board[TABLE], board[CAPACITY]
    bits, queue, size = board[RESERVED_BITS], board[QUEUE], 8 * board[WORDS]
    indexed = board[INDEXED] != 0
    while True:
        first = fetch_add(board_address + 8 * CLAIMED, board[BLOCK_SIZE])
        if first >= board[LEVEL_END]:
            return FINISHED
        states = queue + size * first
        count = min(board[BLOCK_SIZE], board[LEVEL_END] - first)
        if indexed:
            announce(table, capacity, bits, words, states, count, desk[FLAGS])
        else:
            locate(table, capacity, bits, words, states, count, desk[FLAGS])
        for index in range(count):
            place, state = load(desk[FLAGS] + 8 * index), states + size * index
            if indexed:
                number = first + index
                outcome = look_up(table, place, capacity, bits, words, state, queue, number, True)
            else:
                outcome = insert(table, place, capacity, bits, words, state, True)
            if outcome == CROWDED:
                return NO_TABLE
            desk[DISTINCT] += 1 if outcome == NEW else 0


@compiled
def enter_roots(states: int, queued: int, board: Numbers, desk: Numbers, board_address: int) -> int:
    """Put the roots of the level, whose states are at `states`, into the table.

    They become its states in the queue, if `queued`. Return FINISHED, or NO_HALVES or NO_TABLE:
    called again it goes on. DISTINCT counts roots that were not there yet.
    """
    split, roots = board[SPLIT], desk[SLOTS]
    table, capacity, bits = board[TABLE], board[CAPACITY], board[RESERVED_BITS]
    depth, form = load(split + 8 * DEPTH), load(split + 8 * FORM)
    while True:
        if desk[BLOCK] == desk[BLOCK_END]:
            desk[BLOCK] = fetch_add(board_address + 8 * CLAIMED, board[BLOCK_SIZE])
            if desk[BLOCK] >= board[LEVEL_END]:
                desk[BLOCK] = 0
                desk[BLOCK_END] = 0
                return FINISHED
            desk[BLOCK_END] = min(desk[BLOCK] + board[BLOCK_SIZE], board[LEVEL_END])
        count = desk[BLOCK_END] - desk[BLOCK]
        first = states + 8 * board[WORDS] * desk[BLOCK]
        known = write_roots(split, desk[CUTTER], first, count, roots)
        ask_for(table, capacity, bits, roots, known)
        for index in range(known):
            root = load(roots + 8 * index)
            outcome = insert_root(table, capacity, bits, form, root, depth, True)
            if outcome == CROWDED:
                desk[BLOCK] += index
                return NO_TABLE
            desk[DISTINCT] += 1 if outcome == NEW else 0
            if queued != 0:
                store(board[QUEUE] + 8 * (desk[BLOCK] + index), root)
        desk[BLOCK] += known
        if known < count:
            return NO_HALVES


@compiled
def _locate_pending(board: Numbers, desk: Numbers) -> None:
    """Compute where the successors that are still to be inserted are looked for."""
    words, first = board[WORDS], desk[NEXT]
    table, capacity, bits = board[TABLE], board[CAPACITY], board[RESERVED_BITS]
    states, count = desk[OUT] + 8 * words * first, desk[PENDING] - first
    if board[SPLIT] != 0:
        roots = desk[SLOTS] + 8 * first
        known = write_roots(board[SPLIT], desk[CUTTER], states, count, roots)
        store(desk[CUTTER] + 8 * LOCATED, first + known)
        ask_for(table, capacity, bits, roots, known)
    elif board[INDEXED] != 0:
        announce(table, capacity, bits, words, states, count, desk[SLOTS] + 8 * first)
    else:
        locate(table, capacity, bits, words, states, count, desk[SLOTS] + 8 * first)


@compiled
def _keep_pending(board: Numbers, desk: Numbers, board_address: int) -> int:
    """Put the buffer's successors into table and queue; WORKING when all are."""
    words = board[WORDS]
    if board[SPLIT] != 0:
        return int(_keep(board, desk, board_address, words, _ROOTS))
    if board[INDEXED] == 0:
        if words == 1:  # code of their own for the commonest widths
            return int(_keep(board, desk, board_address, 1, _WHOLE))
        return int(_keep(board, desk, board_address, words, _WHOLE))
    if words == 2:
        return int(_keep(board, desk, board_address, 2, _INDEXED))
    if words == 3:
        return int(_keep(board, desk, board_address, 3, _INDEXED))
    if words == 4:
        return int(_keep(board, desk, board_address, 4, _INDEXED))
    return int(_keep(board, desk, board_address, words, _INDEXED))


@inlined
def _sift(board: Numbers, desk: Numbers, words: int, kind: int, end: int) -> int:
    """Write which of the successors from NEXT to `end` are not plainly known to UNKNOWN.

    Return how many: those that stand elsewhere than where they are looked for first are among
    them, and so is what is no state. Most are known, and which cannot be foreseen by a processor,
    so nothing here depends on a branch.
    """
    first, states, slots = desk[NEXT], desk[OUT], desk[SLOTS]
    metas, beside, unknown = desk[META], board[BESIDE], desk[UNKNOWN]
    table, queue, recording = board[TABLE], board[QUEUE], board[RECORDING]
    if kind == _INDEXED:
        capacity, bits = board[CAPACITY], board[RESERVED_BITS]
        for index in range(first, end):
            number = foresee(table, load(slots + 8 * index), capacity, bits, words, queue)
            store(unknown + 8 * (index - first), number)
    count = 0
    for index in range(first, end):
        state = states + 8 * words * index
        new = load(metas + 8 * index) & beside
        if kind == _INDEXED:
            number = load(unknown + 8 * (index - first))
            # Without such a tag any state will do: the number says that it is not this one.
            new |= differs(queue + 8 * words * max(number, 0), state, words) | number >> 63
            if recording != 0:
                store(slots + 8 * index, number if new == 0 else load(slots + 8 * index))
        elif kind == _ROOTS or words > 1:
            new = 1
        else:
            new |= 0 if is_at_home(table, load(slots + 8 * index), state) else 1
        store(unknown + 8 * count, index)
        count += 1 if new != 0 else 0
    return count


@inlined
def _keep(board: Numbers, desk: Numbers, board_address: int, words: int, kind: int) -> int:
    table, capacity = board[TABLE], board[CAPACITY]
    bits, queue = board[RESERVED_BITS], board[QUEUE]
    out, metas, slots = desk[OUT], desk[META], desk[SLOTS]
    chunk, chunk_end, pending = desk[CHUNK], desk[CHUNK_END], desk[PENDING]
    arrivals, beside, recording = board[ARRIVALS], board[BESIDE], board[RECORDING]
    origins, size = desk[ORIGINS], 8 * words
    origin, origin_end = expanded_state(board, desk, 0), pending
    ends = desk[ENDS]
    if desk[EXPANDED] != 0:
        origin_end = load(ends)
    depth, form, fresh = 0, 0, 0
    if kind == _ROOTS:
        depth = load(board[SPLIT] + 8 * DEPTH)
        form = load(board[SPLIT] + 8 * FORM)
        pending = load(desk[CUTTER] + 8 * LOCATED)
        fresh = load(desk[CUTTER] + 8 * FRESH)
    unchecked = chunk
    edges = 0
    result = WORKING
    unknown, at = desk[UNKNOWN], 0
    count = _sift(board, desk, words, kind, pending)
    while at < count:
        index = load(unknown + 8 * at)
        meta = load(metas + 8 * index)
        state = out + 8 * words * index
        if meta & beside != 0:
            if meta & _SPECIAL != 0:
                edges |= _note_special(board, desk, meta, state)
                at += 1
                continue
            edges |= meta & beside
        slot = load(slots + 8 * index)
        may_add = chunk < chunk_end
        if kind == _INDEXED:
            number = number_of(table, slot, capacity, bits, words, state, queue, chunk, may_add)
            outcome = KNOWN if number >= 0 else -number
            if recording != 0 and outcome in (KNOWN, NEW):
                store(slots + 8 * index, chunk if outcome == NEW else number)
        elif kind == _ROOTS:
            outcome = insert_root(table, capacity, bits, form, slot, depth, may_add)
        else:
            outcome = insert(table, slot, capacity, bits, words, state, may_add)
        if outcome == NEW:
            while index >= origin_end:
                origin += size
                ends += 8
                origin_end = load(ends)
            store(origins + 8 * (chunk - unchecked), origin)
            if kind == _WHOLE:
                for word in range(words):
                    store(queue + 8 * (words * chunk + word), load(state + 8 * word))
            elif kind == _ROOTS:
                store(queue + 8 * chunk, slot)
                for word in range(words):
                    place = fresh + 8 * (words * (chunk - unchecked) + word)
                    store(place, load(state + 8 * word))
            if arrivals != 0:
                store_short(arrivals + 2 * chunk, meta >> NUMBER)
            chunk += 1
        elif outcome == NO_ROOM:
            _check(board, desk, _new_states(board, desk, unchecked), chunk - unchecked)
            chunk = fetch_add(board_address + 8 * TAIL, CHUNK_SIZE)
            chunk_end = min(chunk + CHUNK_SIZE, board[ROOM])
            unchecked = chunk
            if chunk >= chunk_end:
                chunk_end = chunk
                result = NO_QUEUE
                break
            continue
        elif outcome == CROWDED:
            result = NO_TABLE
            break
        at += 1
    done = load(unknown + 8 * at) if at < count else pending
    if result == WORKING and done < desk[PENDING]:
        result = NO_HALVES
    _check(board, desk, _new_states(board, desk, unchecked), chunk - unchecked)
    desk[NEXT] = done
    desk[CHUNK] = chunk
    desk[CHUNK_END] = chunk_end
    desk[EDGES_SEEN] |= edges
    return result


@inlined
def _new_states(board: Numbers, desk: Numbers, number: int) -> int:
    """Return the address of the new states that are not checked, of which `number` is the first."""
    if board[SPLIT] != 0:
        return int(load(desk[CUTTER] + 8 * FRESH))
    return int(board[QUEUE] + 8 * board[WORDS] * number)


@compiled
def _check(board: Numbers, desk: Numbers, states: int, count: int) -> None:
    """Count `count` new states at address `states` and check their properties.

    Where they were found by steps, ORIGINS are the states that these begin in.
    """
    desk[DISTINCT] += count
    if count > 0 and board[CHECK] != 0:
        origins = desk[ORIGINS] if desk[EXPANDED] != 0 else 0
        call(board[CHECK], states, count, desk[FLAGS], desk[CHECKS_SEEN], origins)
        seen = 0
        for index in range(count):
            seen |= load(desk[FLAGS] + 8 * index)
        desk[CHECKS_SEEN] |= seen


@compiled
def _note_special(board: Numbers, desk: Numbers, meta: int, state: int) -> int:
    """Count a successor that is not stored, check it if it is a state; return what it showed."""
    if meta & ERROR != 0:
        return ERROR
    desk[CUTS] += 1
    if meta & DROPPED != 0:
        return 0
    if board[CHECK] != 0:
        call(board[CHECK], state, 1, desk[FLAGS], desk[CHECKS_SEEN], 0)
        desk[CHECKS_SEEN] |= load(desk[FLAGS])
    return meta
