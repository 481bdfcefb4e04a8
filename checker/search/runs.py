"""Sorted runs of states, compiled: out of the visited table, into one another, out of one another.

The order is that of the hash, read as an unsigned number, and then that of the words. So a segment
of the table (`visited.py`) is almost in order as it stands: home slots rise with the hash.
A run holds every state once, with bit 63 of word 0 clear, as the queue does.

A run may be longer than memory, and the disk slow: what goes through one looks at each state
whether the word at `halt` says to give up. What it leaves then is neither sorted nor whole.
"""

from __future__ import annotations

from checker.llvm.compiled import compiled
from checker.llvm.instructions import load, store
from checker.search.visited import hash_state, home_in_segment

_TOP = -(1 << 63)
_WITHOUT_PRESENT = (1 << 63) - 1


@compiled
def _key(state: int, words: int) -> int:
    """Return a number that rises, signed, with the unsigned hash of a state."""
    return int(hash_state(state, words) ^ _TOP)


@compiled
def _compare(left: int, left_key: int, right: int, right_key: int, words: int) -> int:
    """Return -1, 0 or 1: whether the state at `left` stands before, is, or stands after `right`."""
    if left_key != right_key:
        return -1 if left_key < right_key else 1
    for word in range(words):
        first, second = load(left + 8 * word), load(right + 8 * word)
        if first != second:
            return -1 if first < second else 1
    return 0


@compiled
def _copy(source: int, target: int, words: int) -> None:
    for word in range(words):
        store(target + 8 * word, load(source + 8 * word))


@compiled
def write_keys(states: int, count: int, words: int, keys: int) -> None:
    """Write of each state a number that rises, signed, with the order of runs."""
    for index in range(count):
        store(keys + 8 * index, _key(states + 8 * words * index, words))


@compiled
def count_present(segment: int, capacity: int, words: int) -> int:
    """Return how many states a segment of the table holds."""
    count = 0
    for slot in range(capacity):
        count += 1 if load(segment + 8 * words * slot) != 0 else 0
    return count


@compiled
def take_sorted(segment: int, capacity: int, words: int, out: int, held: int, halt: int) -> int:
    """Move the states of a segment to `out`, in order, and leave it empty; return how many.

    `out` has room for one state more, `held` for one.
    """
    size = 8 * words
    first = 0
    while first < capacity and load(segment + size * first) != 0:
        first += 1
    count = 0
    # Before the first empty slot there may be states that went around the end: they come last.
    for slot in range(first):
        place = segment + size * slot
        if home_in_segment(hash_state(place, words), capacity, words) <= slot:
            _copy(place, out + size * count, words)
            count += 1
    for slot in range(first, capacity):
        if load(halt) != 0:
            return count
        place = segment + size * slot
        present = load(place)
        _copy(place, out + size * count, words)
        store(place, 0)
        count += 1 if present != 0 else 0
    for slot in range(first):
        place = segment + size * slot
        if home_in_segment(hash_state(place, words), capacity, words) > slot:
            _copy(place, out + size * count, words)
            count += 1
    for slot in range(first):
        store(segment + size * slot, 0)
    for index in range(count):
        state = out + size * index
        store(state, load(state) & _WITHOUT_PRESENT)
    _sort(out, count, words, held, halt)
    return count


@compiled
def _sort(states: int, count: int, words: int, held: int, halt: int) -> None:
    """Bring states that are almost in order into order: each moves up past the few before it."""
    size = 8 * words
    if count == 0:
        return
    last = _key(states, words)
    for index in range(1, count):
        if load(halt) != 0:
            return
        state = states + size * index
        key = _key(state, words)
        if _compare(state - size, last, state, key, words) <= 0:
            last = key
            continue
        _copy(state, held, words)
        place = index
        while place > 0:
            before = states + size * (place - 1)
            if _compare(before, _key(before, words), held, key, words) <= 0:
                break
            _copy(before, before + size, words)
            place -= 1
        _copy(held, states + size * place, words)


@compiled
def unite(
    left: int, left_count: int, right: int, right_count: int, words: int, out: int, halt: int
) -> int:
    """Write the states of two runs to `out`, those in both once; return how many."""
    size = 8 * words
    count = 0
    left_end, right_end = left + size * left_count, right + size * right_count
    left_key = _key(left, words) if left < left_end else 0
    right_key = _key(right, words) if right < right_end else 0
    while left < left_end and right < right_end and load(halt) == 0:
        order = _compare(left, left_key, right, right_key, words)
        _copy(left if order <= 0 else right, out + size * count, words)
        count += 1
        if order <= 0:
            left += size
            left_key = _key(left, words) if left < left_end else 0
        if order >= 0:
            right += size
            right_key = _key(right, words) if right < right_end else 0
    while left < left_end and load(halt) == 0:
        _copy(left, out + size * count, words)
        left += size
        count += 1
    while right < right_end and load(halt) == 0:
        _copy(right, out + size * count, words)
        right += size
        count += 1
    return count


@compiled
def subtract(states: int, count: int, known: int, known_count: int, words: int, halt: int) -> int:
    """Take out of a run what another one holds; return how many are left, at its beginning.

    Where the other run is much longer it is leapt through, not read.
    """
    size = 8 * words
    kept, at = 0, 0
    for index in range(count):
        if load(halt) != 0:
            return kept
        state = states + size * index
        key = _key(state, words)
        step = 1
        while at + step < known_count:
            place = known + size * (at + step)
            if _compare(place, _key(place, words), state, key, words) >= 0:
                break
            at += step
            step *= 2
        # Everything before `at` stands before the state; it is at `at` + `step` at the latest.
        end = min(at + step, known_count)
        while at < end:
            middle = (at + end) // 2
            place = known + size * middle
            if _compare(place, _key(place, words), state, key, words) < 0:
                at = middle + 1
            else:
                end = middle
        place = known + size * at
        if at < known_count and _compare(place, _key(place, words), state, key, words) == 0:
            continue
        _copy(state, states + size * kept, words)
        kept += 1
    return kept
