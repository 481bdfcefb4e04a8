"""Goal: the visited table keeps every state it was given exactly once: where all states collide,
where several threads bring the same ones, and after it grew in place.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from checker.llvm.compiled import compiled
from checker.memory import HUGE_PAGE, reserve
from checker.search.board import Numbers
from checker.search.spreading import SPREAD_CHUNK, spread
from checker.search.store import CAPACITY_START, LOAD, Store, grown
from checker.search.visited import (
    CROWDED,
    KNOWN,
    NEW,
    NO_ROOM,
    SEGMENTS,
    hash_state,
    home_slot,
    insert,
    mix,
)


def inverse(factor: int) -> int:
    """Return the signed number that undoes a multiplication by `factor` modulo 2**64."""
    value = pow(factor % (1 << 64), -1, 1 << 64)
    return value - (1 << 64) if value >> 63 else value


UNDO_FIRST = inverse(-49064778989728563)
UNDO_SECOND = inverse(-4265267296055464877)


@compiled
def put(table: int, capacity: int, bits: int, words: int, state: int, may_add: bool) -> int:
    slot = home_slot(hash_state(state, words), capacity, bits, words)
    return insert(table, slot, capacity, bits, words, state, may_add)


@compiled
def put_all(
    table: int, capacity: int, bits: int, words: int, states: int, order: Numbers, counts: Numbers
) -> None:
    for place in range(len(order)):
        index = order[place]
        counts[put(table, capacity, bits, words, states + 8 * words * index, True)] += 1


@compiled
def unmix(value: int) -> int:
    """Return the word whose hash is `value`: each step of `mix` undone."""
    value ^= (value >> 33) & 0x7FFFFFFF
    value *= UNDO_SECOND
    value ^= (value >> 33) & 0x7FFFFFFF
    value *= UNDO_FIRST
    value ^= (value >> 33) & 0x7FFFFFFF
    return value


def address(words: Any) -> int:
    return int(words.ctypes.data)


def colliding_words(count: int) -> list[int]:
    """Words with bit 63 clear whose hashes agree in all bits that name segment and home slot."""
    found: list[int] = []
    low = 0
    while len(found) < count:
        word = int(unmix(-(1 << 27) + low))
        assert (mix(word) >> 27) == -1
        if word >= 0:
            found.append(word)
        low += 1
    return found


def table_of(bits: int, words: int) -> Any:
    return reserve((SEGMENTS << bits) * words * 8)


def slots_of(table: Any, bits: int, words: int) -> Any:
    """The table's slots, one a row."""
    return table[: (SEGMENTS << bits) * words].reshape(-1, words)


@pytest.mark.parametrize("words", [1, 2, 4])
def test_states_are_known_once_they_were_added(words: int) -> None:
    table = table_of(8, words)
    choose = np.random.default_rng(words)
    states = choose.integers(0, 8, (2000, words), np.int64)
    states[:, 0] = choose.integers(0, 1 << 62, 2000)
    for want in (NEW, KNOWN):
        for row in states:
            assert put(address(table), 200, 8, words, address(row), True) == want


def test_nothing_is_added_without_leave() -> None:
    table = table_of(4, 1)
    state = np.array([7], np.int64)
    assert put(address(table), 16, 4, 1, address(state), False) == NO_ROOM
    assert not table.any()
    assert put(address(table), 16, 4, 1, address(state), True) == NEW
    assert put(address(table), 16, 4, 1, address(state), False) == KNOWN


def test_the_states_of_one_home_fill_their_segment_and_then_it_is_crowded() -> None:
    table = table_of(6, 1)
    for number, word in enumerate(colliding_words(65)):
        state = np.array([word], np.int64)
        wanted = NEW if number < 64 else CROWDED
        assert put(address(table), 64, 6, 1, address(state), True) == wanted
    assert np.count_nonzero(table) == 64


def test_states_that_differ_in_their_last_word_only() -> None:
    table = table_of(6, 3)
    for last in range(500):
        state = np.array([1, 2, last], np.int64)
        assert put(address(table), 60, 6, 3, address(state), True) == NEW


@pytest.mark.parametrize("words", [1, 3])
def test_of_threads_that_bring_the_same_states_one_is_told_new(words: int) -> None:
    states = np.arange(20000 * words, dtype=np.int64).reshape(-1, words)
    table = table_of(11, words)
    counts = [np.zeros(4, np.int64) for _ in range(4)]
    orders = [np.random.default_rng(seed).permutation(20000) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        tasks = [
            pool.submit(put_all, address(table), 2000, 11, words, address(states), order, count)
            for order, count in zip(orders, counts, strict=True)
        ]
        for task in tasks:
            task.result()
    total = np.sum(counts, axis=0)
    assert (total[NEW], total[KNOWN], total[CROWDED]) == (20000, 60000, 0)
    assert np.count_nonzero(slots_of(table, 11, words)[:, 0]) == 20000


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize(("capacity", "target"), [(4, 5), (64, 80), (9000, 9001), (9000, 20000)])
def test_growing_in_place_keeps_every_state_and_finds_it_again(
    words: int, capacity: int, target: int
) -> None:
    """Full to nine tenths, so that clusters cross the pieces in which a segment is moved."""
    bits = 15
    table = table_of(bits, words)
    choose = np.random.default_rng(capacity)
    states = choose.integers(0, 1 << 62, (int(0.9 * capacity) * SEGMENTS, words), np.int64)
    kept = [
        row for row in states if put(address(table), capacity, bits, words, address(row), True) == 1
    ]
    assert len(kept) > 0.6 * len(states)
    scratch = np.empty((SPREAD_CHUNK + 1) * words, np.int64)
    spill = np.empty(capacity * words, np.int64)
    for segment in range(SEGMENTS):
        start = address(table) + segment * (8 * words << bits)
        spread(start, capacity, target, words, address(scratch), address(spill))
    assert np.count_nonzero(slots_of(table, bits, words)[:, 0]) == len(kept)
    for row in kept:
        assert put(address(table), target, bits, words, address(row), False) == KNOWN


def test_growing_keeps_states_that_all_collide() -> None:
    bits, capacity, target = 7, 64, 90
    table = table_of(bits, 1)
    states = [np.array([word], np.int64) for word in colliding_words(64)]
    for state in states:
        assert put(address(table), capacity, bits, 1, address(state), True) == NEW
    scratch = np.empty(SPREAD_CHUNK + 1, np.int64)
    spill = np.empty(capacity, np.int64)
    last = address(table) + (SEGMENTS - 1) * (8 << bits)
    spread(last, capacity, target, 1, address(scratch), address(spill))
    assert np.count_nonzero(table) == 64
    for state in states:
        assert put(address(table), target, bits, 1, address(state), False) == KNOWN


@pytest.mark.parametrize("words", [1, 2, 3])
def test_segments_grow_to_whole_huge_pages(words: int) -> None:
    store = Store(words=words, limit=2 << 30, overhead=0, capacity=1024, keeps_arrivals=False)
    sizes = [store.capacity]
    with ThreadPoolExecutor(1) as pool:
        while sizes[-1] * store.slot < 3 * HUGE_PAGE and store.grow(0, pool, 1):
            sizes.append(store.capacity)
    large = [size * store.slot for size in sizes if size * store.slot > HUGE_PAGE - store.slot]
    assert [-(-size // HUGE_PAGE) for size in large][-2:] == [2, 4]
    assert all(-size % HUGE_PAGE < store.slot for size in large)


@pytest.mark.parametrize(("words", "most"), [(1, 26), (2, 34), (4, 50)])
def test_table_and_queue_take_few_bytes_a_state_from_twenty_million_on(
    words: int, most: int
) -> None:
    capacity = CAPACITY_START
    while capacity * SEGMENTS < 1 << 32:
        states = max(int(LOAD * SEGMENTS * capacity), 20_000_000)
        capacity = grown(capacity, 8)
        if LOAD * SEGMENTS * capacity > states:
            assert SEGMENTS * capacity * 8 / states + 8 * words < most


def test_a_store_grows_within_its_limit_and_then_says_no() -> None:
    store = Store(words=1, limit=1 << 20, overhead=1000, capacity=4, keeps_arrivals=False)
    rooms = [store.room]
    with ThreadPoolExecutor(2) as pool:
        while store.grow(0, pool, 2):
            rooms.append(store.room)
            assert store.bytes_with(store.room) <= store.limit
    assert rooms == sorted(set(rooms))
    assert store.bytes_with(store.room) > 0.8 * store.limit
