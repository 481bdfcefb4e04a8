"""Goal: a share group holds as declared; a bug is its variant alone."""

from __future__ import annotations

import pytest
from verified import document

from checker.table.document import InstanceEntry

INSTANCES = {entry.name.text: entry for entry in document("share_group").instances}
VARIED = ("kafka_", "candidate_")
VARIANTS = {
    "deletion_covers",
    "deletion_remembers",
    "retry_of_initialisation",
    "known_topic_starts_at",
    "joins_are_accepted",
    "initialised_when_asked",
    "repeated_answer_has_the_assignment",
    "deletion_looks_again",
    "offset_deletion_covers",
}
WITHOUT_A_FIX = {"candidate_late_request", "candidate_late_subscription"}
"""What breaks by a fault, and for which no other behaviour is modelled."""


def settings(entry: InstanceEntry) -> dict[str, object]:
    """Return the constants that an instance sets."""
    return {name.text: value for name, value, _ in entry.settings}


@pytest.mark.parametrize("name", [name for name in INSTANCES if name.startswith(VARIED)])
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """Some instance with the same constants but the variant's holds."""
    own = settings(INSTANCES[name])
    rest = {key: value for key, value in own.items() if key not in VARIANTS}
    if name in WITHOUT_A_FIX:
        assert own == rest
        return
    assert len(own) - len(rest) == 1
    assert any(
        settings(entry) == rest and entry.expect and entry.expect.verdict == "holds"
        for entry in INSTANCES.values()
    )
