"""Goal: the local engine and the reference say the same of every machine: counts, findings, paths.

Machines with known counts, faulty ones, and random ones with every kind of term and statement.
"""

from dataclasses import replace

import pytest
from machines import KNOWN, Known, lamp, overflow, two_phase
from random_machines import seeded_machine

from checker.kernel.build import build
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.search.simulate import simulate

SEEDS = range(30)


def local(machine: Machine, limits: Limits, workers: int = 1) -> Exploration:
    layout = pack(machine)
    return explore(machine, layout, build(machine, layout), limits, workers)


def comparable(exploration: Exploration) -> Exploration:
    """Leave out what engines may differ in: names, times and sizes."""
    return replace(
        exploration, engine="", workers=0, seconds=0.0, state_bits=0, bytes_per_state=0.0
    )


def assert_agreement(machine: Machine, limits: Limits) -> None:
    wanted = comparable(explore_reference(machine, limits))
    assert comparable(local(machine, limits)) == wanted
    threads = comparable(local(machine, limits, workers=2))
    assert replace(threads, rows=()) == replace(wanted, rows=())
    assert [(row.row, row.enabled, row.fired) for row in threads.rows] == [
        (row.row, row.enabled, row.fired) for row in wanted.rows
    ]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_machines_with_known_counts(known: Known) -> None:
    found = local(known.machine, Limits(keep_going=True))
    assert (found.distinct, found.generated, found.depth) == (
        known.distinct,
        known.generated,
        known.depth,
    )
    for limits in (Limits(), Limits(keep_going=True), Limits(depth=1)):
        assert_agreement(known.machine, limits)


@pytest.mark.parametrize("machine", [overflow(), lamp()], ids=lambda machine: machine.name)
def test_machines_that_fail(machine: Machine) -> None:
    assert_agreement(machine, Limits())


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines(seed: int) -> None:
    machine = seeded_machine(seed, states=300)
    assert_agreement(machine, Limits(keep_going=True, depth=6))


def test_a_published_count_on_all_cores() -> None:
    found = local(two_phase(6), Limits(), workers=2)
    assert (found.distinct, found.depth, found.exhaustive) == (50816, 19, True)


def test_walks_of_a_machine_keep_to_its_states() -> None:
    machine = two_phase(3)
    layout = pack(machine)
    found = simulate(machine, layout, build(machine, layout), walks=200, depth=30, seed=1)
    assert found.finding is None
    assert found.steps == 200 * 30
    assert all(row.enabled > 0 for row in found.rows)
