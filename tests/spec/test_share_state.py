"""Goal: the share coordinator's state holds as declared, and each of its properties can fail.

Every mutant is one small change of a row or definition, as a mistake in the code would be.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual_mutants import Mutant, is_caught

from checker.library import find
from checker.table import read
from checker.table.document import InstanceEntry

SYSTEM = find("share_state")
DOCUMENT = read(SYSTEM)
INSTANCES = {entry.name.text: entry for entry in DOCUMENT.instances}
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
    "epochs_fall": Mutant(
        "rare_snapshots",
        "raised_leader = known.leader_epoch if write_keeps_epochs",
        "raised_leader = 0 if write_keeps_epochs",
    ),
    "state_epoch_falls": Mutant(
        "rare_snapshots",
        "raised_state = known.state_epoch if write_keeps_epochs",
        "raised_state = 0 if write_keeps_epochs",
    ),
    "writes_are_not_fenced": Mutant(
        "progress",
        "leader_epoch != -1 and leader_epoch < coordinator.leader_epoch\n    or ",
        "",
    ),
    "old_state_is_not_fenced": Mutant(
        "deletion",
        "\n    or state_epoch != -1 and state_epoch < coordinator.value.state_epoch\n",
        "\n",
    ),
    "fence_by_one": Mutant(
        "progress",
        "leader_epoch != -1 and leader_epoch < coordinator.leader_epoch",
        "leader_epoch != -1 and leader_epoch < coordinator.leader_epoch - 1",
    ),
    "write_of_the_future": Mutant(
        "confused_clients",
        "leader_epoch > coordinator.leader_epoch or state_epoch",
        "state_epoch",
    ),
    "reads_are_not_fenced": Mutant(
        "default",
        "    not read_is_invalid(leader_epoch) and leader_epoch < coordinator.leader_epoch\n",
        "    not read_is_invalid(leader_epoch) and false\n",
    ),
    "merge_forgets": Mutant(
        "one_leader",
        "for o in Slot if o >= start and (o in old or o in new)}",
        "for o in Slot if o >= start and o in new}",
    ),
    "last_batch_wins": Mutant(
        "repeated_requests",
        "b.delivery > c.delivery or b.delivery == c.delivery and (b.accept or not c.accept)",
        "b.delivery == b.delivery",
    ),
    "first_batch_wins": Mutant(
        "one_leader",
        "b.delivery > c.delivery or b.delivery == c.delivery and (b.accept or not c.accept)",
        "b.delivery != b.delivery",
    ),
    "merge_does_not_prune": Mutant(
        "one_leader",
        "for o in Slot if o >= start and (o in old or o in new)}",
        "for o in Slot if o in old or o in new}",
    ),
    "merge_prunes_one_more": Mutant(
        "one_leader",
        "for o in Slot if o >= start and (o in old or o in new)}",
        "for o in Slot if o > start and (o in old or o in new)}",
    ),
    "replay_keeps_start": Mutant(
        "one_leader",
        "state_epoch=v.state_epoch, leader_epoch=r.leader_epoch, start_offset=r.start_offset,\n",
        "state_epoch=v.state_epoch, leader_epoch=r.leader_epoch, start_offset=v.start_offset,\n",
    ),
    "update_sets_state_epoch": Mutant(
        "one_leader",
        "else Value(exists=true, state_epoch=v.state_epoch, leader",
        "else Value(exists=true, state_epoch=r.state_epoch, leader",
    ),
    "snapshot_forgets_epoch": Mutant(
        "one_leader",
        (
            "snapshot_of(v): >-\n    Record(kind=SNAPSHOT, state_epoch=v.state_epoch, "
            "leader_epoch=v.leader_epoch"
        ),
        ("snapshot_of(v): >-\n    Record(kind=SNAPSHOT, state_epoch=v.state_epoch, leader_epoch=0"),
    ),
    "snapshot_forgets_batches": Mutant(
        "one_leader",
        "start_offset=v.start_offset,\n    batches=v.batches)\n  update_of",
        "start_offset=v.start_offset,\n    batches=empty)\n  update_of",
    ),
    "snapshots_never": Mutant(
        "one_leader",
        ("    if coordinator.updates >= updates_per_snapshot or not coordinator.value.exists:"),
        "    if not coordinator.value.exists:",
    ),
    "snapshot_without_the_change": Mutant(
        "one_leader",
        (
            "        append(replace(snapshot_of(replay(coordinator.value, "
            "change)), state_epoch=state_epoch), answer)"
        ),
        (
            "        append(replace(snapshot_of(coordinator.value), "
            "state_epoch=state_epoch), answer)"
        ),
    ),
    "memory_is_not_replayed": Mutant(
        "one_leader",
        "    coordinator.value = replay(coordinator.value, record)\n",
        "",
    ),
    "log_is_not_written": Mutant(
        "one_leader",
        "        log.value = replay(log.value, record)\n",
        "",
    ),
    "updates_are_not_counted": Mutant(
        "one_leader",
        "        log.updates = replayed_updates(log.updates, record)\n",
        "",
    ),
    "says_the_other": Mutant(
        "one_leader",
        "Batch(delivery=delivery, accept=accept) for o",
        "Batch(delivery=delivery, accept=not accept) for o",
    ),
    "says_nothing": Mutant(
        "one_leader", "for o in {offset} if o >= start}", "for o in {offset} if o > start}"
    ),
    "read_raises_nothing": Mutant(
        "one_leader",
        ("append_change(coordinator.value.state_epoch, e, coordinator.value.start_offset,"),
        (
            "append_change(coordinator.value.state_epoch, "
            "coordinator.leader_epoch, coordinator.value.start_offset,"
        ),
    ),
    "read_lowers_start": Mutant(
        "default",
        ("append_change(coordinator.value.state_epoch, e, coordinator.value.start_offset,"),
        "append_change(coordinator.value.state_epoch, e, 0,",
    ),
    "observer_raises": Mutant(
        "observers",
        "              if e == -1 or e == coordinator.leader_epoch:",
        "              if e == coordinator.leader_epoch:",
    ),
    "unknown_key_is_read": Mutant(
        "one_leader",
        ("          if read_is_invalid(e):\n              send(answers, ReadFailed"),
        ("          if false:\n              send(answers, ReadFailed"),
    ),
    "initialise_forgets_leader": Mutant(
        "deletion",
        "leader_epoch=coordinator.value.leader_epoch if initialise_keeps_leader_epoch else 0,\n",
        "leader_epoch=0,\n",
    ),
    "initialise_of_old_epochs": Mutant(
        "repeated_requests",
        (
            "      if (state_epoch > coordinator.value.state_epoch\n"
            "              or state_epoch == coordinator.value.state_epoch and not "
            "new_epoch_initialises):"
        ),
        "      if true:",
    ),
    "delete_keeps_the_epoch": Mutant(
        "deletion",
        ("          append(tombstone(), none)\n          coordinator.leader_epoch = 0\n"),
        "          append(tombstone(), none)\n",
    ),
    "delete_deletes_nothing": Mutant(
        "deletion",
        ("          append(tombstone(), none)\n          coordinator.leader_epoch = 0\n"),
        "          pass\n",
    ),
    "committed_without_answer": Mutant(
        "one_leader",
        "          send_answer(first.answer)\n",
        "          pass\n",
    ),
    "committed_too_early": Mutant(
        "one_leader",
        "      commit(first.record)\n",
        "",
    ),
    "moved_with_old_memory": Mutant(
        "failover",
        "      coordinator.value = log.value\n",
        "",
    ),
    "moved_with_old_epoch": Mutant(
        "failover",
        "      coordinator.leader_epoch = log.leader_epoch\n",
        "",
    ),
    "pruned_without_effect": Mutant(
        "candidate_reset_forgets_leader",
        "          log.leader_epoch = log.value.leader_epoch\n",
        "",
    ),
    "moved_with_old_count": Mutant(
        "failover",
        "      coordinator.updates = log.updates\n",
        "",
    ),
    "moved_without_failures": Mutant(
        "failover",
        "              send_failure(p.answer)\n",
        "              pass\n",
    ),
    "leader_starts_at_zero": Mutant(
        "default",
        "          leader[e].start_offset = start_offset\n",
        "          leader[e].start_offset = 0\n",
    ),
    "fenced_leader_goes_on": Mutant(
        "default",
        ("          if was_fenced:\n              leader[e].phase = FENCED\n"),
        "",
    ),
}
FAST = [
    "epochs_fall",
    "reads_are_not_fenced",
    "update_sets_state_epoch",
    "log_is_not_written",
    "observer_raises",
    "committed_without_answer",
    "leader_starts_at_zero",
]
"""Mutants that are tried by default; the others are slow together."""


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


@pytest.mark.parametrize("name", FAST)
def test_a_mutant_is_caught(name: str, tmp_path: Path) -> None:
    """A mistake of one row changes a verdict."""
    assert is_caught(SYSTEM, MUTANTS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MUTANTS if name not in FAST])
def test_every_mutant_is_caught(name: str, tmp_path: Path) -> None:
    """The rest of the mutants."""
    assert is_caught(SYSTEM, MUTANTS[name], tmp_path)
