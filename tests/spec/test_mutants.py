"""Goal: a mistake in a row is noticed, and by a property whose trace a person can read.

The whole lists are long; a few mutants that are caught by one property each stand for them in
every run, a fixed sample of all of them in CI.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
import verified

from checker.flow import Request, Silent, check
from checker.library import find
from checker.machine.machine import LIVENESS
from checker.mutation.batches import declared_states
from checker.mutation.sights import Sight
from checker.mutation.subject import Subject
from checker.mutation.weaver import Mutant
from checker.mutation.weaving import catalogue, weave
from checker.table import Document

CONTROLLER = verified.document("controller")
GROUP = verified.document("classic_group")
SHARES = {
    name: verified.document(name)
    for name in ("share_delivery", "share_group", "share_partition", "share_state")
}

CAUGHT = {
    "default": {
        "every_change_has_a_version": "procedure write_record: without `zookeeper.version += 1`",
        "controller_knows_the_leader": (
            "procedure read_record: without `controller.leader = zookeeper.leader`"
        ),
        "replicas_of_the_living_are_online": (
            "procedure replicas_to_online: without `replica[b].state = OnlineReplica`"
        ),
    },
    "kip_841": {
        "stopping_follower_is_taken_offline": (
            "row process_controlled_shutdown: without `replicas_to_offline({b})`"
        ),
        "stop_replica_is_obeyed": "row receive_stop_replica: without `broker[b].hosting = false`",
        "process_ends_in_order": "row shutdown_completes: `broker[b].told_to_go` taken for true",
    },
}
"""Of instances of controller: a property, and a mutant that breaks it there before others."""


def sample(document: Document, size: int) -> set[str]:
    """Return the keys of some mutants of a specification, the same in every run."""
    keys = [mutant.key for mutant in catalogue(document)]
    return set(random.Random(0).sample(keys, size))  # noqa: S311 - the same in every run


def sights(document: Document, keys: set[str], instance: str) -> dict[Mutant, Sight]:
    states = declared_states(document, instance)
    return Subject(weave(document, keys, instance), instance, states=states).sights()


@pytest.mark.parametrize("instance", CAUGHT)
def test_the_property_breaks_in_its_mutant(instance: str) -> None:
    wanted = CAUGHT[instance]
    found = sights(CONTROLLER, set(wanted.values()), instance)
    broken = {mutant.key: sight.by for mutant, sight in found.items()}
    assert {name: name in broken[key] for name, key in wanted.items()} == dict.fromkeys(
        wanted, True
    )


def test_every_liveness_property_of_the_controller_needs_fairness(tmp_path: Path) -> None:
    """Where nothing has to happen, each of them fails."""
    folder = tmp_path / "controller"
    shutil.copytree(find("controller").parent, folder)
    for file in folder.glob("*.yaml"):
        file.write_text(file.read_text().replace("    fair: weak\n", ""))
    broken: set[str] = set()
    names: set[str] = set()
    for instance in ("default", "shutdown_settles", "offline_settles"):
        result = check(Request(str(folder), instance), Silent())
        names |= {item.name for item in result.machine.properties if item.kind in LIVENESS}
        broken |= {item.name for item in result.verdict.broken}
    assert names
    assert names <= broken


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "size", "instances", "least"),
    [
        (CONTROLLER, 120, ["default", "shutdown_settles", "failover_settles"], 50),
        (
            GROUP,
            120,
            [
                "default",
                "kafka_7824_fixed",
                "rebalances_end",
                "commits_and_a_failover",
                "returns_with_another_list",
                "delay_is_extended",
            ],
            50,
        ),
        (SHARES["share_delivery"], 60, ["lost_answer", "fixed_two_members", "default"], 34),
        (
            SHARES["share_group"],
            60,
            ["default", "fixed_deletion_only", "refused_heartbeats", "failing_appends"],
            23,
        ),
        (SHARES["share_partition"], 60, ["default", "truncation"], 16),
        (SHARES["share_state"], 60, ["rare_snapshots", "one_leader", "deletion"], 38),
    ],
    ids=["controller", "classic_group", *SHARES],
)
def test_mutants_are_caught(
    document: Document, size: int, instances: list[str], least: int
) -> None:
    """At least so many of a sample break a property; what else is noticed only moves figures."""
    left, caught = sample(document, size), 0
    for instance in instances:
        found = sights(document, left, instance)
        now = {mutant.key for mutant, sight in found.items() if sight.seen == "caught"}
        caught += len(now)
        left -= now
    assert caught >= least
