"""Goal: the share coordinator's state holds as declared, and each of its properties can fail.

Every mutant is one small change of a row or definition, as a mistake in the code would be.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from checker.flow import Request, Silent, check
from checker.library import find
from checker.report.result import Result
from checker.table import read
from checker.table.document import InstanceEntry
from checker.verdict.expectation import differences

SYSTEM = find("share_state")
DOCUMENT = read(SYSTEM)
INSTANCES = {entry.name.text: entry for entry in DOCUMENT.instances}
QUICK = [name for name, entry in INSTANCES.items() if entry.tier == "quick"]
FIXED = {
    "kafka_17796": "failover",
    "kafka_17796_cause": "failover",
    "kafka_19456": "confused_clients",
    "kafka_20694": "observers",
    "kafka_20743": "confused_clients",
    "pr_23074": "one_leader",
}
"""Bugs, and the instance that has the same constants but the variant's."""

MUTANTS = {
    "epochs_never_fall": (
        "default",
        "    leads = old.leader_epoch\n",
        "    leads = 0\n",
    ),
    "fence_of_writes": (
        "default",
        "leader_epoch != -1 and leader_epoch < coordinator.leader_epoch or ",
        "",
    ),
    "deadlock": ("default", "    when: len(coordinator.pending) > 0\n", "    when: 'false'\n"),
}
BREAKS = {"fence_of_writes": "old_leaders_write_nothing"}


def settings(entry: InstanceEntry) -> dict[str, object]:
    """Return the constants that an instance sets."""
    return {name.text: value for name, value, _ in entry.settings}


@cache
def run(instance: str) -> Result:
    """Run an instance as declared."""
    return check(Request(str(SYSTEM), instance), Silent())


@pytest.mark.parametrize("instance", QUICK)
def test_instance_is_as_declared(instance: str) -> None:
    """Verdict, property, length, distinct states and depth."""
    result = run(instance)
    assert result.machine.expectation is not None
    assert not differences(result.machine.expectation, result.verdict, result.exploration)


@pytest.mark.parametrize("name", FIXED)
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """The fixed form holds, and differs in one constant."""
    broken, fixed = INSTANCES[name], INSTANCES[FIXED[name]]
    assert fixed.expect is not None
    assert fixed.expect.verdict == "holds"
    assert set(settings(fixed).items()) <= set(settings(broken).items())
    assert len(settings(broken)) == len(settings(fixed)) + 1


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_breaks_the_property(name: str, tmp_path: Path) -> None:
    """Properties that no instance breaks do break."""
    instance, old, new = MUTANTS[name]
    text = SYSTEM.read_text()
    assert old in text
    mutant = tmp_path / "system.yaml"
    mutant.write_text(text.replace(old, new))
    broken = BREAKS.get(name, name)
    verdict = check(Request(str(mutant), instance, properties=(broken,)), Silent()).verdict
    assert broken in {entry.name for entry in verdict.properties if entry.outcome == "violated"}


def test_every_property_is_shown_to_fail() -> None:
    """By an instance or by a mutant; `sometimes` fail where they are not reached."""
    broken = {BREAKS.get(name, name) for name in MUTANTS}
    for entry in INSTANCES.values():
        if entry.expect is not None and entry.expect.property is not None:
            broken |= {entry.expect.property.text, *(name.text for name in entry.expect.also)}
    assert {entry.name.text for entry in DOCUMENT.properties if entry.kind != "sometimes"} <= broken


def test_every_row_fires_in_some_instance() -> None:
    """A row that never fires is no specification."""
    silent = {row.name.text for row in DOCUMENT.rows}
    for instance in ("failover", "confused_clients", "observers", "deletion"):
        silent -= {row.row for row in run(instance).exploration.rows if row.fired}
    assert not silent
