"""Small changes of share_partition, as a mistake in the code would be, and where each is noticed.

A mutant is a text that stands once in the specification, what replaces it, and a quick instance
that is then not as declared: a property breaks, is not reached, or has no value any more.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change, the instance that notices it, and the property that is then not as it must be.

    `error`: some step has no value any more.
    """

    instance: str
    breaks: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A change that no property can notice, and why."""

    instance: str
    old: str
    new: str
    why: str


def dropped(line: str, rest: str = "") -> tuple[str, str]:
    """Return a line and itself replaced by `pass`, before what makes its place unique."""
    indent = line[: len(line) - len(line.lstrip())]
    return line + rest, f"{indent}pass\n" + rest


def dropped_after(before: str, line: str) -> tuple[str, str]:
    """Return a line and itself replaced by `pass`, behind what makes its place unique."""
    indent = line[: len(line) - len(line.lstrip())]
    return before + line, before + f"{indent}pass\n"


MUTANTS = {
    # ---- one record
    "no_timer_is_armed": Mutant(
        "default",
        "one_timer",
        *dropped("    arm(lock[o](member=m))\n", "  # acquireNewBatchRecords, createBatches"),
    ),
    "disarming_leaves_the_timer": Mutant(
        "default",
        "one_timer",
        *dropped("    cancel(lock[o])\n", "    record[o].expired = false\n"),
    ),
    "disarming_leaves_the_mark": Mutant(
        "default",
        "one_timer",
        *dropped_after("    cancel(lock[o])\n", "    record[o].expired = false\n"),
    ),
    "forgetting_leaves_the_owner": Mutant(
        "leader_change",
        "one_owner",
        *dropped("    record[o].owner = none\n", "    record[o].delivery_count = 0\n"),
    ),
    "forgetting_leaves_the_transition": Mutant(
        "leader_change",
        "transitions_have_a_write",
        *dropped("    record[o].roll_back = none\n", "    record[o].archived_for_good = false\n"),
    ),
    "forgetting_leaves_the_timer": Mutant(
        "leader_change",
        "one_timer",
        *dropped_after("    record[o].dead_letter = false\n", "    disarm(o)\n"),
    ),
    "archiving_leaves_the_state": Mutant(
        "truncation",
        "fetches_reach_the_window",
        *dropped_after("  archive(o): |\n", "    record[o].state = ARCHIVED\n"),
    ),
    "archiving_is_not_for_good": Mutant(
        "truncation",
        "one_timer",
        *dropped("    record[o].archived_for_good = true\n"),
    ),
    "finished_records_are_not_counted": Mutant(
        "default",
        "completed_is_counted",
        *dropped(
            "        share.delivery_complete_count += 1\n", "  # InFlightState.tryUpdateState"
        ),
    ),
    "records_below_the_start_are_counted": Mutant(
        "truncation",
        "completed_is_counted",
        "    if terminal(record[o].state) and o >= share.start_offset:\n        "
        "share.delivery_complete_count += 1\n",
        "    if terminal(record[o].state):\n        share.delivery_complete_count += 1\n",
    ),
    "limit_allows_one_more": Mutant(
        "default",
        "delivered_within_the_limit",
        "    elif record[o].delivery_count >= delivery_limit:",
        "    elif record[o].delivery_count > delivery_limit:",
    ),
    "limit_allows_one_less": Mutant(
        "three_deliveries",
        "given_up_after_its_deliveries",
        "    elif record[o].delivery_count >= delivery_limit:",
        "    elif record[o].delivery_count >= delivery_limit - 1:",
    ),
    "given_back_records_are_all_archived": Mutant(
        "default",
        "given_up_after_its_deliveries",
        "    else:\n        record[o].state = AVAILABLE\n    record[o].owner = none",
        "    else:\n        record[o].state = ARCHIVED\n    record[o].owner = none",
    ),
    "given_back_records_keep_their_owner": Mutant(
        "default",
        "one_owner",
        *dropped_after(
            "    else:\n        record[o].state = AVAILABLE\n", "    record[o].owner = none\n"
        ),
    ),
    "transitions_keep_nothing_to_roll_back": Mutant(
        "default",
        "one_timer",
        *dropped(
            "    record[o].roll_back = RollBack(owner=m, "
            "delivery_count=record[o].delivery_count)\n",
            "    if target == AVAILABLE",
        ),
    ),
    "acknowledged_records_keep_their_owner": Mutant(
        "default",
        "one_owner",
        *dropped_after("        record[o].state = target\n", "        record[o].owner = none\n"),
    ),
    "acknowledged_records_are_not_counted": Mutant(
        "default",
        "completed_is_counted",
        *dropped_after(
            "        record[o].state = target\n        record[o].owner = none\n",
            "    count_if_done(o)\n",
        ),
    ),
    "commit_leaves_the_transition": Mutant(
        "default",
        "transitions_have_a_write",
        *dropped_after("  commit_transition(o): |\n", "    record[o].roll_back = none\n"),
    ),
    "commit_leaves_the_timer": Mutant(
        "default",
        "one_timer",
        *dropped("    disarm(o)\n", "    if record[o].state == AVAILABLE:\n        share.find"),
    ),
    "commit_does_not_offer": Mutant(
        "default",
        "nothing_is_skipped",
        *dropped("        share.find_next_fetch_offset = true\n", "  roll_back_transition(o): |"),
    ),
    "roll_back_sees_the_count_after": Mutant(
        "truncation",
        "failed_writes_are_undone",
        "if record[o].expired and roll_back_sees_expiry:",
        "if not record[o].expired and roll_back_sees_expiry:",
    ),
    "roll_back_limit_allows_one_more": Mutant(
        "truncation",
        "delivered_within_the_limit",
        "elif roll_back_sees_limit and record[o].roll_back.delivery_count >= delivery_limit:",
        "elif roll_back_sees_limit and record[o].roll_back.delivery_count > delivery_limit:",
    ),
    "expired_roll_back_does_not_offer": Mutant(
        "truncation",
        "nothing_is_skipped",
        *dropped_after(
            "                restore(record[o].state, AVAILABLE)\n",
            "                share.find_next_fetch_offset = true\n",
        ),
    ),
    "expired_roll_back_leaves_the_mark": Mutant(
        "truncation",
        "one_timer",
        *dropped("            disarm(o)\n", "        else:\n            restore"),
    ),
    "roll_back_forgets_the_owner": Mutant(
        "truncation",
        "one_owner",
        *dropped("            record[o].owner = record[o].roll_back.owner\n"),
    ),
    "roll_back_keeps_the_new_state": Mutant(
        "truncation", "one_owner", *dropped("            restore(record[o].state, ACQUIRED)\n")
    ),
    "roll_back_leaves_the_transition": Mutant(
        "truncation",
        "transitions_have_a_write",
        *dropped("        record[o].roll_back = none\n", "        if was_terminal"),
    ),
    "roll_back_does_not_count_back": Mutant(
        "truncation",
        "completed_is_counted",
        *dropped("            share.delivery_complete_count -= 1\n"),
    ),
    # ---- one entry
    "entries_are_not_split": Mutant(
        "batches", "entries_are_whole", *dropped("        record[o].split = true\n")
    ),
    "one_answer_does_not_split": Mutant(
        "batches",
        "entries_are_whole",
        *dropped_after("    if len(together(o)) > 1:\n", "        split_entry(record[o].entry)\n"),
    ),
    "log_start_does_not_split": Mutant(
        "batches_truncation",
        "entries_are_whole",
        *dropped_after(
            "        if not record[e].split and (e < first or last_of(e) >= end):\n",
            "            split_entry(e)\n",
        ),
    ),
    "log_start_archives_one_more": Mutant(
        "batches_truncation",
        "only_finished_records_are_passed",
        "        for o in {o for o in members_of(e) if o >= first and o < end and record",
        "        for o in {o for o in members_of(e) if o >= first and o <= end and record",
    ),
    "log_start_archives_what_is_held": Mutant(
        "batches_truncation",
        "held_records_stay_held",
        "o < end and record[o].state == AVAILABLE}:\n            archive(o)",
        "o < end and not terminal(record[o].state)}:\n            archive(o)",
    ),
    "smaller_fetch_does_not_split": Mutant(
        "batches",
        "entries_are_whole",
        *dropped_after(
            "                if not record[e].split and len(wanted) < len(members_of(e)):\n",
            "                    split_entry(e)\n",
        ),
    ),
    # ---- the window
    "window_moves_from_what_is_held": Mutant(
        "default",
        "a_finished_window_moves",
        "  finished(o): terminal(record[o].state) and not",
        "  finished(o): record[o].state != AVAILABLE and not",
    ),
    "start_is_one_behind": Mutant(
        "default",
        "done_is_done",
        "                share.start_offset = last + 1\n            share.end_offset",
        "                share.start_offset = last\n            share.end_offset",
    ),
    "end_stays_when_the_cache_empties": Mutant(
        "default",
        "end_is_the_last_cached",
        *dropped(
            "            share.end_offset = share.start_offset\n",
            "            share.delivery_complete_count = 0\n            for",
        ),
    ),
    "count_stays_when_the_cache_empties": Mutant(
        "default",
        "completed_is_counted",
        *dropped_after(
            "            share.end_offset = share.start_offset\n",
            "            share.delivery_complete_count = 0\n",
        ),
    ),
    "passed_records_stay_counted": Mutant(
        "default",
        "completed_is_counted",
        *dropped(
            "            share.delivery_complete_count -= len({o for o in done if o >= "
            "share.start_offset})\n"
        ),
    ),
    "passed_entries_stay": Mutant(
        "default",
        "entries_below_the_start_leave",
        *dropped_after("                for o in done:\n", "                    forget(o)\n"),
    ),
    "start_within_an_entry_is_one_behind": Mutant(
        "batches",
        "completed_is_counted",
        "                    share.start_offset = last + 1\n",
        "                    share.start_offset = last\n",
    ),
    "start_within_an_entry_leaves_those_before": Mutant(
        "batches",
        "entries_below_the_start_leave",
        *dropped_after(
            "                for o in {o for o in done if o < entry}:\n",
            "                    forget(o)\n",
        ),
    ),
    "start_passes_the_read_gap": Mutant(
        "batches_leader",
        "only_finished_records_are_passed",
        "all(finished(k) and not reaches_gap(record[k].entry) for k",
        "all(finished(k) for k",
    ),
    "log_start_is_not_followed": Mutant(
        "truncation",
        "completed_is_counted",
        *dropped_after(
            "            archive_available(share.start_offset, log.start_offset)\n",
            "            share.start_offset = log.start_offset\n",
        ),
    ),
    "log_start_leaves_available_records": Mutant(
        "truncation",
        "fetches_reach_the_window",
        *dropped("            archive_available(share.start_offset, log.start_offset)\n"),
    ),
    "log_start_leaves_the_end_behind": Mutant(
        "truncation",
        "end_is_the_last_cached",
        *dropped("            share.end_offset = max(share.end_offset, share.start_offset)\n"),
    ),
    "log_start_leaves_the_count": Mutant(
        "truncation",
        "completed_is_counted",
        *dropped(
            "            share.delivery_complete_count -= len({o for o in cached() if o >= "
            "share.start_offset\n                and o < log.start_offset and "
            "terminal(record[o].state)})\n"
        ),
    ),
    # ---- acquisition
    "deliveries_are_not_counted": Mutant(
        "default", "count_is_of_deliveries", *dropped("    record[o].delivery_count += 1\n")
    ),
    "acquired_records_have_no_owner": Mutant(
        "default", "one_owner", *dropped("    record[o].owner = m\n")
    ),
    "acquired_records_stay_available": Mutant(
        "default", "one_owner", *dropped("    record[o].state = ACQUIRED\n")
    ),
    "acquired_records_have_no_timer": Mutant(
        "default",
        "one_timer",
        *dropped("    arm(lock[o](member=m))\n", "  # acquireNewBatchRecords, createBatches"),
    ),
    "new_records_leave_the_end": Mutant(
        "default",
        "end_is_the_last_cached",
        *dropped("    share.end_offset = max(share.end_offset, last)\n"),
    ),
    "window_takes_one_more": Mutant(
        "waiting_fetches",
        "window_is_bounded",
        "    room = in_flight_limit - in_flight()\n",
        "    room = in_flight_limit - in_flight() + 1\n",
    ),
    "window_ignores_the_limit": Mutant(
        "waiting_fetches",
        "window_is_bounded",
        "    last if last - first < room\n",
        "    last if room > 0\n",
    ),
    "full_window_offers_one_less": Mutant(
        "progress_in_a_full_window",
        "the_last_record_is_acquired",
        "        room = share.end_offset - fetch_offset + 1\n",
        "        room = share.end_offset - fetch_offset\n",
    ),
    "unfetched_records_of_an_entry_are_taken": Mutant(
        "batches",
        "only_fetched_records_are_acquired",
        "if available(o) and o >= base and o <= bound}",
        "if available(o) and o >= base}",
    ),
    "what_another_holds_is_taken": Mutant(
        "default",
        "one_timer",
        "            wanted = {o for o in members_of(e) if available(o) and",
        "            wanted = {o for o in members_of(e) if not terminal(record[o].state) and",
    ),
    "stale_records_are_not_counted": Mutant(
        "compaction",
        "completed_is_counted",
        *dropped(
            "        share.delivery_complete_count += len({o for o in cached() if o >= first "
            "and o < base\n            and record[o].state == AVAILABLE})\n"
        ),
    ),
    "one_stale_record_too_many": Mutant(
        "compaction",
        "available_is_given_up_only_when_gone",
        "        archive_available(first, base)\n",
        "        archive_available(first, base + 1)\n",
    ),
    "log_start_is_not_learnt": Mutant(
        "progress",
        "start_follows_the_log",
        "      nothing_to_find()\n      follow_log_start()\n",
        "      nothing_to_find()\n",
    ),
    "nothing_is_looked_for": Mutant(
        "default",
        "nothing_is_skipped",
        "    if cache_is_fresh() or len(offered()) == 0:\n        share.find",
        "    if true:\n        share.find",
    ),
    "fetch_lock_wakes_nobody": Mutant(
        "slow_fetches",
        "no_fetch_waits_in_vain",
        "      share.fetch = none\n      follow_log_start()\n      wake()\n",
        "      share.fetch = none\n      follow_log_start()\n",
    ),
    "fetch_lock_stays": Mutant(
        "slow_fetches",
        "error",
        *dropped_after(
            "      acquire(share.fetch.member, share.fetch.offset, last)\n",
            "      share.fetch = none\n",
        ),
    ),
    "fetch_lock_is_ignored": Mutant(
        "slow_fetches",
        "one_fetch_at_a_time",
        "    when: share.fetch is none and can_acquire() and m not in share.waiting",
        "    when: can_acquire() and m not in share.waiting",
    ),
    # ---- acknowledging
    "anybody_acknowledges": Mutant(
        "default",
        "one_timer",
        "not in_transition(o) and record[o].owner == m\n",
        "not in_transition(o)\n",
    ),
    "available_records_are_acknowledged": Mutant(
        "default",
        "one_timer",
        "is_cached(o) and record[o].state == ACQUIRED and not in_transition(o) and "
        "record[o].owner == m",
        "is_cached(o) and not terminal(record[o].state) and not in_transition(o)",
    ),
    "reject_releases": Mutant(
        "default",
        "answers_mean_what_they_say",
        "AVAILABLE if a == RELEASE else ARCHIVED",
        "AVAILABLE if a in {RELEASE, REJECT} else ARCHIVED",
    ),
    "accept_archives": Mutant(
        "default",
        "answers_mean_what_they_say",
        '"ACKNOWLEDGED if a == ACCEPT else',
        '"ARCHIVED if a == ACCEPT else',
    ),
    "acknowledgement_is_not_written": Mutant(
        "default",
        "transitions_have_a_write",
        *dropped("      write_changes({o}, acknowledgement)\n"),
    ),
    "renewal_arms_a_second_timer": Mutant(
        "default", "one_timer", *dropped("      disarm(o)\n", "      arm(lock[o](member=m))\n")
    ),
    "renewal_arms_no_timer": Mutant(
        "default", "one_timer", *dropped("      arm(lock[o](member=m))\n")
    ),
    "session_end_releases_everybody": Mutant(
        "default",
        "one_timer",
        "if record[o].state == ACQUIRED and record[o].owner == m}",
        "if record[o].state == ACQUIRED}",
    ),
    "session_end_keeps_nothing_to_roll_back": Mutant(
        "default",
        "one_timer",
        *dropped(
            "          record[o].roll_back = RollBack(owner=m, "
            "delivery_count=record[o].delivery_count)\n"
        ),
    ),
    "session_end_does_not_count": Mutant(
        "default",
        "completed_is_counted",
        *dropped("          count_if_done(o)\n", "      released"),
    ),
    "session_end_ignores_the_log_start": Mutant(
        "batches_truncation",
        "fetches_reach_the_window",
        "          give_back(o, true)\n          count_if_done(o)\n",
        "          give_back(o, false)\n          count_if_done(o)\n",
    ),
    "session_end_is_not_written": Mutant(
        "default",
        "transitions_have_a_write",
        *dropped("      write_changes(released, session_end)\n"),
    ),
    "timers_of_the_other_records_stay": Mutant(
        "batches", "one_timer", *dropped("          cancel(lock[k](member=m))\n")
    ),
    "lock_timeout_ignores_the_log_start": Mutant(
        "batches_truncation",
        "fetches_reach_the_window",
        "              give_back(k, true)\n",
        "              give_back(k, false)\n",
    ),
    "lock_timeout_does_not_offer": Mutant(
        "default",
        "nothing_is_skipped",
        *dropped_after(
            "              if record[k].state == AVAILABLE:\n",
            "                  share.find_next_fetch_offset = true\n",
        ),
    ),
    "lock_timeout_does_not_count": Mutant(
        "default", "completed_is_counted", *dropped("              count_if_done(k)\n")
    ),
    "lock_timeout_is_not_written": Mutant(
        "default",
        "a_finished_window_moves",
        *dropped("          write_changes(locked, lock_timeout)\n"),
    ),
    "lock_timeout_wakes_nobody": Mutant(
        "waiting_fetches",
        "no_fetch_waits_in_vain",
        *dropped_after("          write_changes(locked, lock_timeout)\n", "          wake()\n"),
    ),
    "lock_timeout_leaves_no_mark": Mutant(
        "truncation", "one_timer", *dropped("              record[k].expired = true\n")
    ),
    "lock_timeout_ends_transitions": Mutant(
        "write_faults",
        "legal",
        "      if record[o].state == ACQUIRED and not in_transition(o):\n          if not "
        "record[o].split and starts",
        "      if not terminal(record[o].state):\n          if not record[o].split and starts",
    ),
    "timer_of_an_entry_frees_one_record": Mutant(
        "batches",
        "entries_are_whole",
        "      locked = together(o)\n",
        "      locked = {o}\n",
    ),
    # ---- writes
    "written_batches_are_lost": Mutant(
        "leader_change",
        "failed_writes_are_undone",
        "        persisted.batches[o] = batches[o]\n    for",
        "        pass\n    for",
    ),
    "written_start_is_one_ahead": Mutant(
        "default",
        "leaders_start_where_they_were",
        "max(persisted.start_offset, start_offset) if start_is_the_later else start_offset\n",
        "min(start_offset + 1, records)\n",
    ),
    "failed_writes_are_committed": Mutant(
        "truncation",
        "only_finished_records_are_passed",
        "                if success:",
        "                if true:",
    ),
    "good_writes_are_rolled_back": Mutant(
        "default", "done_is_done", "                if success:", "                if false:"
    ),
    "session_ends_are_never_over": Mutant(
        "default",
        "transitions_have_a_write",
        "    if purpose in {acknowledgement, session_end}:",
        "    if purpose == acknowledgement:",
    ),
    "good_writes_leave_the_start": Mutant(
        "default",
        "a_finished_window_moves",
        *dropped_after(
            "      offers = any(available(o) for o in batches)\n", "      move_start()\n"
        ),
    ),
    "failed_lock_timeouts_leave_the_start": Mutant(
        "truncation",
        "a_finished_window_moves",
        *dropped_after(
            "    if purpose in {lock_timeout, dead_letter}:\n", "        move_start()\n"
        ),
    ),
    # ---- leaders
    "old_leader_writes_after_the_read": Mutant(
        "leader_change",
        "done_is_done",
        "    when: not active() and leader_epoch + 1 == share.leader_epoch",
        "    when: leader_epoch + 1 == share.leader_epoch",
    ),
    "leader_forgets_nothing": Mutant(
        "leader_change",
        "end_is_the_last_cached",
        *dropped_after("      for o in cached():\n", "          forget(o)\n"),
    ),
    "leader_reads_no_start": Mutant(
        "leader_change",
        "leaders_start_where_they_were",
        *dropped("      share.start_offset = persisted.start_offset\n"),
    ),
    "leader_reads_no_counts": Mutant(
        "leader_change",
        "state_is_read_as_written",
        *dropped("          record[o].delivery_count = persisted.batches[o].delivery_count\n"),
    ),
    "leader_reads_no_end": Mutant(
        "leader_change",
        "nothing_is_skipped",
        *dropped("          share.end_offset = o\n"),
    ),
    "leader_does_not_look_for_records": Mutant(
        "leader_change",
        "nothing_is_skipped",
        *dropped_after(
            "      if len(persisted.batches) > 0:\n",
            "          share.find_next_fetch_offset = true\n",
        ),
    ),
    "leader_does_not_count": Mutant(
        "leader_change",
        "completed_is_counted",
        *dropped("              share.delivery_complete_count += 1\n", "      if len"),
    ),
    "read_gap_starts_too_late": Mutant(
        "leader_change",
        "nothing_is_skipped",
        "GapWindow(start=min(o for o in missing), end=share.end_offset)",
        "GapWindow(start=min(o for o in missing) + 1, end=share.end_offset)",
    ),
    # ---- dead letters
    "no_dead_letters": Mutant(
        "dead_letters",
        "answers_mean_what_they_say",
        '"ARCHIVING if dead_letter_queue else ARCHIVED"',
        '"ARCHIVED"',
    ),
    "dead_letters_are_not_begun": Mutant(
        "dead_letters",
        "archiving_has_a_dead_letter",
        *dropped("            record[o].dead_letter = true\n", "  end_with_error(batches"),
    ),
    "dead_letters_end_in_nothing": Mutant(
        "progress_of_dead_letters", "archiving_ends", *dropped("          archive(k)\n")
    ),
    "dead_letters_are_not_counted": Mutant(
        "dead_letters",
        "completed_is_counted",
        *dropped_after("          record[k].dead_letter = false\n", "          count_if_done(k)\n"),
    ),
    "archiving_is_not_written": Mutant(
        "dead_letters",
        "a_finished_window_moves",
        *dropped("      write_changes(written, dead_letter)\n"),
    ),
    "deadlocked_leader": Mutant(
        "leader_change",
        "deadlock",
        "    when: not active()\n    do: |\n      share.phase = ACTIVE",
        "    when: false and not active()\n    do: |\n      share.phase = ACTIVE",
    ),
    "roll_back_as_a_transition": Mutant(
        "truncation",
        "legal",
        "            restore(record[o].state, ACQUIRED)\n",
        "            record[o].state = ACQUIRED\n",
    ),
    "woken_by_nothing": Mutant(
        "progress",
        "waiting_fetches_are_answered",
        "          wake()\n      if offers and release_wakes_fetches:\n          wake()\n",
        "          pass\n",
    ),
}
"""Name to change; each breaks or hides what its instance declares."""

EQUIVALENTS = {
    "archiving_leaves_the_timer": Equivalent(
        "truncation",
        *dropped_after("    record[o].archived_for_good = true\n", "    disarm(o)\n"),
        "only a record in transition has one then; it leaves a mark at most, and both end with it",
    ),
    "released_below_the_start": Equivalent(
        "truncation",
        "        give_back(o, false)\n    else:\n        record[o].state = target\n",
        "        give_back(o, true)\n    else:\n        record[o].state = target\n",
        "what is below the start offset is not acknowledged",
    ),
    "held_records_in_transition": Equivalent(
        "write_faults",
        "record[o].state == ACQUIRED and not in_transition(o) and record[o].owner == m\n",
        "record[o].state == ACQUIRED and record[o].owner == m\n",
        "a transition leaves ACQUIRED at once",
    ),
    "written_start_as_sent": Equivalent(
        "write_faults",
        "max(persisted.start_offset, start_offset) if start_is_the_later else start_offset\n",
        "start_offset\n",
        "one leader's writes are applied in order and its start only rises; share_state reorders",
    ),
    "gap_stays_open_when_it_is_full": Equivalent(
        "leader_change",
        "        else:\n            share.gap = none\n  # What a fetch",
        "  # What a fetch",
        "a gap is what is missing from its start on, and nothing is",
    ),
    "acknowledged_below_the_start": Equivalent(
        "truncation",
        "accepts(m, o) and o >= share.start_offset\n    do: |\n      split_for(o)\n      begin",
        "accepts(m, o)\n    do: |\n      split_for(o)\n      begin",
        "the record is deleted; its acknowledgement is written and pruned",
    ),
}
"""Name to change that breaks nothing, though the figures of an instance may differ."""
