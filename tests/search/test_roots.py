"""Goal: a table of roots holds each root it was given once, with its depth, in 32 bits: with few
lines and many, with numbers of all sizes, where threads bring the same ones, after its slots grew
in number or changed their form.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from checker.errors import InternalError
from checker.llvm.compiled import compiled
from checker.search import roots
from checker.search.board import Numbers
from checker.search.roots import (
    HALF_BITS,
    LINE_BITS,
    LOW_BITS,
    Form,
    depth_max,
    gather,
    insert_root,
    spread_roots,
)
from checker.search.store import Store
from checker.search.visited import CROWDED, KNOWN, NEW, NO_ROOM, SEGMENTS

WIDE = Form(left=2, right=3, depth=4)


@compiled
def put(
    table: int, capacity: int, bits: int, form: int, root: int, depth: int, may_add: bool
) -> int:
    return insert_root(table, capacity, bits, form, root, depth, may_add)


@compiled
def put_all(
    table: int, capacity: int, bits: int, form: int, given: Numbers, order: Numbers, counts: Numbers
) -> None:
    for place in range(len(order)):
        root = given[order[place]]
        counts[insert_root(table, capacity, bits, form, root, root & 7, True)] += 1


def some_roots(form: Form, count: int, seed: int = 1) -> Numbers:
    choose = np.random.default_rng(seed)
    left = choose.integers(0, 1 << LOW_BITS + form.left, 2 * count)
    right = choose.integers(0, 1 << LOW_BITS + form.right, 2 * count)
    return choose.permutation(np.unique(left << HALF_BITS | right))[:count]


def store_of(form: Form, states: int) -> Store:
    store = Store(2, 1 << 28, 0, 16, keeps_arrivals=False, huge_pages=False)
    store.become_roots(form)
    assert store.make_room(states)
    return store


def store_with(form: Form, lines: int) -> Store:
    """Return a store whose segments have so many lines."""
    store = store_of(form, 16)
    store.capacity = lines << LINE_BITS
    store.form_numbers[:] = form.numbers(lines)
    return store


def at(store: Store) -> tuple[int, int, int, int]:
    return (
        store.table.ctypes.data,
        store.capacity,
        store.reserved_bits,
        store.form_numbers.ctypes.data,
    )


def held(store: Store, deepest: int) -> list[list[int]]:
    """Return the roots in the table by depth, sorted."""
    table, capacity, bits, form = at(store)
    found: list[list[int]] = [[] for _ in range(deepest + 1)]
    for segment in range(SEGMENTS):
        out = np.empty(capacity * (deepest + 1), np.int64)
        places = np.arange(0, out.size, capacity)
        given = capacity, form, 0, deepest, places.ctypes.data, out.ctypes.data
        gather(table + (segment << bits + 2), segment, *given)
        for depth, end in enumerate(places.tolist()):
            found[depth] += out[capacity * depth : end].tolist()
    return [sorted(items) for items in found]


@pytest.mark.parametrize("form", [Form(depth=3), WIDE, Form(0, 9, 3), Form(9, 0, 3), Form(4, 4, 3)])
def test_roots_are_known_once_they_were_added_and_come_back(form: Form) -> None:
    given = some_roots(form, 3000)
    store = store_of(form, 4000)
    for wanted in (NEW, KNOWN):
        for root in given.tolist():
            assert put(*at(store), root, root % 8, True) == wanted
    assert held(store, 7) == [sorted(given[given % 8 == depth].tolist()) for depth in range(8)]


def test_every_number_of_lines_gives_back_what_was_put_in() -> None:
    for lines in [*range(64, 90), 127, 128, 129, 1000, 1023, 1025, 4095]:
        form = Form(1, 1, 3)
        given = some_roots(form, 400, lines)
        store = store_with(form, lines)
        for root in given.tolist():
            assert put(*at(store), root, 5, True) == NEW
        assert held(store, 7)[5] == sorted(given.tolist())


def test_a_place_is_all_bits_of_a_root() -> None:
    """Flip each bit of some roots: each bit of the place must change about half of the time."""
    given = some_roots(Form(9, 9), 500)
    place = np.array([roots._place_of(root) for root in given.tolist()])
    assert len(np.unique(place)) > 499 - 3
    for bit in range(2 * HALF_BITS):
        flipped = np.array([roots._place_of(root ^ 1 << bit) for root in given.tolist()])
        changed = (place ^ flipped)[:, None] >> np.arange(32) & 1
        assert 0.3 < changed.mean() < 0.7
        assert (changed.mean(axis=0) > 0.1).all()


def test_nothing_is_added_without_leave() -> None:
    store = store_of(WIDE, 100)
    assert put(*at(store), 7, 0, False) == NO_ROOM
    assert not store.table.any()
    assert put(*at(store), 7, 0, True) == NEW
    assert put(*at(store), 7, 3, False) == KNOWN


def test_a_segment_without_a_free_line_near_a_home_is_crowded() -> None:
    store = store_of(Form(depth=3), 16)
    slots = SEGMENTS * store.capacity
    told = [put(*at(store), root, 0, True) for root in some_roots(Form(), 4 * slots).tolist()]
    assert CROWDED in told
    assert told.count(NEW) <= slots
    assert told.count(NEW) > 0.9 * slots
    assert sum(map(len, held(store, 7))) == told.count(NEW)


def test_of_threads_that_bring_the_same_roots_one_is_told_new() -> None:
    given = some_roots(WIDE, 20000)
    store = store_of(WIDE, 20000)
    counts = [np.zeros(4, np.int64) for _ in range(4)]
    orders = [np.random.default_rng(seed).permutation(len(given)) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        tasks = [
            pool.submit(put_all, *at(store), given, order, count)
            for order, count in zip(orders, counts, strict=True)
        ]
        for task in tasks:
            task.result()
    total = np.sum(counts, axis=0)
    assert (total[NEW], total[KNOWN], total[CROWDED]) == (20000, 60000, 0)
    assert sum(map(len, held(store, 7))) == 20000


@pytest.mark.parametrize("form", [WIDE, Form(2, 3, 6), Form(3, 3, 4), Form(2, 5, 4), Form(4, 4, 5)])
@pytest.mark.parametrize("workers", [1, 3])
def test_slots_of_another_form_hold_the_same_roots(form: Form, workers: int) -> None:
    given = some_roots(WIDE, 15000)
    store = store_of(WIDE, 15000)
    for root in given.tolist():
        put(*at(store), root, root % 8, True)
    before = held(store, 7)
    with ThreadPoolExecutor(workers) as pool:
        assert store.reform(form, 15000, pool, workers)
        assert held(store, 7) == before
        assert store.grow(15000, pool, workers)
    assert held(store, 7) == before
    assert depth_max(store.form_numbers) >= (1 << form.depth) - 1
    assert all(put(*at(store), root, 0, True) == KNOWN for root in given.tolist())
    more = np.setdiff1d(some_roots(form, 5000, seed=2), given)
    assert all(put(*at(store), root, 7, True) == NEW for root in more.tolist())


@pytest.mark.parametrize(("lines", "target"), [(64, 65), (64, 80), (1024, 1025), (600, 2048)])
def test_growing_in_place_keeps_every_root(lines: int, target: int) -> None:
    """So full that roots stand far from home, across the pieces in which a segment is moved."""
    form = Form(1, 1, 3)
    given = some_roots(form, int(0.84 * SEGMENTS * lines * 16))
    store = store_with(form, lines)
    for root in given.tolist():
        assert put(*at(store), root, root % 8, True) == NEW
    before = held(store, 7)
    with ThreadPoolExecutor(2) as pool:
        store._spread(target << LINE_BITS, pool, 2)
    assert held(store, 7) == before
    assert all(put(*at(store), root, 0, True) == KNOWN for root in given.tolist())


def test_roots_that_find_no_slot_wait_for_more_of_them() -> None:
    """Nearly full tables of few lines: now and then one has to grow more than it was asked."""
    more = 0
    form = Form(1, 1, 3)
    for seed in range(20):
        store = store_with(form, 64)
        told = {
            root: put(*at(store), root, root % 8, True) for root in some_roots(form, 15500, seed)
        }
        kept = sorted(root for root, what in told.items() if what == NEW)
        with ThreadPoolExecutor(2) as pool:
            store._spread(65 << LINE_BITS, pool, 2)
        more += store.capacity > 65 << LINE_BITS
        assert sorted(root for found in held(store, 7) for root in found) == kept
    assert more > 0


def test_roots_that_never_find_a_slot_are_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(WIDE, 100)
    monkeypatch.setattr("checker.search.store.spread_roots", lambda *_given: 1)
    with ThreadPoolExecutor(1) as pool, pytest.raises(InternalError, match="no slot"):
        store.reform(WIDE, 100, pool, 1)


def test_roots_that_find_no_slot_are_counted() -> None:
    """What is in 32 lines is put into 16 of them: what does not fit is said."""
    form = Form(depth=0)
    before, after = (np.array(form.numbers(lines), np.int64) for lines in (32, 16))
    segment, taken, spill = (np.zeros(512, np.int64) for _ in range(3))
    table = segment.ctypes.data
    told = [
        put(table, 512, 9, before.ctypes.data, root, 0, True)
        for root in some_roots(form, 6000).tolist()
        if roots._place_of(root) >> 28 == 0
    ]
    assert told.count(NEW) > 300
    forms = before.ctypes.data, after.ctypes.data
    lost = spread_roots(table, 0, 512, 256, *forms, 512, taken.ctypes.data, spill.ctypes.data, 0)
    assert lost >= told.count(NEW) - 256
    assert np.count_nonzero(segment.view(np.uint32)) == told.count(NEW) - lost
