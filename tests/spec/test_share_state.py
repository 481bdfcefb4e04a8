"""Goal: a bug of the share coordinator's state is its variant alone."""

from __future__ import annotations

import pytest
from verified import document

from checker.table.document import InstanceEntry

INSTANCES = {entry.name.text: entry for entry in document("share_state").instances}
FIXED = {
    "kafka_17796": "failover",
    "kafka_17796_cause": "failover",
    "kafka_19456": "confused_clients",
    "kafka_20694": "observers",
    "kafka_20743": "confused_clients",
    "pr_23074": "one_leader",
}
"""Bugs, and the instance that has the same constants but the variant's."""


def settings(entry: InstanceEntry) -> dict[str, object]:
    """Return the constants that an instance sets."""
    return {name.text: value for name, value, _ in entry.settings}


@pytest.mark.parametrize("name", FIXED)
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """The fixed form holds, and differs in one constant."""
    broken, fixed = INSTANCES[name], INSTANCES[FIXED[name]]
    assert fixed.expect is not None
    assert fixed.expect.verdict == "holds"
    assert set(settings(fixed).items()) <= set(settings(broken).items())
    assert len(settings(broken)) == len(settings(fixed)) + 1
