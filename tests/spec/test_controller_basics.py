"""Goal: the controller's specification holds as declared, and each of its properties can fail.

Every mutant is one small change of a row or procedure, as a mistake in the controller would be.
"""

from pathlib import Path

import pytest
from test_mutants import CAUGHT
from textual_mutants import text_of, write

from checker.elaborate import instances
from checker.flow import Request, Silent, check
from checker.library import find
from checker.report.result import Result
from checker.table import read
from checker.verdict.expectation import differences

SYSTEM = find("controller_basics")

MUTANTS = {
    "leader_is_in_sync": ("write_partition(none, rest)", "write_partition(zookeeper.leader, rest)"),
    "leader_epoch_never_falls": ("    zookeeper.leader_epoch += 1\n", ""),
    "controller_knows_the_leader": ("    controller.leader = leader\n", ""),
    "controller_knows_who_lives": (
        "      zookeeper.registered[b] = 0\n      watch_fires()\n",
        "      zookeeper.registered[b] = 0\n",
    ),
    "online_has_a_live_leader": (
        "        controller.partition = OfflinePartition\n",
        "        pass\n",
    ),
    "offline_only_without_choice": ("        elect_offline_leader()\n", "        pass\n"),
    "brokers_follow_the_leader": ("send_leader_and_isr({b})\n", "pass\n"),
    "replicas_of_the_living_are_online": (
        "if replica[b].state != NonExistentReplica:",
        "if false:",
    ),
    "legal": ("      controller.partition = NewPartition\n", ""),
}

DEAD_STAY_IN_THE_ISR = (
    ("if len(rest) == 0 and last_isr_member_kept and not unclean_election:", "if true:"),
    ("              broker[b].isr = isr\n", "              broker[b].isr = {b}\n"),
)
"""Neither the controller nor the leader, who does not know better, drops a dead follower."""


def run(path: Path, instance: str, properties: tuple[str, ...] | None = None) -> Result:
    return check(Request(str(path), instance, properties=properties), Silent())


QUICK = [entry.name.text for entry in instances(read(SYSTEM)) if entry.tier == "quick"]


@pytest.mark.parametrize("instance", QUICK)
def test_instance_is_as_declared(instance: str) -> None:
    result = run(SYSTEM, instance)
    assert not differences(result.machine.expectation, result.verdict, result.exploration)


CASES = {name: (edit,) for name, edit in MUTANTS.items()} | {
    "dead_replicas_leave_the_isr": DEAD_STAY_IN_THE_ISR
}


@pytest.mark.parametrize("name", CASES)
def test_each_property_can_fail(name: str, tmp_path: Path) -> None:
    text = text_of(SYSTEM)
    for old, new in CASES[name]:
        assert old in text
        text = text.replace(old, new)
    verdict = run(write(text, tmp_path), "default", (name,)).verdict
    broken = {entry.name for entry in verdict.properties if entry.outcome == "violated"}
    assert name in broken


def test_every_property_is_shown_to_fail() -> None:
    document = read(SYSTEM)
    declared = {entry.expect.property.text for entry in document.instances if entry.expect.property}
    mutants = {name for names in CAUGHT.values() for name in names}
    safety = {entry.name.text for entry in document.properties if entry.kind in {"always", "step"}}
    assert safety <= declared | set(CASES) | mutants


def test_every_row_fires_in_some_instance() -> None:
    silent = None
    for instance in ("default", "lost_replies", "failover"):
        never = {row.row for row in run(SYSTEM, instance).exploration.rows if row.fired == 0}
        silent = never if silent is None else silent & never
    assert not silent
