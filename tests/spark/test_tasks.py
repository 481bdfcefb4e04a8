"""Goal: what a task makes depends on what it is given, on nothing else: not on shards or attempts.

The whole search without Spark: the same functions, called as Spark calls them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from machines import two_phase
from pairs import locally
from random_machines import seeded_machine

import checker
from checker.kernel.build import build, fingerprint
from checker.kernel.kernel import Kernel
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.limits import Limits
from checker.spark import tasks
from checker.spark.counts import (
    Counts,
    Report,
    Telling,
    Told,
    as_counters,
    from_counters,
    parse,
    total,
)
from checker.spark.driver import Driver, Level
from checker.spark.scratch import Place, remove
from checker.spark.shipped import Shipped, WrongVersionError, load, ship
from checker.spark.table import Table, dealt_out


@dataclass
class Sent:
    value: Shipped


@dataclass
class Heard:
    told: Told

    def add(self, term: Told) -> None:
        Telling().addInPlace(self.told, term)


def sent(machine: Machine) -> tuple[Kernel, Sent]:
    kernel = build(machine, pack(machine))
    return kernel, Sent(ship(kernel, fingerprint(machine)))


def beginning(kernel: Kernel) -> Level:
    driver = Driver(kernel, 1, None)
    found = driver.begin(lambda: None)
    driver.close()
    assert isinstance(found, Level)
    return found


def stored_again(rows: list[tasks.Row]) -> list[tasks.Pair]:
    return list(tasks.visited(row[:4] for row in rows if row[2] is not None))


def searched(
    machine: Machine, shards: int, depth: int, cold: Callable[[int, int], bool]
) -> tuple[list[int], Counts]:
    """Return the sizes of the levels and the counts; every task runs twice.

    `cold` says of a level and a shard that what was kept of it is lost.
    """
    kernel, shipped = sent(machine)
    begun = beginning(kernel)
    first, counts = dealt_out(begun.states, shards), begun.counts
    held: list[list[tasks.Pair]] = []
    for shard, states in enumerate(first):
        rows = list(tasks.rows_of(shard, states, Counts()))
        held.append(stored_again(rows))
    newest = held
    everything = [list(pairs) for pairs in held]
    last = tuple(len(states) for states in first)
    stored = last
    levels = [sum(stored)]
    place = Place(uuid.uuid4().hex)
    while levels[-1] and len(levels) <= depth:
        level = len(levels) - 1
        lost = frozenset(shard for shard in range(shards) if level == 0 or cold(level, shard))
        step = tasks.Step(level, str(level + 1), str(level), stored, last, lost, place)
        made: list[tasks.Pair] = []
        for index in range(shards):
            given = newest[index] if index in lost else [tasks.anchor(index)]
            list(tasks.expand(shipped, step, shards, index, given))
            made += tasks.expand(shipped, step, shards, index, given)
        heard = Heard({})
        newest = []
        for index in range(shards):
            known = everything[index] if index in lost else []
            given = [*known, tasks.anchor(index), *(pair for pair in made if pair[0] == index)]
            list(tasks.settle(shipped, step, heard, index, given))
            rows = list(tasks.settle(shipped, step, heard, index, given))
            newest.append(stored_again(rows))
        for shard, pairs in enumerate(newest):
            everything[shard] += pairs
        last = tuple(heard.told[shard].states for shard in range(shards))
        stored = tuple(map(sum, zip(stored, last, strict=True)))
        levels.append(sum(last))
        counts = total((counts, *(parse(report.text) for report in heard.told.values())))
    remove(place)
    return [size for size in levels if size], counts


def never(_level: int, _shard: int) -> bool:
    return False


def often(level: int, shard: int) -> bool:
    return (level + shard) % 3 == 0


@pytest.mark.parametrize("cold", [never, often])
@pytest.mark.parametrize("shards", [1, 2, 7])
@pytest.mark.parametrize(
    "machine", [two_phase(4), *map(seeded_machine, range(6))], ids=lambda machine: machine.name
)
def test_no_count_depends_on_shards_or_attempts(
    machine: Machine, shards: int, cold: Callable[[int, int], bool]
) -> None:
    depth = 6
    levels, counts = searched(machine, shards, depth, cold)
    wanted = locally(machine, Limits(keep_going=True, depth=depth))
    if wanted.stopped_by == "evaluation_error":
        levels = levels[: len(wanted.levels)]
        assert tuple(levels) == wanted.levels
        return
    assert tuple(levels) == wanted.levels
    assert (counts.generated, counts.cuts, counts.deadlocks) == (
        wanted.generated,
        wanted.cuts,
        wanted.deadlocks,
    )
    pairs = [(row.enabled, row.fired) for row in wanted.rows]
    new = tuple(row.new for row in wanted.rows)
    kernel = build(machine, pack(machine))
    assert list(as_counters(counts, kernel).tallies) == pairs
    assert as_counters(counts, kernel).new == new


def test_of_commuting_steps_one_order_is_sent() -> None:
    # What is made anew of stored states does not know how it was found, and leaves nothing out.
    known, counts = searched(two_phase(4), 2, 9, never)
    unknown, others = searched(two_phase(4), 2, 9, lambda _level, _shard: True)
    assert known == unknown
    assert counts.generated == others.generated
    assert counts.candidates < 0.8 * others.candidates


def test_counts_survive_being_kept() -> None:
    kernel = build(two_phase(3), pack(two_phase(3)))
    counts = searched(two_phase(3), 2, 4, never)[1]
    again = from_counters(as_counters(counts, kernel))
    zeroed = replace(counts, expanded=0, candidates=0, shuffled=0)
    assert again == zeroed
    assert parse(counts.text()) == counts


def test_a_shard_that_tells_twice_counts_once() -> None:
    telling = Telling()
    told = telling.addInPlace(telling.zero({}), {0: Report(3, "a")})
    assert telling.addInPlace(told, {0: Report(3, "a")}) == {0: Report(3, "a")}


@pytest.mark.parametrize("words", [1, 3])
def test_a_table_keeps_the_greatest_arrival_of_each_state(words: int) -> None:
    choose = np.random.default_rng(0)
    states = choose.integers(0, 40, (20_000, words), np.int64)
    arrivals = choose.integers(0, 9, len(states)).astype(np.uint16)
    wanted: dict[bytes, int] = {}
    for state, arrival in zip(states, arrivals, strict=True):
        wanted[state.tobytes()] = max(wanted.get(state.tobytes(), 0), int(arrival))
    table = Table(words)
    for start in range(0, len(states), 3000):
        table.enter(states[start : start + 3000], arrivals[start : start + 3000])
    dealt = table.deal(5)
    found = {
        state.tobytes(): int(arrival)
        for state, arrival in zip(dealt.states, dealt.arrivals, strict=True)
    }
    assert found == wanted
    assert len(dealt.states) == len(wanted)
    table.clear()
    assert len(table.deal(2).states) == 0


@pytest.mark.parametrize("count", [0, 1, 1023, 1025, 300_000])
def test_a_frontier_is_expanded_everywhere_at_once(count: int) -> None:
    # In the order of homes, states that lead to themselves would crowd a growing table's beginning.
    states = np.arange(2 * count, dtype=np.int64).reshape(-1, 2)
    arrivals = (states[:, 0] & 0xFFFF).astype(np.uint16)
    pieces = list(tasks._interleaved(states, arrivals))
    order = np.concatenate([np.empty((0, 2), np.int64), *(some for some, _ in pieces)])
    assert all(((some[:, 0] & 0xFFFF) == their).all() for some, their in pieces)
    assert (order[order[:, 0].argsort()] == states).all()
    for seen in range(2048, count, 4096):
        part = np.histogram(order[:seen, 0], bins=16, range=(0, 2 * count))[0]
        assert part.max() <= 2 * seen / 16


def damaged(rows: list[tasks.Row]) -> Iterator[tuple[object, ...]]:
    for shard, count, states, checksum, _ in rows:
        if states is not None:
            yield shard, count, b"\1" + states[1:], checksum


def test_damaged_states_are_noticed() -> None:
    rows = list(tasks.rows_of(0, np.arange(10, dtype=np.int64).reshape(-1, 2) << 8, Counts()))
    with pytest.raises(tasks.DamagedError, match="5 states of shard 0"):
        list(tasks.visited(damaged(rows)))


def test_missing_states_are_noticed(tmp_path: Path) -> None:
    _, shipped = sent(two_phase(3))
    step = tasks.Step(0, "1", "0", (5,), (5,), frozenset({0}), Place("missing", str(tmp_path)))
    with pytest.raises(tasks.DamagedError, match="holds 0 states where 5 were written"):
        list(tasks.expand(shipped, step, 1, 0, []))
    with pytest.raises(tasks.DamagedError, match="holds 0 states where 5 were written"):
        list(tasks.settle(shipped, step, Heard({}), 0, []))


def test_a_shard_without_what_it_kept_says_so_to_every_owner(tmp_path: Path) -> None:
    _, shipped = sent(two_phase(3))
    step = tasks.Step(1, "2", "1", (5, 5), (3, 3), frozenset(), Place("cold", str(tmp_path)))
    made = list(tasks.expand(shipped, step, 2, 1, [tasks.anchor(1)]))
    assert made == [(0, ("cold", b"1", b"")), (1, ("cold", b"1", b""))]
    heard = Heard({})
    assert list(tasks.settle(shipped, step, heard, 0, made[:1])) == []
    assert heard.told == {0: Report(missing=(0, 1))}


def test_another_processor_compiles_for_itself(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = two_phase(3)
    kernel, shipped = sent(machine)
    foreign = replace(shipped.value, toolchain=b"another", object_code=b"not for this processor")
    wanted = beginning(kernel)
    for _ in range(2):  # the second time from the cache
        load.cache_clear()
        found = beginning(load(foreign))
        assert (found.states == wanted.states).all()
        assert found.counts == wanted.counts


def test_another_version_is_refused() -> None:
    _, shipped = sent(two_phase(3))
    with pytest.raises(WrongVersionError, match=rf"0\.0\.0, an executor {checker.__version__}"):
        load(replace(shipped.value, version="0.0.0"))
