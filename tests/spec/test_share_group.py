"""Goal: a share group holds as declared; a bug is its variant alone.

Every mutant is one small change of a row, definition or procedure, as a mistake in the code
would be, and some instance has another verdict with it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual_mutants import Mutant, is_caught

from checker.library import find
from checker.table import read
from checker.table.document import InstanceEntry

SYSTEM = find("share_group")
DOCUMENT = read(SYSTEM)
INSTANCES = {entry.name.text: entry for entry in DOCUMENT.instances}
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

MUTANTS = {
    "heartbeat_does_not_watch": Mutant(
        "default",
        "      coordinator.sessions.add(m)\n",
        "",
    ),
    "heartbeat_does_not_initialise": Mutant(
        "default",
        "      initialise_what_is_new()\n",
        "",
    ),
    "join_does_not_raise_the_epoch": Mutant(
        "default",
        "      changed = is_new or coordinator.members[m].topics != before.topics\n",
        "      changed = false\n",
    ),
    "pending_is_not_seen": Mutant(
        "progress",
        "of_topics(subscribed_topics()) or pending:\n",
        "of_topics(subscribed_topics()):\n",
    ),
    "metadata_is_not_kept": Mutant(
        "default",
        "          coordinator.metadata = of_topics(subscribed_topics())\n",
        "",
    ),
    "topics_are_not_updated": Mutant(
        "default",
        "          coordinator.members[m].topics = told_topics\n",
        "          pass\n",
    ),
    "member_is_not_reconciled": Mutant(
        "progress",
        ("      update_target()\n      reconcile(m, changed)\n"),
        "      update_target()\n",
    ),
    "target_is_not_updated": Mutant(
        "default",
        ("      update_target()\n      reconcile(m, changed)\n"),
        "      reconcile(m, changed)\n",
    ),
    "assignment_is_not_told": Mutant(
        "default",
        (
            "      tells = epoch == 0 or told_topics is not none or "
            "now.assigned != before.assigned or is_behind"
        ),
        "      tells = epoch == 0 or told_topics is not none",
    ),
    "epoch_twice": Mutant(
        "default",
        ("          coordinator.epoch += 1\n          coordinator.metadata"),
        "          coordinator.metadata",
    ),
    "previous_epoch_is_fenced": Mutant(
        "members_that_go",
        (" or epoch == coordinator.members[m].previous_epoch\n    or epoch == 0"),
        ("\n    or epoch == 0"),
    ),
    "old_epochs_are_accepted": Mutant(
        "members_that_go",
        (
            "epoch == coordinator.members[m].epoch or epoch == "
            "coordinator.members[m].previous_epoch\n"
        ),
        "epoch <= coordinator.members[m].epoch\n",
    ),
    "strangers_are_accepted": Mutant(
        "group_deletion",
        "or m not in coordinator.members and epoch == 0)",
        "or m not in coordinator.members)",
    ),
    "members_are_strangers": Mutant(
        "default",
        "    when: epoch > 0 and m not in coordinator.members\n",
        "    when: epoch > 0\n",
    ),
    "fenced_although_valid": Mutant(
        "default",
        "m in coordinator.members and not epoch_is_valid(m, epoch)\n",
        "m in coordinator.members\n",
    ),
    "previous_epoch_is_not_kept": Mutant(
        "fixed_lost_answer",
        ("        coordinator.members[m].previous_epoch = coordinator.members[m].epoch\n"),
        "",
    ),
    "epoch_is_not_taken": Mutant(
        "default",
        ("        coordinator.members[m].epoch = coordinator.assignment_epoch\n"),
        "",
    ),
    "assignment_is_not_taken": Mutant(
        "default",
        "coordinator.assignment_epoch\n        coordinator.members[m].assigned = {p for p in",
        "coordinator.assignment_epoch\n        before = {p for p in",
    ),
    "fence_keeps_the_target": Mutant(
        "fixed_deletion_of_offsets",
        "    coordinator.target[m] = empty\n",
        "",
    ),
    "fence_keeps_the_timer": Mutant(
        "members_that_go",
        "    coordinator.sessions.discard(m)\n",
        "",
    ),
    "fence_keeps_the_epoch": Mutant(
        "members_that_go",
        ("    coordinator.sessions.discard(m)\n    coordinator.epoch += 1\n"),
        "    coordinator.sessions.discard(m)\n",
    ),
    "fence_does_not_empty": Mutant(
        "members_that_go",
        ("    if len(coordinator.members) == 0:\n        coordinator.group = EMPTY\n"),
        "",
    ),
    "fence_empties_early": Mutant(
        "members_that_go",
        ("    if len(coordinator.members) == 0:\n        coordinator.group = EMPTY\n"),
        (
            "    if len(coordinator.members) <= 1 and coordinator.group == "
            "STABLE:\n"
            "        coordinator.group = EMPTY\n"
        ),
    ),
    "no_revoke_overfilled": Mutant(
        "default",
        ("    revoke_overfilled(ps, ms)\n    revoke_overshared"),
        "    revoke_overshared",
    ),
    "no_revoke_overshared": Mutant(
        "default",
        ("    revoke_overshared(ps, ms)\n    assign"),
        "    assign",
    ),
    "no_assign_remaining": Mutant(
        "default",
        ("    assign_remaining(ps, ms)\n  revoke"),
        "  revoke",
    ),
    "overfilled_by_one": Mutant(
        "default",
        "if len(held(m, ps)) > desired(m, ps, ms):",
        "if len(held(m, ps)) > desired(m, ps, ms) + 1:",
    ),
    "overfilled_gives_all": Mutant(
        "default",
        ("            if len(held(m, ps)) > desired(m, ps, ms):\n                coordinator"),
        ("            if len(held(m, ps)) >= desired(m, ps, ms):\n                coordinator"),
    ),
    "overshared_by_one": Mutant(
        "default",
        "            if len(holders(p)) > sharing(ps, ms):",
        "            if len(holders(p)) > sharing(ps, ms) + 1:",
    ),
    "sharing_rounds_down": Mutant(
        "default",
        "sharing(ps, ms): (len(ms) + len(ps) - 1) //",
        "sharing(ps, ms): len(ms) //",
    ),
    "quota_rounds_down": Mutant(
        "three_partitions",
        "* n + len(ms) - 1) // max",
        "* n) // max",
    ),
    "fresh_assignment": Mutant(
        "default",
        (
            "        for m in Member:\n"
            "            coordinator.target[m] = {p for p in "
            "coordinator.target[m] if wants(m, p) and p in "
            "assignable(topic_of(p))}"
        ),
        ("        for m in Member:\n            coordinator.target[m] = empty"),
    ),
    "unsubscribed_is_kept": Mutant(
        "unequal_subscriptions",
        "if wants(m, p) and p in assignable(topic_of(p))}",
        "if p in assignable(topic_of(p))}",
    ),
    "deleted_is_kept": Mutant(
        "deleted_topic",
        "if wants(m, p) and p in assignable(topic_of(p))}",
        "if wants(m, p)}",
    ),
    "assigned_before_initialised": Mutant(
        "default",
        (
            'assignable(t): "{p for p in coordinator.initialised if '
            'topic_of(p) == t and p in image.partitions}"'
        ),
        'assignable(t): "{p for p in image.partitions if topic_of(p) == t}"',
    ),
    "wrong_builder": Mutant(
        "unequal_subscriptions",
        ("        if equal_subscriptions():\n            share_out"),
        ("        if true:\n            share_out"),
    ),
    "assignment_epoch_stays": Mutant(
        "default",
        "        coordinator.assignment_epoch = coordinator.epoch\n",
        "",
    ),
    "one_turn": Mutant(
        "default",
        "        for turn in range(2):\n",
        "        for turn in range(1):\n",
    ),
    "initialised_again": Mutant(
        "default",
        ("to_initialise(): of_topics(subscribed_topics()) - coordinator.initialised - "),
        "to_initialise(): of_topics(subscribed_topics()) - ",
    ),
    "overdue_stays": Mutant(
        "failing_initialisation",
        "    coordinator.overdue -= wanted\n",
        "",
    ),
    "deleting_stays": Mutant(
        "group_deletion",
        "    coordinator.deleting -= topics_of(wanted)\n",
        "",
    ),
    "wrong_state_epoch": Mutant(
        "default",
        "InitializeState(state_epoch=coordinator.epoch,",
        "InitializeState(state_epoch=max(coordinator.epoch - 1, 0),",
    ),
    "asked_without_epoch": Mutant(
        "default",
        "        coordinator.initialising[p] = coordinator.epoch\n",
        "        coordinator.initialising[p] = 0\n",
    ),
    "known_is_initialised": Mutant(
        "growing_topic",
        "    known = topics_of(coordinator.initialised | initialising())\n",
        "    known = topics_of(initialising())\n",
    ),
    "failure_initialises": Mutant(
        "failing_initialisation",
        (
            "      if is_asked_for(p, state_epoch) or not "
            "initialised_when_asked:\n"
            "          stop_initialising(p)\n"
        ),
        (
            "      if is_asked_for(p, state_epoch) or not "
            "initialised_when_asked:\n"
            "          stop_initialising(p)\n"
            "          coordinator.initialised.add(p)\n"
        ),
    ),
    "success_stays_initialising": Mutant(
        "fixed_lost_answer",
        ("          coordinator.initialised.add(p)\n          stop_initialising(p)\n"),
        "          coordinator.initialised.add(p)\n",
    ),
    "overdue_never": Mutant(
        "fixed_lost_answer",
        "p not in coordinator.overdue and not initialisation_under_way(p)\n",
        "p not in coordinator.overdue and false\n",
    ),
    "overdue_at_once": Mutant(
        "fixed_lost_answer",
        "p not in coordinator.overdue and not initialisation_under_way(p)\n",
        "p not in coordinator.overdue\n",
    ),
    "state_epoch_not_compared": Mutant(
        "overtaking_initialisations",
        ("      accepted: state_epoch >= state[p].state_epoch and p in image.partitions"),
        "      accepted: p in image.partitions",
    ),
    "deleted_topic_initialised": Mutant(
        "deleted_topic",
        ("      accepted: state_epoch >= state[p].state_epoch and p in image.partitions"),
        "      accepted: state_epoch >= state[p].state_epoch",
    ),
    "deletion_of_living_groups": Mutant(
        "fixed_deletion_only",
        ("    in:\n      coordinator.group: EMPTY\n    when: coordinator.deletion is none\n"),
        ("    when: coordinator.deletion is none and coordinator.group != DEAD\n"),
    ),
    "offset_deletion_of_living_groups": Mutant(
        "fixed_deletion_of_offsets",
        ("    in:\n      coordinator.group: EMPTY\n    let:\n      here"),
        ("    let:\n      here"),
    ),
    "deletion_keeps_initialised": Mutant(
        "fixed_deletion_of_offsets",
        (
            "        coordinator.initialised.discard(p)\n"
            "        stop_initialising(p)\n"
            "    coordinator.deleting |="
        ),
        ("        stop_initialising(p)\n    coordinator.deleting |="),
    ),
    "deletion_keeps_initialising": Mutant(
        "fixed_deletion_of_offsets",
        (
            "        coordinator.initialised.discard(p)\n"
            "        stop_initialising(p)\n"
            "    coordinator.deleting |="
        ),
        ("        coordinator.initialised.discard(p)\n    coordinator.deleting |="),
    ),
    "deletion_is_not_marked": Mutant(
        "fixed_repeated_deletion",
        "    coordinator.deleting |= topics_to_delete\n",
        "",
    ),
    "deletion_is_not_sent": Mutant(
        "fixed_deletion_only",
        ("        send(state_requests[p], DeleteState(asker=coordinator.incarnation))\n"),
        "        pass\n",
    ),
    "deletion_misses_initialising": Mutant(
        "fixed_deletion_only",
        "(coordinator.initialised | initialising() if deletion_covers",
        "(coordinator.initialised if deletion_covers",
    ),
    "deletion_does_not_wait": Mutant(
        "fixed_deletion_only",
        ("coordinator.deletion is not none and len(coordinator.deletion.waiting) == 0\n"),
        "coordinator.deletion is not none\n",
    ),
    "deletion_ignores_failure": Mutant(
        "fixed_repeated_deletion",
        "      if not ended.failed:\n",
        "      if true:\n",
    ),
    "failure_is_not_noted": Mutant(
        "fixed_repeated_deletion",
        "failed=coordinator.deletion.failed or not done)",
        "failed=coordinator.deletion.failed)",
    ),
    "deletion_never_ends": Mutant(
        "fixed_repeated_deletion",
        ("      coordinator.deletion = none\n      if not ended.failed"),
        "      if not ended.failed",
    ),
    "topic_stays_marked": Mutant(
        "fixed_deletion_of_offsets",
        "              coordinator.deleting -= ended.topics\n",
        "              pass\n",
    ),
    "state_is_not_deleted": Mutant(
        "fixed_deletion_only",
        ("      forget_state(p)\n      answer("),
        "      answer(",
    ),
    "deleted_topic_stays_initialised": Mutant(
        "deleted_topic",
        ("          forget_state(p)\n          coordinator.initialised.discard(p)\n"),
        "          forget_state(p)\n",
    ),
    "deleted_topic_stays_initialising": Mutant(
        "deleted_topic",
        (
            "          coordinator.initialised.discard(p)\n"
            "          stop_initialising(p)\n"
            "          observer"
        ),
        ("          coordinator.initialised.discard(p)\n          observer"),
    ),
    "moved_without_timers": Mutant(
        "progress_of_initialisation",
        "      coordinator.sessions = {m for m in coordinator.members}\n",
        "      coordinator.sessions = empty\n",
    ),
    "group_forgets_half": Mutant(
        "fixed_deletion_only",
        ("    coordinator.deleting = empty\n    observer.owed = empty\n  forget_state"),
        ("    observer.owed = empty\n  forget_state"),
    ),
    "group_epoch_survives": Mutant(
        "fixed_deletion_only",
        ("    coordinator.group = DEAD\n    coordinator.epoch = 0\n"),
        "    coordinator.group = DEAD\n",
    ),
    "client_keeps_its_epoch": Mutant(
        "progress",
        ("  forget_membership(m): |\n    client[m].epoch = 0\n"),
        "  forget_membership(m): |\n",
    ),
    "client_keeps_its_assignment": Mutant(
        "fixed_deletion_only",
        ("    client[m].assignment = empty\n    client[m].told = false\n"),
        "    client[m].told = false\n",
    ),
    "client_does_not_tell_again": Mutant(
        "progress_of_lost_heartbeats",
        ("      client[m].waiting = false\n      client[m].told = false\n    fault: disconnect"),
        ("      client[m].waiting = false\n    fault: disconnect"),
    ),
    "client_waits_for_ever": Mutant(
        "overtaking_initialisations",
        ("    client[m].told = false\n    client[m].waiting = false\n"),
        "    client[m].told = false\n",
    ),
    "client_ignores_its_epoch": Mutant(
        "progress",
        "      client[m].epoch = epoch\n",
        "",
    ),
    "client_does_not_tell_changes": Mutant(
        "progress_of_changes",
        ("      client[m].topics = topics_wanted\n      client[m].told = false\n"),
        "      client[m].topics = topics_wanted\n",
    ),
    "join_with_old_epoch": Mutant(
        "overtaking_initialisations",
        ("      forget_membership(m)\n      client[m].state = JOINING\n"),
        ("      client[m].waiting = false\n      client[m].state = JOINING\n"),
    ),
}
FAST = [
    "heartbeat_does_not_watch",
    "member_is_not_reconciled",
    "strangers_are_accepted",
    "fence_keeps_the_target",
    "no_revoke_overshared",
    "quota_rounds_down",
    "assignment_epoch_stays",
]
"""Mutants that are tried by default; the others are slow together."""


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


@pytest.mark.parametrize("name", FAST)
def test_a_mutant_is_caught(name: str, tmp_path: Path) -> None:
    """A mistake of one row changes a verdict."""
    assert is_caught(SYSTEM, MUTANTS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MUTANTS if name not in FAST])
def test_every_mutant_is_caught(name: str, tmp_path: Path) -> None:
    """The rest of the mutants."""
    assert is_caught(SYSTEM, MUTANTS[name], tmp_path)
