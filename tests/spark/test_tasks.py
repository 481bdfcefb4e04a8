"""Goal: what a task makes depends on what it is given, on nothing else: not on shards or attempts.

The whole search without Spark: the same functions, called as Spark calls them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

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
from checker.spark.counts import Counts, Telling, Told, as_counters, from_counters, parse, total
from checker.spark.shipped import Shipped, WrongVersionError, load, ship
from checker.spark.table import Table


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


def searched(machine: Machine, shards: int, depth: int) -> tuple[list[int], Counts]:
    """Return the sizes of the levels and the counts; every task runs twice."""
    kernel, shipped = sent(machine)
    first, counts = tasks.first_level(kernel, shards)
    owned = [[(shard, ("states", states.tobytes(), b""))] for shard, states in enumerate(first)]
    stored = [len(states) for states in first]
    visited: list[list[tasks.Pair]] = [list(pairs) for pairs in owned]
    levels = [sum(stored)]
    while levels[-1] and len(levels) <= depth:
        made: list[tasks.Pair] = []
        for index in range(shards):
            list(tasks.expand(shipped, shards, index, owned[index]))
            made += tasks.expand(shipped, shards, index, owned[index])
        heard = Heard({})
        owned = []
        for index in range(shards):
            given = [pair for pair in made if pair[0] == index] + visited[index]
            list(tasks.settle(shipped, heard, stored, index, given))
            rows = list(tasks.settle(shipped, heard, stored, index, given))
            owned.append(list(tasks.visited(row[:4] for row in rows if row[2] is not None)))
            visited[index] += owned[-1]
        found = {shard: count for shard, (count, _) in heard.told.items()}
        stored = [before + found[shard] for shard, before in enumerate(stored)]
        levels.append(sum(found.values()))
        counts = total((counts, *(parse(text) for _, text in heard.told.values())))
    return [size for size in levels if size], counts


@pytest.mark.parametrize("shards", [1, 2, 7])
@pytest.mark.parametrize(
    "machine", [two_phase(4), *map(seeded_machine, range(6))], ids=lambda machine: machine.name
)
def test_no_count_depends_on_shards_or_attempts(machine: Machine, shards: int) -> None:
    depth = 6
    levels, counts = searched(machine, shards, depth)
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
    kernel = build(machine, pack(machine))
    assert list(as_counters(counts, kernel).tallies) == pairs
    assert counts.new == searched(machine, 3, depth)[1].new


def test_counts_survive_being_kept() -> None:
    kernel = build(two_phase(3), pack(two_phase(3)))
    counts = searched(two_phase(3), 2, 4)[1]
    again = from_counters(as_counters(counts, kernel))
    zeroed = replace(counts, expanded=0, candidates=0, shuffled=0)
    assert again == zeroed
    assert parse(counts.text()) == counts


def test_a_shard_that_tells_twice_counts_once() -> None:
    telling = Telling()
    told = telling.addInPlace(telling.zero({}), {0: (3, "a")})
    assert telling.addInPlace(told, {0: (3, "a")}) == {0: (3, "a")}


@pytest.mark.parametrize("words", [1, 3])
def test_a_table_keeps_the_least_action_of_each_state(words: int) -> None:
    choose = np.random.default_rng(0)
    states = choose.integers(0, 40, (20_000, words), np.int64)
    actions = choose.integers(0, 9, len(states)).astype(np.uint16)
    known = choose.integers(0, 40, (500, words), np.int64)
    wanted: dict[bytes, int] = {}
    for state, action in zip(states, actions, strict=True):
        wanted[state.tobytes()] = min(wanted.get(state.tobytes(), 99), int(action))
    for state in known:
        wanted.pop(state.tobytes(), None)
    table = Table(words)
    for start in range(0, len(states), 3000):
        table.enter(states[start : start + 3000], actions[start : start + 3000])
    table.remove(known)
    dealt = table.deal(5)
    found = {
        state.tobytes(): int(action)
        for state, action in zip(dealt.states, dealt.actions, strict=True)
    }
    assert found == wanted
    assert len(dealt.states) == len(wanted)
    assert len(table.deal(2).states) == 0


def damaged(rows: list[tasks.Row]) -> Iterator[tuple[object, ...]]:
    for shard, count, states, checksum, _ in rows:
        if states is not None:
            yield shard, count, b"\1" + states[1:], checksum


def test_damaged_states_are_noticed() -> None:
    rows = list(tasks.rows_of(0, np.arange(10, dtype=np.int64).reshape(-1, 2) << 8, Counts()))
    with pytest.raises(tasks.DamagedError, match="5 states of shard 0"):
        list(tasks.visited(damaged(rows)))


def test_missing_states_are_noticed() -> None:
    _, shipped = sent(two_phase(3))
    with pytest.raises(tasks.DamagedError, match="holds 0 states where 5 were written"):
        list(tasks.settle(shipped, Heard({}), [5], 0, []))


def test_another_processor_compiles_for_itself(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = two_phase(3)
    kernel, shipped = sent(machine)
    foreign = replace(shipped.value, toolchain=b"another", object_code=b"not for this processor")
    shards = functools.partial(tasks.first_level, shards=1)
    for _ in range(2):  # the second time from the cache
        load.cache_clear()
        states, counts = shards(load(foreign))
        assert (states[0] == shards(kernel)[0][0]).all()
        assert counts == shards(kernel)[1]


def test_another_version_is_refused() -> None:
    _, shipped = sent(two_phase(3))
    with pytest.raises(WrongVersionError, match=rf"0\.0\.0, an executor {checker.__version__}"):
        load(replace(shipped.value, version="0.0.0"))
