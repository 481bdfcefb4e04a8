"""Goal: share groups keep what they promise from end to end; a bug is its variant alone."""

from __future__ import annotations

import pytest
from verified import document

from checker.table.document import InstanceEntry

INSTANCES = {entry.name.text: entry for entry in document("share_delivery").instances}
VARIED = ("kafka_", "pr_")
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


def settings(entry: InstanceEntry) -> dict[str, object]:
    """Return the constants that an instance sets."""
    return {name.text: value for name, value, _ in entry.settings}


@pytest.mark.parametrize("name", [name for name in INSTANCES if name.startswith(VARIED)])
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """Some instance with the same constants but the variant's holds."""
    own = settings(INSTANCES[name])
    rest = {key: value for key, value in own.items() if key not in VARIANTS}
    assert len(own) - len(rest) == 1
    assert any(
        settings(entry) == rest and entry.expect and entry.expect.verdict == "holds"
        for entry in INSTANCES.values()
    )
