"""Goal: a bug of the share partition is its variant alone, and gone without it."""

from __future__ import annotations

from functools import cache

import pytest
from verified import document

from checker.flow import Request, Silent, check
from checker.table.document import InstanceEntry
from checker.verdict.judge import Verdict

SYSTEM = document("share_partition")
INSTANCES = {entry.name.text: entry for entry in SYSTEM.instances}
QUICK = [name for name, entry in INSTANCES.items() if entry.tier == "quick"]
BUGS = [name for name in QUICK if name.startswith(("kafka_", "candidate_", "request_half_done"))]
VARIANTS = {
    "acquire_respects_transition",
    "archive_is_final",
    "roll_back_sees_expiry",
    "expiry_sees_cancel",
    "roll_back_sees_limit",
    "start_only_rises",
    "start_waits_for_transition",
    "read_gaps",
    "start_moved_at_load",
    "session_end_releases",
    "session_end_count",
    "stale_records_archived",
    "bound_by_fetched_data",
    "gap_bounds_batch",
    "overlap_is_of_the_whole_batch",
    "write_wakes_fetches",
    "leader_change_wakes_fetches",
    "archiving_resumes",
    "request_is_atomic",
    "expired_roll_back_sees_start",
    "emptied_cache_keeps_start",
    "lock_timeout_write_wakes_fetches",
    "release_wakes_fetches",
    "failed_write_moves_start",
    "stale_archive_moves_start",
    "truncation_moves_start",
    "gap_skips_what_is_gone",
    "gap_is_what_is_missing",
    "split_keeps_transition",
    "expired_roll_back_writes_dead_letter",
    "release_looks_at_state",
    "start_is_the_later",
    "later_write_counts",
}
WITHOUT_A_FIX = {"candidate_o4"}
"""What breaks by a fault or a demand, and for which nobody has proposed another behaviour."""
ALWAYS_RUN = {
    "kafka_20672",
    "candidate_emptied_cache",
}


def rare(names: list[str]) -> list[object]:
    """Return parameters of which only few run without being asked for."""
    return [
        name if name in ALWAYS_RUN else pytest.param(name, marks=pytest.mark.slow) for name in names
    ]


def settings(entry: InstanceEntry) -> dict[str, int | bool | str]:
    """Return the constants that an instance sets."""
    return {name.text: value for name, value, _ in entry.settings}


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_one_variant(name: str) -> None:
    """Apart from sizes and budgets an instance of a bug sets one constant."""
    variants = settings(INSTANCES[name]).keys() & VARIANTS
    if name in WITHOUT_A_FIX:
        assert not variants
    else:
        assert len(variants) == 1 + (name == "candidate_o2_metric")


MENDED = [name for name in BUGS if name not in WITHOUT_A_FIX]


def without_variant(name: str) -> tuple[tuple[str, int | bool | str], ...]:
    """Return the sizes and budgets of an instance."""
    own = settings(INSTANCES[name])
    return tuple((key, own[key]) for key in sorted(own) if key not in VARIANTS)


def broken(name: str) -> list[str]:
    """Return the properties that an instance is declared to break."""
    expect = INSTANCES[name].expect
    assert expect is not None
    assert expect.property is not None
    names = (expect.property.text, *(other.text for other in expect.also))
    return [one for one in names if one not in {"legal", "deadlock"}]


@cache
def verdict(sizes: tuple[tuple[str, int | bool | str], ...]) -> Verdict:
    """Return what holds of every property that bugs of these sizes break, with no variant."""
    asked = {one for name in MENDED if without_variant(name) == sizes for one in broken(name)}
    request = Request(SYSTEM.path, overrides=dict(sizes), properties=tuple(sorted(asked)))
    return check(request, Silent()).verdict


@pytest.mark.parametrize("name", rare(MENDED))
def test_without_its_variant_a_bug_is_gone(name: str) -> None:
    """The same sizes and budgets hold with every variant as declared."""
    found = verdict(without_variant(name))
    assert found.overall == "holds"
    assert set(broken(name)) <= {item.name for item in found.properties}
