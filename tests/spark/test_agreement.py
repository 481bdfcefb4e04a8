"""Goal: the Spark engine says what the local one says: counts, coverage, findings, shortest paths.

Machines with known counts, faulty ones, and random ones of every kind; test_shipped.py has what is
shipped.
"""

from __future__ import annotations

import pytest
from machines import KNOWN, Known, lamp, overflow
from pairs import assert_same, locally, on_spark
from random_machines import lively_machine, seeded_machine
from refining_machines import refining_machine
from symmetric_machines import symmetric_machine

from checker.flow import machine_of
from checker.graph.endless import judge_endless
from checker.kernel.build import build
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.limits import Limits
from checker.search.progress import Progress
from checker.spark import search
from checker.spark.explore import explore_spark
from checker.spark.session import Cluster

pytestmark = pytest.mark.usefixtures("session")


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_machines_with_known_counts(known: Known) -> None:
    found = on_spark(known.machine, Limits(keep_going=True))
    assert (found.distinct, found.generated, found.depth) == (
        known.distinct,
        known.generated,
        known.depth,
    )
    assert_same(found, locally(known.machine, Limits(keep_going=True)))


@pytest.mark.parametrize("machine", [overflow(), lamp()], ids=lambda machine: machine.name)
def test_machines_that_fail(machine: Machine) -> None:
    assert_same(on_spark(machine), locally(machine))


@pytest.mark.parametrize("seed", range(8))
def test_random_machines(seed: int) -> None:
    machine = seeded_machine(seed, states=300)
    limits = Limits(keep_going=True, depth=4)
    assert_same(on_spark(machine, limits), locally(machine, limits))


def test_a_level_that_takes_long_tells_of_its_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_TASKS_SECONDS", 0.0)
    machine = machine_of("die_hard", "default", {})
    layout = pack(machine)
    told: list[Progress] = []
    explore_spark(
        machine, layout, build(machine, layout), Limits(), Cluster(), progress=told.append
    )
    assert any(each.tasks for each in told)
    assert all(0 <= each.tasks_done <= each.tasks for each in told)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_refining_machines(seed: int) -> None:
    machine = refining_machine(seed)
    limits = Limits(keep_going=True, depth=3)
    assert_same(on_spark(machine, limits), locally(machine, limits))


@pytest.mark.parametrize("seed", range(4))
def test_symmetric_machines(seed: int) -> None:
    machine = symmetric_machine(seed, states=500)
    limits = Limits(keep_going=True, depth=4)
    assert_same(on_spark(machine, limits), locally(machine, limits))


def lassos(machine: Machine, found: Exploration) -> object:
    layout = pack(machine)
    return judge_endless(machine, found, Limits(), (layout, build(machine, layout)))


@pytest.mark.parametrize("seed", range(3))
def test_liveness_is_judged_on_what_spark_found(seed: int) -> None:
    machine = lively_machine(seed, states=100)
    found, wanted = on_spark(machine), locally(machine)
    assert_same(found, wanted)
    assert lassos(machine, found) == lassos(machine, wanted)


def test_a_search_ends_where_the_declared_property_breaks() -> None:
    machine = machine_of("delayed_operation", "plain_flag_without_lock", {})
    found = on_spark(machine)
    assert (found.stopped_by, found.distinct, found.depth) == ("violation", 451, 27)
    assert {"legal", "completed_once"} <= {finding.property for finding in found.findings}
    assert_same(found, locally(machine))
