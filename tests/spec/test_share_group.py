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
    "leave_cancels_the_timer",
    "offset_deletion_covers",
}
WITHOUT_A_FIX = {"candidate_late_request", "candidate_late_subscription"}
"""What breaks by a fault, and for which no other behaviour is modelled."""


def settings(entry: InstanceEntry) -> tuple[dict[str, object], dict[str, object]]:
    """Return the variants that an instance sets, and the other constants."""
    values = {name.text: value for name, value, _ in entry.settings}
    variants = {name: value for name, value in values.items() if name in VARIANTS}
    return variants, {name: value for name, value in values.items() if name not in VARIANTS}


@pytest.mark.parametrize("name", [name for name in INSTANCES if name.startswith(VARIED)])
def test_a_bug_is_its_variant_and_nothing_else(name: str) -> None:
    """Some instance that differs in one variant alone holds."""
    variants, rest = settings(INSTANCES[name])
    if name in WITHOUT_A_FIX:
        assert not variants
        return
    fixed = [
        settings(entry)[0]
        for entry in INSTANCES.values()
        if settings(entry)[1] == rest and entry.expect and entry.expect.verdict == "holds"
    ]
    assert any(len(variants.items() ^ others.items()) == 1 for others in fixed)
