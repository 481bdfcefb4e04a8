"""Goal: the index into the queue keeps every state it was given exactly once: where all tags are
equal, where several threads bring the same states, after growth, after states moved.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from checker.llvm.compiled import compiled
from checker.llvm.instructions import fetch_add
from checker.memory import reserve
from checker.search.board import Numbers
from checker.search.indexed import foresee, look_up, renumber
from checker.search.spreading import SPREAD_CHUNK, spread
from checker.search.visited import CROWDED, KNOWN, NEW, NO_ROOM, SEGMENTS, hash_state

BITS = 12


@compiled
def put(
    table: int, capacity: int, words: int, state: int, queue: int, number: int, may_add: bool
) -> int:
    value = hash_state(state, words)
    foresee(table, value, capacity, 12, words, queue)
    return look_up(table, value, capacity, 12, words, state, queue, number, may_add)


@compiled
def put_all(
    table: int, capacity: int, words: int, states: int, queue: int, order: Numbers, counts: Numbers,
    tail: int,
) -> None:  # fmt: skip
    number = fetch_add(tail, 1)
    for place in range(len(order)):
        state = states + 8 * words * order[place]
        outcome = put(table, capacity, words, state, queue, number, True)
        counts[outcome] += 1
        if outcome == NEW:
            number = fetch_add(tail, 1)


@compiled
def hashed(state: int, words: int) -> int:
    return hash_state(state, words)


def address(words: Any) -> int:
    return int(words.ctypes.data)


class Index:
    """A table, and the queue that it points into."""

    def __init__(self, capacity: int, words: int) -> None:
        self.table = reserve((SEGMENTS << BITS) * 8)
        self.queue = np.zeros((SEGMENTS << BITS, words), np.int64)
        self.capacity = capacity
        self.words = words
        self.tail = 0

    def put(self, state: Any, *, may_add: bool = True) -> int:
        """Look a state up, as the next of the queue."""
        place = address(self.table), self.capacity, self.words
        found = int(put(*place, address(state), address(self.queue), self.tail, may_add))
        self.tail += found == NEW
        return found

    def spread(self, target: int) -> None:
        """Grow every segment."""
        scratch, spill = np.empty(SPREAD_CHUNK + 1, np.int64), np.empty(self.capacity, np.int64)
        for segment in range(SEGMENTS):
            start = address(self.table) + segment * (8 << BITS)
            spread(start, self.capacity, target, 0, address(scratch), address(spill))
        self.capacity = target


def of_equal_hash(count: int) -> Any:
    """States of two words whose hashes are all the same."""
    states = np.zeros((count, 2), np.uint64)
    states[:, 0] = np.arange(count)
    product = states[:, 0] * np.uint64(-7046029254386353131 % (1 << 64))
    states[:, 1] = product ^ (product >> np.uint64(32))
    return states.view(np.int64)


@pytest.mark.parametrize("words", [2, 3, 4, 6])
def test_states_are_known_once_they_were_added(words: int) -> None:
    index = Index(200, words)
    choose = np.random.default_rng(words)
    states = choose.integers(0, 8, (2000, words), np.int64)
    states[:, 0] = np.arange(2000)
    assert {index.put(state) for state in states} == {NEW}
    assert (index.queue[:2000] == states).all()
    assert {index.put(state) for state in states} == {KNOWN}


def test_nothing_is_added_without_leave() -> None:
    index = Index(16, 2)
    state = np.array([7, 7], np.int64)
    assert index.put(state, may_add=False) == NO_ROOM
    assert not index.table.any()
    assert not index.queue.any()
    assert index.put(state) == NEW
    assert index.put(state, may_add=False) == KNOWN


def test_states_of_equal_hashes_are_different_states_until_their_segment_is_full() -> None:
    index = Index(64, 2)
    states = of_equal_hash(65)
    assert len({int(hashed(address(state), 2)) for state in states}) == 1
    assert [index.put(state) for state in states] == [NEW] * 64 + [CROWDED]
    assert {index.put(state) for state in states[:64]} == {KNOWN}
    index.spread(88)
    assert {index.put(state, may_add=False) for state in states[:64]} == {KNOWN}
    assert index.put(states[64]) == NEW


@pytest.mark.parametrize("words", [2, 3])
def test_of_threads_that_bring_the_same_states_one_is_told_new(words: int) -> None:
    index = Index(2000, words)
    states = np.arange(20000 * words, dtype=np.int64).reshape(-1, words)
    counts = [np.zeros(4, np.int64) for _ in range(4)]
    orders = [np.random.default_rng(seed).permutation(20000) for seed in range(4)]
    tail = np.zeros(1, np.int64)
    place = address(index.table), 2000, words, address(states), address(index.queue)
    with ThreadPoolExecutor(4) as pool:
        tasks = [
            pool.submit(put_all, *place, order, count, address(tail))
            for order, count in zip(orders, counts, strict=True)
        ]
        for task in tasks:
            task.result()
    total = np.sum(counts, axis=0)
    assert (total[NEW], total[KNOWN], total[CROWDED]) == (20000, 60000, 0)
    assert tail[0] == 20004
    assert np.count_nonzero(index.table) == 20000
    assert {tuple(state) for state in index.queue[:20004].tolist()} >= set(
        map(tuple, states.tolist())
    )


@pytest.mark.parametrize(("capacity", "target"), [(8, 16), (64, 80), (2000, 2008), (2000, 4000)])
def test_growing_in_place_keeps_every_state_and_finds_it_again(capacity: int, target: int) -> None:
    index = Index(capacity, 3)
    choose = np.random.default_rng(capacity)
    states = choose.integers(0, 1 << 62, (int(0.9 * capacity) * SEGMENTS, 3), np.int64)
    kept = [state for state in states if index.put(state) == NEW]
    assert len(kept) > 0.6 * len(states)
    index.spread(target)
    assert np.count_nonzero(index.table) == len(kept)
    assert {index.put(state, may_add=False) for state in kept} == {KNOWN}


def test_a_state_that_moves_in_the_queue_is_found_at_its_new_place() -> None:
    index = Index(64, 2)
    states = of_equal_hash(20)
    for state in states:
        index.put(state)
    index.queue[30], index.queue[5] = states[5], -1
    place = address(index.table), 64, BITS, 2
    assert renumber(*place, address(states[5]), 5, 30)
    assert not renumber(*place, address(states[5]), 5, 30)
    assert {index.put(state, may_add=False) for state in states} == {KNOWN}
