"""Goal: share groups keep what they promise from end to end; a bug is its variant alone.

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

SYSTEM = find("share_delivery")
DOCUMENT = read(SYSTEM)
INSTANCES = {entry.name.text: entry for entry in DOCUMENT.instances}
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
MUTANTS = {
    "member_leaves_without_release": Mutant(
        "members_come_and_go",
        ("          if leader[e].phase == ACTIVE:\n              end_session(e, m)\n"),
        "          pass\n",
    ),
    "session_releases_nothing": Mutant(
        "members_come_and_go",
        "            begin_transition(e, o, RELEASE)\n",
        "            pass\n",
    ),
    "window_off_by_one": Mutant(
        "small_window",
        "o < leader[e].start_offset + in_flight_limit",
        "o <= leader[e].start_offset + in_flight_limit",
    ),
    "unproduced_is_offered": Mutant(
        "one_leader",
        ("new(e, o): o >= leader[e].end_offset and o < partition.end_offset and"),
        "new(e, o): o >= leader[e].end_offset and",
    ),
    "acquired_is_offered": Mutant(
        "fixed_late_expiry",
        ("available(e, o): >-\n    cached(e, o) and entry(e, o).state == AVAILABLE and"),
        (
            "available(e, o): >-\n    cached(e, o) "
            "and entry(e, o).state in {AVAILABLE, ACQUIRED} and"
        ),
    ),
    "finished_is_offered": Mutant(
        "fixed_sessions",
        ("available(e, o): >-\n    cached(e, o) and entry(e, o).state == AVAILABLE and"),
        ("available(e, o): >-\n    cached(e, o) and entry(e, o).state != ACQUIRED and"),
    ),
    "available_is_not_offered": Mutant(
        "fixed_late_expiry",
        "if available(e, o) or in_gap(e, o)",
        "if in_gap(e, o)",
    ),
    "new_is_not_offered": Mutant(
        "fixed_late_expiry",
        " and read_gaps or new(e, o)}",
        " and read_gaps}",
    ),
    "count_is_not_raised": Mutant(
        "fixed_late_expiry",
        "count=count + 1, before",
        "count=count, before",
    ),
    "acquired_without_timer": Mutant(
        "fixed_late_expiry",
        "before=before, timer=true,",
        "before=before, timer=false,",
    ),
    "end_stays": Mutant(
        "fixed_late_expiry",
        "      leader[e].end_offset = max(leader[e].end_offset, o + 1)\n",
        "",
    ),
    "strangers_acknowledge": Mutant(
        "members_come_and_go",
        "not in_transition(e, o) and entry(e, o).owner == m",
        "not in_transition(e, o)",
    ),
    "limit_is_off_by_one": Mutant(
        "one_leader",
        "    if leader[e].cache[o].count >= delivery_limit:",
        "    if leader[e].cache[o].count > delivery_limit:",
    ),
    "limit_is_early": Mutant(
        "one_leader",
        "    if leader[e].cache[o].count >= delivery_limit:",
        "    if leader[e].cache[o].count >= delivery_limit - 1:",
    ),
    "owner_stays": Mutant(
        "one_leader",
        ("        leader[e].cache[o].state = AVAILABLE\n    leader[e].cache[o].owner = none\n"),
        "        leader[e].cache[o].state = AVAILABLE\n",
    ),
    "reject_accepts": Mutant(
        "one_leader",
        "ACKNOWLEDGED if kind == ACCEPT else ARCHIVED",
        "ACKNOWLEDGED if kind != RELEASE else ARCHIVED",
    ),
    "accept_releases": Mutant(
        "one_leader",
        ("    if kind == RELEASE:\n        give_back"),
        ("    if kind != REJECT:\n        give_back"),
    ),
    "transition_is_not_kept": Mutant(
        "one_leader",
        "    leader[e].cache[o].before = leader[e].cache[o].owner\n",
        "",
    ),
    "change_is_not_written": Mutant(
        "one_leader",
        "    send(requests[e], write_of(e, o, true))\n",
        "",
    ),
    "expiry_is_not_written": Mutant(
        "one_leader",
        "          send(requests[e], write_of(e, o, false))\n",
        "",
    ),
    "expiry_gives_nothing_back": Mutant(
        "one_leader",
        ("          give_back(e, o)\n          leader"),
        "          leader",
    ),
    "expiry_during_transition": Mutant(
        "one_leader",
        ("      if leader[e].cache[o].state == ACQUIRED and not in_transition(e, o):\n"),
        ("      if leader[e].cache[o].state == ACQUIRED or in_transition(e, o):\n"),
    ),
    "timer_is_not_marked": Mutant(
        "one_leader",
        ("      leader[e].cache[o].timer = false\n      if leader"),
        "      if leader",
    ),
    "timers_never_fire": Mutant(
        "default",
        ("    when: leader[e].phase == ACTIVE and cached(e, o) and entry(e, o).timer\n"),
        ("    when: leader[e].phase == ACTIVE and cached(e, o) and entry(e, o).timer and false\n"),
    ),
    "roll_back_to_available": Mutant(
        "failing_state",
        (
            "        leader[e].cache[o].state = ACQUIRED\n"
            "        leader[e].cache[o].owner = leader[e].cache[o].before\n"
        ),
        "        leader[e].cache[o].state = AVAILABLE\n",
    ),
    "roll_back_without_owner": Mutant(
        "failing_state",
        ("        leader[e].cache[o].owner = leader[e].cache[o].before\n    leader"),
        "    leader",
    ),
    "roll_back_stays_in_transition": Mutant(
        "failing_state",
        ("    leader[e].cache[o].before = none\n  lose"),
        "  lose",
    ),
    "no_roll_back": Mutant(
        "failing_state",
        ("              if awaited and in_transition(e, o):\n                  roll_back(e, o)\n"),
        "",
    ),
    "transition_never_ends": Mutant(
        "one_leader",
        "              leader[e].cache[o].before = none\n",
        "",
    ),
    "start_does_not_move": Mutant(
        "one_leader",
        ("                  remember_answer(o, batch.state)\n          move_start(e)\n"),
        "                  remember_answer(o, batch.state)\n",
    ),
    "start_passes_one_more": Mutant(
        "one_leader",
        "    leader[e].start_offset = moved_start(e)\n",
        "    leader[e].start_offset = min(moved_start(e) + 1, records)\n",
    ),
    "start_passes_available": Mutant(
        "one_leader",
        "finished(e, o): >-\n    cached(e, o) and terminal(entry(e, o).state) and",
        "finished(e, o): >-\n    cached(e, o) and entry(e, o).state != ACQUIRED and",
    ),
    "cache_is_not_trimmed": Mutant(
        "one_leader",
        ("        if o < leader[e].start_offset:\n            del leader[e].cache[o]\n"),
        "        pass\n",
    ),
    "load_starts_at_zero": Mutant(
        "two_records",
        "          leader[e].start_offset = value.start_offset\n",
        "          leader[e].start_offset = 0\n",
    ),
    "load_skips_to_the_end": Mutant(
        "default",
        "          leader[e].start_offset = value.start_offset\n",
        (
            "          leader[e].start_offset = max((o + 1 for o in "
            "value.batches), default=value.start_offset)\n"
        ),
    ),
    "load_forgets_batches": Mutant(
        "default",
        ("before=none, timer=false, written=true) for o in value.batches}"),
        (
            "before=none, timer=false, written=true) for o in value.batches if not "
            "terminal(value.batches[o].state)}"
        ),
    ),
    "load_forgets_counts": Mutant(
        "default",
        "count=value.batches[o].count,\n              before=none",
        "count=0,\n              before=none",
    ),
    "load_makes_available": Mutant(
        "default",
        "Entry(state=value.batches[o].state, owner=none",
        "Entry(state=AVAILABLE, owner=none",
    ),
    "load_end": Mutant(
        "two_records",
        ("leader[e].end_offset = max((o + 1 for o in value.batches), default=value.start_offset)"),
        ("leader[e].end_offset = max((o for o in value.batches), default=value.start_offset)"),
    ),
    "fenced_goes_on": Mutant(
        "default",
        (
            "          if is_fenced:\n"
            "              lose_leadership(e)\n"
            "          else:\n"
            "              move_start(e)\n"
        ),
        "          move_start(e)\n",
    ),
    "failed_read_is_final": Mutant(
        "failing_state",
        "          leader[e].phase = FENCED if is_fenced else UNREAD\n",
        "          leader[e].phase = FENCED\n",
    ),
    "failed_read_is_active": Mutant(
        "failing_state",
        "          leader[e].phase = FENCED if is_fenced else UNREAD\n",
        "          leader[e].phase = FENCED if is_fenced else ACTIVE\n",
    ),
    "old_leaders_read": Mutant(
        "default",
        ("      if e < coordinator.value.leader_epoch:\n          send(answers[e], ReadFailed"),
        ("      if e < coordinator.value.leader_epoch - 1:\n          send(answers[e], ReadFailed"),
    ),
    "read_does_not_raise": Mutant(
        "one_leader",
        "          raised = replace(coordinator.value, leader_epoch=e)\n",
        "          raised = coordinator.value\n",
    ),
    "old_leaders_write": Mutant(
        "default",
        ("      if e != coordinator.value.leader_epoch:\n          send(answers[e], WriteFailed"),
        ("      if e > coordinator.value.leader_epoch:\n          send(answers[e], WriteFailed"),
    ),
    "fence_is_not_said": Mutant(
        "default",
        "fenced=e < coordinator.value.leader_epoch))",
        "fenced=false))",
    ),
    "write_forgets_others": Mutant(
        "one_leader",
        (
            "kept if k == o else known.batches[k] for k in Slot if k >= start "
            "and (k == o or k in known.batches)}"
        ),
        "kept for k in Slot if k >= start and k == o}",
    ),
    "write_keeps_old": Mutant(
        "one_leader",
        "kept = combined(known.batches[o], batch) if o in known.batches else batch",
        "kept = known.batches[o] if o in known.batches else batch",
    ),
    "write_does_not_prune": Mutant(
        "one_leader",
        "for k in Slot if k >= start and (k == o",
        "for k in Slot if (k == o",
    ),
    "write_prunes_one_more": Mutant(
        "one_leader",
        "for k in Slot if k >= start and (k == o",
        "for k in Slot if k > start and (k == o",
    ),
    "write_keeps_start": Mutant(
        "one_leader",
        ("append(e, Value(leader_epoch=known.leader_epoch, start_offset=start, "),
        ("append(e, Value(leader_epoch=known.leader_epoch, start_offset=known.start_offset, "),
    ),
    "write_raises_epoch_to_0": Mutant(
        "one_leader",
        "append(e, Value(leader_epoch=known.leader_epoch, start",
        "append(e, Value(leader_epoch=0, start",
    ),
    "failed_write_is_answered_done": Mutant(
        "failing_state",
        ("    do: send(answers[e], WriteFailed(offset=o, awaited=awaited, fenced=false))"),
        ("    do: send(answers[e], WriteDone(offset=o, batch=batch, awaited=awaited))"),
    ),
    "answered_before_committed": Mutant(
        "one_leader",
        ("      log.value = first.value\n      coordinator.pending.pop(0)\n      send(answers"),
        ("      coordinator.pending.pop(0)\n      send(answers"),
    ),
    "moved_with_old_memory": Mutant(
        "failing_state",
        ("      coordinator.pending = empty\n      coordinator.value = log.value\n"),
        "      coordinator.pending = empty\n",
    ),
    "moved_answers_nobody": Mutant(
        "failing_state",
        ("          fail(p)\n      coordinator"),
        "      coordinator",
    ),
    "moved_answers_done": Mutant(
        "failing_state",
        ("          fail(p)\n      coordinator"),
        ("          send(answers[p.leader], p.answer)\n      coordinator"),
    ),
}
FAST = [
    "member_leaves_without_release",
    "available_is_not_offered",
    "limit_is_off_by_one",
    "change_is_not_written",
    "roll_back_to_available",
    "start_passes_one_more",
    "load_forgets_counts",
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
