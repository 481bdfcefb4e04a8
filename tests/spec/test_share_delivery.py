"""Goal: share groups keep what they promise from end to end; a bug is its variant alone.

Every mutant is one small change of a row, definition or procedure, as a mistake in the code
would be, and some instance has another verdict with it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from mutants import Mutant, is_caught

from checker.flow import Request, Silent, check
from checker.library import find
from checker.report.result import Result
from checker.table import read
from checker.table.document import InstanceEntry
from checker.verdict.expectation import differences

SYSTEM = find("share_delivery")
DOCUMENT = read(SYSTEM)
INSTANCES = {entry.name.text: entry for entry in DOCUMENT.instances}
QUICK = [name for name, entry in INSTANCES.items() if entry.tier == "quick"]
VARIED = ("kafka_", "pr_", "candidate_")
VARIANTS = {
    "read_gaps",
    "read_epoch_is_durable",
    "start_is_the_later",
    "start_waits_for_transition",
    "acquire_respects_transition",
    "roll_back_sees_expiry",
    "session_end_count",
    "start_moved_at_load",
    "expired_records_are_offered",
}
REPAIRED = {"expired_records_are_offered": "when_written"}
"""Variants whose default is the code, and the value under which the properties hold."""
@@MUTANTS@@

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


def test_every_instance_declares_its_figures() -> None:
    """Nothing that becomes reachable, or is so no longer, goes unnoticed."""
    for entry in INSTANCES.values():
        assert entry.expect is not None, entry.name.text
        assert entry.expect.distinct, entry.name.text
        assert entry.expect.depth, entry.name.text


@pytest.mark.parametrize("name", [name for name in INSTANCES if name.startswith(VARIED)])
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """Some instance with the same constants but the variant's holds."""
    own = settings(INSTANCES[name])
    rest = {key: value for key, value in own.items() if key not in VARIANTS}
    assert len(own) - len(rest) == (0 if name.startswith("candidate_") else 1)
    repaired = rest | (REPAIRED if name.startswith("candidate_") else {})
    assert any(
        settings(entry) == repaired and entry.expect and entry.expect.verdict == "holds"
        for entry in INSTANCES.values()
    )


@pytest.mark.parametrize("name", FAST)
def test_a_mutant_is_caught(name: str, tmp_path: Path) -> None:
    """A mistake of one row changes a verdict."""
    assert is_caught(SYSTEM, MUTANTS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MUTANTS if name not in FAST])
def test_every_mutant_is_caught(name: str, tmp_path: Path) -> None:
    """The rest of the mutants."""
    assert is_caught(SYSTEM, MUTANTS[name], tmp_path)


def test_every_row_fires_in_some_instance() -> None:
    """A row that never fires is no specification."""
    silent = {row.name.text for row in DOCUMENT.rows}
    for instance in @@FIRING@@:
        silent -= {row.row for row in run(instance).exploration.rows if row.fired}
    assert not silent
