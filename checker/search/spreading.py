"""Growth of the visited table: a segment is rearranged in place, to more slots."""

from __future__ import annotations

from checker.llvm.compiled import compiled, inlined
from checker.llvm.instructions import load, store
from checker.search.indexed import home_of
from checker.search.visited import hash_state, home_in_segment

SPREAD_CHUNK = 4096
"""Slots of a segment that `spread` takes out at a time."""

INDEXED = 0
"""Instead of words: slots are those of an index."""


@inlined
def _copy(source: int, target: int, words: int) -> None:
    for word in range(words):
        store(target + 8 * word, load(source + 8 * word))


@compiled
def _settle(segment: int, home: int, end: int, words: int, stored: int) -> bool:
    """Put a stored state into the first free slot of home..end; False if there is none."""
    for slot in range(home, end):
        place = segment + 8 * words * slot
        if load(place) == 0:
            _copy(stored, place, words)
            return True
    return False


@compiled
def _take_out(first: int, count: int, words: int, taken: int) -> int:
    """Empty `count` slots from address `first` on into `taken`; return how many states they held.

    Copies first and counts then: which slots are empty cannot be foreseen by a processor.
    """
    size = 8 * words
    kept = 0
    for slot in range(count):
        place = first + size * slot
        present = load(place)
        for word in range(words):
            store(taken + size * kept + 8 * word, load(place + 8 * word))
        store(place, 0)
        kept += 1 if present != 0 else 0
    return kept


@compiled
def spread(segment: int, capacity: int, target: int, words: int, taken: int, spill: int) -> None:
    """Rearrange the segment at address `segment` from `capacity` to `target` slots, in place.

    Slots hold states of `words` words, or where that is INDEXED, what `indexed.py` says.
    The slots from `capacity` to `target` are zero. `taken` has room for SPREAD_CHUNK + 1 slots,
    `spill` for `capacity` (few are ever used): what has its new home below the piece that
    is being moved, or would have to go around the end, waits there.
    """
    if words == INDEXED:
        _spread(segment, capacity, target, 1, taken, spill, True)
    else:
        _spread(segment, capacity, target, words, taken, spill, False)


@inlined
def _spread(
    segment: int, capacity: int, target: int, words: int, taken: int, spill: int, indexed: bool
) -> None:
    size = 8 * words
    spilled = 0
    end = capacity
    while end > 0:
        start = max(0, end - SPREAD_CHUNK)
        count = _take_out(segment + size * start, end - start, words, taken)
        for index in range(count):
            stored = taken + size * index
            home = _new_home(stored, target, words, indexed)
            if home < start or not _settle(segment, home, target, words, stored):
                _copy(stored, spill + size * spilled, words)
                spilled += 1
        end = start
    for index in range(spilled):
        stored = spill + size * index
        home = _new_home(stored, target, words, indexed)
        if not _settle(segment, home, target, words, stored):
            _settle(segment, 0, home, words, stored)


@inlined
def _new_home(stored: int, target: int, words: int, indexed: bool) -> int:
    if indexed:
        return int(home_of(load(stored), target))
    return int(home_in_segment(hash_state(stored, words), target, words))
