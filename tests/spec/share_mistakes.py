"""Mistakes in the systems of share groups, each with the property that notices it."""

from __future__ import annotations

SHARE_SYSTEMS = (
    "share_delivery",
    "share_group",
    "share_partition",
    "share_register",
    "share_state",
)

SHARE_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
    ("share_delivery", "leader_epoch_never_falls"): (
        "share_coordinator.yaml",
        (
            "    when: e < coordinator.value.leader_epoch or len(coordinator.pending) == 0\n"
            "    do: |\n      if e < coordinator.value.leader_epoch:\n"
        ),
        "    when: len(coordinator.pending) == 0\n    do: |\n      if false:\n",
        "fixed_moving_coordinator",
    ),
    ("share_delivery", "leaders_start_where_the_state_is"): (
        "leader.yaml",
        "          leader[e].start_offset = value.start_offset\n",
        "",
        "two_records",
    ),
    ("share_delivery", "the_dead_are_waited_for"): (
        "member.yaml",
        "held_by(e, o, m) and member[m].membership == JOINED",
        "held_by(e, o, m)",
        "progress_of_two_members",
    ),
    ("share_delivery", "the_dead_stay_dead"): (
        "member.yaml",
        "    when: member[m].membership == OUT\n",
        "    when: member[m].membership != JOINED\n",
        "members_come_and_go",
    ),
    ("share_delivery", "who_left_holds_nothing"): (
        "member.yaml",
        (
            "      for e in Leader:\n          if leader[e].phase == ACTIVE:\n"
            "              end_session(e, m)\n    fault: leave"
        ),
        "    fault: leave",
        "members_come_and_go",
    ),
    ("share_delivery", "written_deliveries_are_counted"): (
        "leader.yaml",
        "owner=none, count=value.batches[o].count,",
        "owner=none, count=0,",
    ),
    ("share_group", "assigned_partitions_are_initialised"): (
        "assignor.yaml",
        "{p for p in coordinator.initialised if topic_of(p) == t and p in image.partitions}",
        "{p for p in image.partitions if topic_of(p) == t}",
    ),
    ("share_group", "deleted_topics_leave_no_state"): (
        "state.yaml",
        "      accepted: state_epoch >= state[p].state_epoch and p in image.partitions",
        "      accepted: state_epoch >= state[p].state_epoch",
        "deleted_topic",
    ),
    ("share_group", "each_topic_is_balanced"): (
        "assignor.yaml",
        "        if equal_subscriptions():\n            share_out",
        "        if true:\n            share_out",
        "unequal_topics",
    ),
    ("share_group", "member_epoch_only_rises"): (
        "coordinator.yaml",
        "members[m].epoch = coordinator.assignment_epoch\n",
        (
            "members[m].epoch = 0 if coordinator.members[m].epoch > 0 "
            "else coordinator.assignment_epoch\n"
        ),
    ),
    ("share_group", "nothing_moves_without_need"): (
        "assignor.yaml",
        "        coordinator.assignment_epoch = coordinator.epoch\n",
        (
            "        if coordinator.epoch % 2 == 0:\n            for m in Member:\n"
            "                coordinator.target[m] = empty\n"
            "        coordinator.assignment_epoch = coordinator.epoch\n"
        ),
        "growing_topic",
    ),
    ("share_group", "who_crashed_is_gone"): (
        "client.yaml",
        '      "client[m].state": CRASHED\n',
        '      "client[m].state": JOINING\n',
        "progress",
    ),
    ("share_group", "only_who_is_assigned_begins"): (
        "state.yaml",
        "not state[p].begun and any(p in client[m].assignment for m in Member)\n",
        "not state[p].begun\n",
        "growing_topic",
    ),
    ("share_group", "only_dead_groups_are_strangers"): (
        "coordinator.yaml",
        "    when: m in coordinator.sessions and not alive(m)\n",
        "    when: m in coordinator.sessions\n",
        "progress_of_lost_heartbeats",
    ),
    ("share_partition", "available_is_given_up_only_when_gone"): (
        "fetch.yaml",
        "        archive_available(first, base)\n",
        "        archive_available(first, base + 1)\n",
        "compaction",
    ),
    ("share_partition", "held_records_stay_held"): (
        "partition.yaml",
        "o < end and record[o].state == AVAILABLE}:\n            archive(o)",
        "o < end and not terminal(record[o].state)}:\n            archive(o)",
        "batches_truncation",
    ),
    ("share_partition", "waiting_fetches_are_answered"): (
        "writes.yaml",
        "          wake()\n      if offers and release_wakes_fetches:\n          wake()\n",
        "          pass\n",
        "progress",
    ),
    ("share_partition", "a_fetch_returns_what_the_log_has"): (
        "fetch.yaml",
        "    when: share.fetch is none and can_acquire() and m not in share.waiting\n",
        "    when: share.fetch is none and active() and m not in share.waiting\n",
        "slow_fetches",
    ),
    ("share_partition", "a_fetch_stops_only_at_the_limit"): (
        "fetch.yaml",
        "        if left > 0 and highest < bound:\n",
        "        if left > 1 and highest < bound:\n",
        "three_records",
    ),
    ("share_partition", "count_is_of_deliveries"): (
        "fetch.yaml",
        "    record[o].delivery_count += 1\n",
        "",
    ),
    ("share_partition", "one_fetch_at_a_time"): (
        "fetch.yaml",
        "    when: share.fetch is none and can_acquire() and m not in share.waiting\n",
        "    when: can_acquire() and m not in share.waiting\n",
        "slow_fetches",
    ),
    ("share_partition", "only_holders_acknowledge"): (
        "acknowledge.yaml",
        "    when: kind != RENEW and active() and accepts(m, o) and",
        "    when: kind != RENEW and active() and record[o].state == ACQUIRED and",
    ),
    ("share_partition", "only_what_is_free_is_acquired"): (
        "fetch.yaml",
        "if available(o) and o >= base and o <= bound}",
        "if o >= base and o <= bound}",
        "three_records",
    ),
    ("share_partition", "requests_for_several_are_obeyed"): (
        "acknowledge.yaml",
        "          begin_transition(o, m, target(kinds[o]))\n",
        "          begin_transition(o, m, target(ACCEPT))\n",
    ),
    ("share_state", "nothing_older_is_stored"): (
        "coordinator.yaml",
        "for o in Slot if o >= start and (o in old or o in new)}",
        "for o in Slot if o in old or o in new}",
        "one_leader",
    ),
}
"""Of properties: a file, a text in it, what stands there instead, and the instance that notices."""

SHARE_WOVEN = {
    ("share_delivery", "default"): {
        "who_leads_has_read": "row leader_cannot_read: `ACTIVE` for `FENCED` in column 29",
    },
    ("share_delivery", "fixed_two_members"): {
        "only_owners_acknowledge": "definition held_by: `entry(e, o).owner == m` taken for true",
    },
    ("share_delivery", "lost_answer"): {
        "a_delivery_ends_once": (
            "definition outranks: `a.count == b.count and state_number(a.state) > "
            "state_number(b.state)` taken for false"
        ),
        "a_transition_has_a_write": (
            "procedure begin_transition: without `send(requests[e], write_of(e, o, true))`"
        ),
        "answers_mean_what_they_say": (
            "procedure begin_transition: `kind == ACCEPT` taken for false"
        ),
        "at_least_once": "definition terminal: `AVAILABLE` for `ARCHIVED` in column 37",
        "delivered_within_the_limit": (
            "definition available: `entry(e, o).state == AVAILABLE` taken for true"
        ),
        "memory_is_the_log": "row read: `read_epoch_is_durable` taken for false",
        "nothing_below_the_start_is_kept": "procedure move_start: without `del leader[e].cache[o]`",
        "only_produced_records_are_delivered": (
            "definition new: `o < partition.end_offset` taken for true"
        ),
    },
    ("share_delivery", "progress"): {
        "members_go_as_they_say": ("row member_leaves: without `member[m].membership = OUT`"),
    },
    ("share_delivery", "reordered_writes"): {
        "the_fenced_give_up": ("row leader_cannot_read: `is_fenced` taken for false"),
    },
    ("share_delivery", "fixed_late_expiry"): {
        "expired_records_wait_for_their_write": (
            "row lock_expires: without "
            "`leader[e].cache[o].written = expired_records_are_offered == at_once`"
        ),
    },
    ("share_delivery", "fixed_moving_coordinator"): {
        "a_load_has_what_was_kept": ("row coordinator_moves: `kept` taken for true"),
    },
    ("share_delivery", "small_window"): {
        "window_is_bounded": (
            "definition new: `o < leader[e].start_offset + in_flight_limit` taken for true"
        ),
    },
    ("share_group", "default"): {
        "assignment_is_balanced": "definition desired: `1` one more",
        "assignment_is_sticky": (
            "procedure revoke_overfilled: `len(held(m, ps)) >= desired(m, ps, ms)`"
        ),
        "current_members_have_their_target": "procedure reconcile: `not wants(m, p)`",
        "every_member_is_watched": "row heartbeat: without `coordinator.sessions.add(m)`",
        "every_partition_is_assigned": ("procedure assign_remaining: `p in coordinator.target[m]`"),
        "everybody_gets_a_share": "definition sharing: `1` one more",
        "first_members_get_the_rest": (
            "procedure assign_remaining: without `coordinator.target[m].add(p)`"
        ),
        "group_state_follows_its_members": (
            "procedure enlist: `coordinator.group == EMPTY` taken for false"
        ),
        "lost_answers_do_not_fence": (
            "row heartbeat_is_fenced: `not epoch_is_valid(m, epoch)` taken for true"
        ),
        "membership_changes_raise_the_group_epoch": "row heartbeat: `changed` taken for false",
        "new_assignment_has_a_new_epoch": (
            "procedure reconcile: without "
            "`coordinator.members[m].epoch = coordinator.assignment_epoch`"
        ),
        "only_members_have_an_assignment": (
            "row heartbeat_is_answered: `client[m].state` goes to `JOINING` for `STABLE`"
        ),
        "only_strangers_are_unknown": (
            "row heartbeat_of_a_stranger: `m not in coordinator.members` taken for true"
        ),
        "only_subscribed_partitions_are_assigned": (
            "definition wants: `topic_of(p) not in coordinator.members[m].topics`"
        ),
        "previous_epoch_is_the_one_before": (
            "procedure reconcile: without "
            "`coordinator.members[m].previous_epoch = coordinator.members[m].epoch`"
        ),
        "sharing_is_even": ("procedure assign_remaining: `len(holders(p)) <= sharing(ps, ms)`"),
        "state_is_as_it_was_asked_for": (
            "row initialise_state: without `state[p].state_epoch = state_epoch`"
        ),
        "subscriptions_are_taken_over": (
            "row heartbeat: without `coordinator.members[m].topics = told_topics`"
        ),
    },
    ("share_group", "fixed_deletion_only"): {
        "what_is_deleted_is_gone": ("procedure forget_state: `0` one more"),
        "a_deleted_group_is_forgotten": "procedure forget_group: without `coordinator.epoch = 0`",
        "epochs_are_ordered": (
            "procedure forget_group: without `coordinator.assignment_epoch = 0`"
        ),
        "group_epoch_only_rises": "procedure forget_group: without `coordinator.group = DEAD`",
        "state_epoch_only_rises": "procedure forget_state: without `state[p].exists = false`",
        "strangers_have_no_target": (
            "procedure fence_member: without `coordinator.target[m] = empty`"
        ),
        "leaves_are_obeyed": (
            "row consumer_leaves: without `call(heartbeats[m], Heartbeat(epoch=-1, topics=none))`"
        ),
    },
    ("share_group", "fixed_deletion_of_offsets"): {
        "only_what_is_there_is_deleted": ("row administrator_deletes_offsets: `len(here) >= 0`"),
        "marks_end_with_the_deletion": ("procedure begin_deletion: `empty` for `topics_to_delete`"),
    },
    ("share_group", "progress"): {
        "who_left_hears_nothing": ("row consumer_crashes: without `close(heartbeats[m])`"),
        "refused_consumers_join_again": (
            "row heartbeat_is_refused: without `client[m].state = JOINING`"
        ),
        "the_group_epoch_rises_for_a_reason": (
            "row heartbeat: `coordinator.assignment_epoch >= coordinator.epoch` taken for true"
        ),
        "gone_consumers_are_removed": "row session_expires: without `fence_member(m)`",
        "joining_consumers_become_members": (
            "row heartbeat_is_answered: `client[m].state` goes to `JOINING` for `STABLE`"
        ),
        "leaves_are_heard": "row leave: the row is missing",
    },
    ("share_group", "progress_of_deletion"): {
        "deletions_end": "row deletion_ends: the row is missing",
    },
    ("share_group", "assignment_interval"): {
        "targets_keep_their_distance": (
            "procedure update_target: `not coordinator.interval` taken for true"
        ),
        "timers_fire_when_they_run": (
            "row assignment_interval_ends: `coordinator.interval` taken for true"
        ),
    },
    ("share_group", "failing_initialisation"): {
        "failures_are_answered": (
            "row initialise_state_fails: without "
            "`answer(p, asker, StateInitialized(state_epoch=state_epoch, done=false))`"
        ),
        "failed_initialisations_are_forgotten": (
            "row partition_is_not_initialised: without `stop_initialising(p)`"
        ),
    },
    ("share_group", "progress_of_changes"): {
        "who_is_subscribed_wants_something": ("row consumer_subscribes: `len(topics_wanted) >= 0`"),
        "answers_tell_what_is_asked": ("row heartbeat: `epoch != before.epoch` taken for true"),
        "nobody_tells_everything_for_nothing": (
            "row consumer_changes_its_subscription: "
            "`topics_wanted != client[m].topics` taken for true"
        ),
    },
    ("share_group", "three_partitions"): {
        "each_member_begins_with_its_own": "procedure assign_remaining: `turn != 1`",
    },
    ("share_group", "fixed_lost_answer"): {
        "groups_begin_with_epoch_2_and_die_by_their_deletion": (
            "procedure enlist: without `coordinator.epoch = 1`"
        ),
        "new_topics_begin_where_the_group_says": (
            "procedure initialise_what_is_new: `topic_of(p) in known` taken for true"
        ),
    },
    ("share_group", "moving_coordinator"): {
        "who_asks_for_deletions_is_answered": (
            "procedure begin_deletion: `0` for `coordinator.incarnation`"
        ),
        "one_deletion_at_a_time": ("row coordinator_moves: without `coordinator.deletion = none`"),
    },
    ("share_group", "growing_topic"): {
        "records_come_before_the_first_fetch": (
            "row record_is_produced_early: `not state[p].produced` taken for true"
        ),
    },
    ("share_group", "fixed_two_heartbeats"): {
        "old_epochs_are_fenced": ("row heartbeat: `epoch_is_valid(m, epoch)` taken for true"),
    },
    ("share_partition", "default"): {
        "acknowledgements_do_what_they_ask": (
            "procedure begin_transition: `target == AVAILABLE` taken for true"
        ),
        "answers_mean_what_they_say": "definition target: `a == RELEASE` taken for false",
        "done_is_done": "procedure end_transitions: `success` taken for false",
        "entries_below_the_start_leave": "procedure move_start: without `forget(o)`",
        "what_is_not_cached_is_nothing": (
            "procedure forget: without `record[o].delivery_count = 0`"
        ),
        "given_up_after_its_deliveries": (
            "procedure give_back: `record[o].delivery_count >= delivery_limit` taken for true"
        ),
        "one_owner": "procedure take: without `record[o].owner = m`",
        "who_holds_a_record_may_renew_it": "row renew: `o > share.start_offset`",
        "what_a_session_held_is_released": "row session_ends: without `give_back(o, true)`",
        "a_lock_that_is_over_gives_its_record_back": (
            "row lock_times_out: without `give_back(k, true)`"
        ),
        "what_was_sent_is_stored": "procedure persist: `o < persisted.start_offset` taken for true",
        "success_ends_transitions": "procedure end_transitions: `success` taken for false",
        "the_start_rests_before_what_is_unfinished": ("row write_succeeds: without `move_start()`"),
        "only_what_is_passed_leaves_the_cache": (
            "procedure move_start: without `share.start_offset = higher`"
        ),
        "entries_are_batches_of_the_log": "procedure take_new: without `entry = o`",
        "what_can_be_fetched_is": "row fetch: `last > next_fetch_offset()`",
        "the_next_fetch_asks_for_what_is_free": (
            "definition available: `record[o].state == AVAILABLE` taken for true"
        ),
        "a_fetch_that_looked_in_vain": (
            "row fetch_finds_nothing: `len(offered()) == 0` taken for true"
        ),
        "deliveries_are_counted": (
            "procedure take: without `record[o].deliveries = min(record[o].deliveries + 1, "
            "delivery_limit + 1)`"
        ),
    },
    ("share_partition", "truncation"): {
        "what_is_gone_is_given_up": (
            "procedure follow_log_start: without "
            "`archive_available(share.start_offset, log.start_offset)`"
        ),
    },
    ("share_partition", "compaction"): {
        "deletions_are_of_the_first_and_cleaning_never_of_the_last": (
            "row record_is_compacted: without `log.compacted.add(k)`"
        ),
        "cleaning_goes_on": "row record_is_compacted: `1` one more",
    },
    ("share_partition", "late_cancels"): {
        "cancelled_expiries_do_nothing": (
            "row lock_times_out: `not (cancelled and (expiry_sees_cancel or not is_cached(o)))` "
            "taken for true"
        ),
        "cancelled_expiries_end": (
            "row cancelled_lock_times_out: `expiry_sees_cancel` taken for false"
        ),
    },
    ("share_partition", "leader_change"): {
        "answers_come_to_who_asked": (
            "row write_of_old_leader_arrives: `not active()` taken for true"
        ),
        "the_window_is_known": (
            "row state_is_read: without "
            "`share.gap = GapWindow(start=min((o for o in missing)), end=share.end_offset)`"
        ),
        "the_gap_is_what_the_state_leaves_out": (
            "row state_is_read: `not is_cached(o)` taken for true"
        ),
        "a_new_leader_knows_nothing": (
            "row leader_changes: without `share.find_next_fetch_offset = false`"
        ),
        "state_is_read_as_written": (
            "row state_is_read: without "
            "`record[o].delivery_count = persisted.batches[o].delivery_count`"
        ),
    },
    ("share_partition", "progress"): {
        "start_follows_the_log": "row fetch_below_the_log: without `follow_log_start()`",
    },
    ("share_partition", "progress_in_a_full_window"): {
        "who_is_woken_can_fetch": (
            "procedure end_with_error: `fetch_would_succeed()` taken for true"
        ),
        "the_last_record_is_acquired": (
            "procedure acquire: without `room = share.end_offset - fetch_offset + 1`"
        ),
    },
    ("share_partition", "slow_fetches"): {
        "fetches_that_take_time_begin_and_end": (
            "row fetch_ends_below_the_log: `share.fetch.offset <= log.start_offset`"
        ),
        "a_slow_fetch_is_its_own": "row fetch_ends_with_nothing: without `share.fetch = none`",
    },
    ("share_partition", "three_deliveries"): {
        "failure_takes_back": (
            "procedure roll_back_transition: without `record[o].owner = record[o].roll_back.owner`"
        ),
        "a_fetch_that_finds_nothing_remembers_it": (
            "procedure nothing_to_find: `true` for `false`"
        ),
        "timers_do_what_they_are_for": (
            "row lock_times_out: without `for k in locked: record[k].expired = true`"
        ),
    },
    ("share_partition", "one_delivery"): {
        "requests_are_written": ("row acknowledge_several: `refused < records` taken for true"),
    },
    ("share_partition", "late_writes"): {
        "a_write_that_was_given_up_can_arrive": "row late_write_arrives: the row is missing",
        "what_is_stored_of_a_delivery_ends_once": (
            "definition rank: `s == ACKNOWLEDGED` taken for true"
        ),
    },
    ("share_partition", "waiting_fetches"): {
        "nobody_who_waits_is_forgotten": ("procedure wake: without `share.woken |= share.waiting`"),
        "who_frees_something_wakes": "row lock_times_out: without `wake()`",
        "who_waits_cannot_fetch": ("row fetch_waits: `not fetch_would_succeed()` taken for true"),
        "only_this_leader_is_answered": (
            "row write_fails: `of_this_leader(leader_epoch)` taken for true"
        ),
        "window_is_bounded": "definition reach: `last - first <= room`",
    },
    ("share_state", "default"): {
        "the_last_delivery_is_not_released": ("row leader_writes: `accept` taken for true"),
        "leaders_know_the_deliveries": (
            "row leader_has_read: without `leader[e].delivered = {o: batches[o].delivery for o in "
            "batches if not batches[o].accept}`"
        ),
        "leaders_know_what_is_acknowledged": (
            "row leader_has_read: without "
            "`leader[e].acknowledged = {o for o in batches if batches[o].accept}`"
        ),
        "leaders_start_where_the_state_is": (
            "row leader_has_read: without `leader[e].start_offset = start_offset`"
        ),
        "leaders_write_what_is_theirs": (
            "row leader_writes: `o >= leader[e].start_offset` taken for true"
        ),
        "only_who_leads_asks": "row leader_reads: `e <= partition.leader_epoch` taken for true",
    },
    ("share_state", "deletion"): {
        "bygone_states_are_not_written": (
            "definition write_is_fenced: `state_epoch != -1 and state_epoch < "
            "coordinator.value.state_epoch` taken for false"
        ),
        "the_group_coordinator_has_the_last_word": (
            "row delete: without `append(tombstone(), none)`"
        ),
    },
    ("share_state", "one_leader"): {
        "a_load_replays_few_updates": (
            "procedure append_change: `coordinator.updates >= updates_per_snapshot` taken for false"
        ),
        "epochs_never_fall": "definition replay: `r.kind == SNAPSHOT` taken for true",
        "memory_is_what_its_records_give": (
            "procedure commit: without `log.value = replay(log.value, record)`"
        ),
    },
    ("share_state", "progress"): {
        "leaders_come_to_know_the_state": "row read: the row is missing",
    },
    ("share_state", "as_in_kafka_confused"): {
        "the_outdated_are_told_that_they_are": ("definition write_is_invalid: `state_epoch <= 0`"),
        "negative_epochs_read_nothing": (
            "definition read_is_invalid: "
            "`negative_epochs_refused and leader_epoch < 0` taken for false"
        ),
    },
    ("share_state", "as_in_kafka_deletion"): {
        "what_is_deleted_is_forgotten": (
            "procedure commit: `record.kind == TOMBSTONE` taken for false"
        ),
        "nobody_asks_for_what_cannot_be": (
            "row group_deletes: `group.state_epoch > 0` taken for true"
        ),
        "deleting_nothing_writes_nothing": (
            "row delete: `coordinator.value.exists` taken for true"
        ),
    },
    ("share_state", "rare_snapshots"): {
        "the_later_delivery_counts": ("definition beats: `not c.accept` without not"),
        "only_a_higher_epoch_is_written_by_a_read": (
            "row read: `e == coordinator.leader_epoch` taken for false"
        ),
        "only_the_fenced_give_up": "row leader_cannot_write: `was_fenced` taken for true",
        "only_who_has_a_successor_is_fenced": (
            "definition read_is_fenced: `leader_epoch <= coordinator.leader_epoch`"
        ),
        "records_carry_what_they_say": "definition update_of: `0` one more",
        "snapshots_come_when_they_are_due": (
            "procedure append_change: `coordinator.updates >= updates_per_snapshot` taken for false"
        ),
        "updates_are_counted_from_what_was_due": (
            "definition replayed_updates: `n >= updates_per_snapshot` taken for true"
        ),
    },
    ("share_state", "three_deliveries"): {
        "no_delivery_is_skipped": "row leader_has_written: `1` one more",
    },
}
"""Of instances: properties, and the mutant that breaks each."""
