"""Goal: the share partition holds as declared; a bug is its variant alone; properties can fail.

Every mutant is one small change of a row or procedure, as a mistake in the code would be.
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

SYSTEM = find("share_partition")
TABLES = SYSTEM.parent.parent.parent / "tables"
DOCUMENT = read(SYSTEM)
INSTANCES = {entry.name.text: entry for entry in DOCUMENT.instances}
QUICK = [name for name, entry in INSTANCES.items() if entry.tier == "quick"]
VARIED = ("kafka_", "candidate_", "request_half_done")
VARIANTS = {
    "acquire_respects_transition",
    "archive_is_final",
    "roll_back_sees_expiry",
    "roll_back_sees_limit",
    "start_only_rises",
    "start_waits_for_transition",
    "read_gaps",
    "start_moved_at_load",
    "session_end_releases",
    "session_end_count",
    "stale_records_archived",
    "bound_by_fetched_data",
    "write_wakes_fetches",
    "leader_change_wakes_fetches",
    "request_is_atomic",
    "expired_roll_back_sees_start",
    "emptied_cache_keeps_start",
    "truncation_trims_gap",
    "lock_timeout_write_wakes_fetches",
    "release_wakes_fetches",
    "failed_write_moves_start",
    "stale_archive_moves_start",
    "gap_skips_what_is_gone",
}
WITHOUT_A_FIX = {"candidate_o4", "candidate_late_write"}
"""What breaks by a fault or a demand, and for which nobody has proposed another behaviour."""

MUTANTS: dict[str, tuple[str, str, str]] = {
    "one_owner": (
        "default",
        "        record[o].state = AVAILABLE\n    record[o].owner = none\n",
        "        record[o].state = AVAILABLE\n",
    ),
    "count_is_of_deliveries": ("default", "    record[o].delivery_count += 1\n", ""),
    "window_is_bounded": (
        "fixed_waiting_for_room",
        "highest = min(last, lowest + room - 1)",
        "highest = last",
    ),
    "done_is_done": (
        "fixed_leader_only",
        "        persisted.batches[o] = batches[o]\n",
        "        pass\n",
    ),
    "waiting_fetches_are_answered": (
        "progress",
        "          wake()\n      if offers and release_wakes_fetches:\n          wake()\n",
        "          pass\n",
    ),
    "legal": (
        "fixed_write_fails",
        "restore(record[o].state, ACQUIRED)",
        "record[o].state = ACQUIRED",
    ),
    "deadlock": (
        "fixed_leader_only",
        "    when: not active()\n    do: |\n      share",
        "    when: false and not active()\n    do: |\n      share",
    ),
}


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
    assert not differences(result.machine.expectation, result.verdict, result.exploration)


def test_every_instance_declares_its_figures() -> None:
    """Nothing that becomes reachable, or is so no longer, goes unnoticed."""
    for entry in INSTANCES.values():
        assert entry.expect is not None, entry.name.text
        assert entry.expect.distinct is not None, entry.name.text
        assert entry.expect.depth is not None, entry.name.text


@pytest.mark.parametrize("name", [name for name in INSTANCES if name.startswith(VARIED)])
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """Some instance with the same constants but the variant's holds."""
    if name in WITHOUT_A_FIX:
        pytest.skip("no behaviour is known under which it holds")
    own = settings(INSTANCES[name])
    assert len(own.keys() & VARIANTS) == 1 + (name == "candidate_o2_metric")
    rest = {key: value for key, value in own.items() if key not in VARIANTS}
    fixed = [
        entry
        for entry in INSTANCES.values()
        if settings(entry) == rest and entry.expect is not None and entry.expect.verdict == "holds"
    ]
    assert fixed


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_breaks_the_property(name: str, tmp_path: Path) -> None:
    """Properties that no instance breaks do break."""
    instance, old, new = MUTANTS[name]
    text = SYSTEM.read_text()
    assert old in text
    (tmp_path / "tables").symlink_to(TABLES)
    mutant = tmp_path / "system.yaml"
    mutant.write_text(text.replace(old, new))
    verdict = check(Request(str(mutant), instance, properties=(name,)), Silent()).verdict
    assert name in {entry.name for entry in verdict.properties if entry.outcome == "violated"}


def test_every_property_is_shown_to_fail() -> None:
    """By an instance or by a mutant; `sometimes` fail where they are not reached."""
    broken = set(MUTANTS)
    for entry in INSTANCES.values():
        if entry.expect is not None and entry.expect.property is not None:
            broken |= {entry.expect.property.text, *(name.text for name in entry.expect.also)}
    assert {entry.name.text for entry in DOCUMENT.properties if entry.kind != "sometimes"} <= broken


def test_every_row_fires_in_some_instance() -> None:
    """A row that never fires is no specification."""
    silent = {row.name.text for row in DOCUMENT.rows}
    for instance in (
        "leader_change",
        "truncation",
        "write_faults",
        "compaction",
        "slow_fetches",
        "candidate_late_write",
    ):
        silent -= {row.row for row in run(instance).exploration.rows if row.fired}
    assert not silent
