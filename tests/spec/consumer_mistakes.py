"""Mistakes in the systems of consumer groups, each with the property that notices it."""

from __future__ import annotations

CONSUMER_SYSTEMS = (
    "classic_consumer",
    "consumer_group_848",
    "consumer_group_migration",
    "consumer_group_replay",
    "consumer_rewrite_09",
)

CONSUMER_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
    ("classic_consumer", "an_unknown_id_is_dropped_and_no_other"): (
        "user.yaml",
        "    if not keep_id:\n",
        "    if keep_id:\n",
    ),
    ("classic_consumer", "a_restart_moves_nothing"): (
        "statics.yaml",
        "        coordinator.assignment[m] = coordinator.assignment[k]\n",
        "",
        "static_restart",
    ),
    ("classic_consumer", "one_member_of_an_instance"): (
        "statics.yaml",
        "len(member_with_instance_of(c)) == 0 and",
        "",
        "static_restart",
    ),
    ("classic_consumer", "a_given_id_is_joined_with"): (
        "responses.yaml",
        "      client[c].member = m\n      client[c].generation = 0\n",
        "      client[c].generation = 0\n",
    ),
    ("classic_consumer", "an_assigned_client_rests"): (
        "responses.yaml",
        "      client[c].rejoin_needed = false\n      client[c].received = assigned",
        "      client[c].received = assigned",
    ),
    ("classic_consumer", "who_leaves_says_so"): (
        "user.yaml",
        "if connected(c) and client[c].state != UNJOINED and",
        "if connected(c) and client[c].state == UNJOINED and",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "a_former_coordinator_changes_nothing"): (
        "coordinator.yaml",
        (
            "is_here(place) and not is_static(c) and not has_older_requests(c, connection)\n"
            "    do: |\n      m = fresh"
        ),
        "not is_static(c) and not has_older_requests(c, connection)\n    do: |\n      m = fresh",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "an_answered_commit_is_over"): (
        "user.yaml",
        "    if preparing and client[c].commit == SENT:\n",
        "    if preparing and client[c].commit == FAILED:\n",
        "auto_commit",
    ),
    ("classic_consumer", "shares_are_equal"): (
        "assignor.yaml",
        "require(is_balanced(client[c].plan, claims) and keeps",
        "require(keeps",
    ),
    ("classic_consumer", "a_preparation_waits_for_its_commit"): (
        "user.yaml",
        "client[c].thread == PREPARES and client[c].commit == SUCCEEDED",
        "client[c].thread == PREPARES",
        "auto_commit",
    ),
    ("classic_consumer", "an_unfinished_preparation_goes_on"): (
        "user.yaml",
        "      client[c].prepare_needed = true\n      client[c].thread = POLLS",
        "      client[c].thread = POLLS",
        "auto_commit",
    ),
    ("classic_consumer", "a_commit_is_over_before_the_callback"): (
        "user.yaml",
        "  give_up(c): |\n    client[c].commit = ABSENT\n",
        "  give_up(c): |\n",
        "auto_commit",
    ),
    ("classic_consumer", "a_preparation_ends_with_a_join"): (
        "user.yaml",
        "      client[c].withheld = false\n      client[c].thread = JOINS\n      drop(",
        "      client[c].thread = POLLS\n      drop(",
    ),
    ("classic_consumer", "a_timeout_ends_the_wait"): (
        "user.yaml",
        "    do: give_up(c)\n    fault: slow_commit",
        "    do: client[c].withheld = false\n    fault: slow_commit",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "a_join_is_sent_or_has_failed"): (
        "user.yaml",
        "          client[c].join = FAILED\n      else:",
        "          client[c].join = SENT\n      else:",
        "lost_connection",
    ),
    ("classic_consumer", "whoever_has_closed_waits_for_nothing"): (
        "user.yaml",
        "    client[c].join = ABSENT\n    client[c].commit = ABSENT\n    client[c].received",
        "    client[c].commit = ABSENT\n    client[c].received",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "a_fenced_client_forgets_its_generation"): (
        "user.yaml",
        "    client[c].rejoin_needed = true\n    if prepare_again_after_reset",
        "    if prepare_again_after_reset",
    ),
    ("classic_consumer", "a_coordinator_is_forgotten_for_a_reason"): (
        "responses.yaml",
        "COORDINATOR_NOT_AVAILABLE}\n    do: forget_coordinator(c)",
        "COORDINATOR_NOT_AVAILABLE, UNKNOWN_MEMBER_ID}\n    do: forget_coordinator(c)",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "what_is_claimed_is_given_to_nobody_else"): (
        "assignor.yaml",
        "disputed(p, claims) or not honours(m, p, claims)",
        "disputed(p, claims) and not honours(m, p, claims)",
        "cooperative",
    ),
    ("classic_consumer", "a_lone_claim_is_kept"): (
        "assignor.yaml",
        "any(a != b and p in claims[a].owned",
        "any(p in claims[a].owned",
        "cooperative",
    ),
    ("classic_consumer", "whoever_waits_is_not_removed"): (
        "coordinator.yaml",
        "      and m not in coordinator.parked_join and m not in coordinator.parked_sync\n",
        "",
    ),
    ("classic_consumer", "whoever_goes_is_gone"): (
        "coordinator.yaml",
        "    del coordinator.members[m]\n    if m in coordinator.instances:",
        "    if m in coordinator.instances:",
    ),
    ("classic_consumer", "a_group_is_served_where_it_is_loaded"): (
        "coordinator.yaml",
        "      coordinator.phase = AWAY\n",
        "      coordinator.phase = LOADING\n      create(coordinator.group, Empty)\n",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "a_coordinator_loads_before_it_serves"): (
        "coordinator.yaml",
        "      coordinator.members = log.members\n",
        "",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "a_search_finds_what_there_is"): (
        "lookup.yaml",
        "    when: coordinator.phase == AWAY\n    do: reply(call",
        "    when: coordinator.phase != ACTIVE\n    do: reply(call",
        "alone_with_a_moving_coordinator",
    ),
    ("classic_consumer", "the_application_knows_what_is_owned"): (
        "user.yaml",
        "        tell_assigned(c, added)\n",
        "",
    ),
    ("classic_consumer", "claims_are_of_what_it_has"): (
        "user.yaml",
        "claim=Claim(owned=client[c].owned if protocol == cooperative else empty",
        "claim=Claim(owned={p for p in Partition}",
    ),
    ("classic_consumer", "a_member_is_told_what_the_leader_gave"): (
        "coordinator.yaml",
        "assigned=coordinator.assignment.get(m, empty) if e == NONE else empty",
        "assigned=empty",
    ),
    ("classic_consumer", "a_stable_group_serves_every_partition"): (
        "coordinator.yaml",
        "{k: assignment.get(k, empty) for k in coordinator.members}",
        "{k: assignment.get(m, empty) for k in coordinator.members}",
    ),
    ("classic_consumer", "a_partition_given_to_nobody_is_on_its_way"): (
        "user.yaml",
        "      client[c].rejoin_needed = true\n      apply_assignment(c)",
        "      apply_assignment(c)",
        "cooperative",
    ),
    ("classic_consumer", "unjoined_client_will_rejoin"): (
        "user.yaml",
        "    client[c].rejoin_needed = true\n    if prepare_again_after_reset",
        "    if prepare_again_after_reset",
    ),
    ("classic_consumer", "whoever_waits_is_waited_for"): (
        "coordinator.yaml",
        "reply(coordinator.parked_sync[m], sync_answer(REBALANCE_IN_PROGRESS, m))",
        "pass",
    ),
    ("classic_consumer", "an_accepted_commit_is_the_owners"): (
        "coordinator.yaml",
        "not waits_behind_sync(c, connection) and fence(c, m, generation) == NONE\n    do",
        "not waits_behind_sync(c, connection)\n    do",
        "commits_in_flight",
    ),
    ("classic_consumer", "nobody_commits_between_join_and_sync"): (
        "user.yaml",
        "      client[c].state: STABLE\n    when: >-\n",
        "      client[c].state: [COMPLETING_REBALANCE, STABLE]\n    when: >-\n",
        "commits_in_flight",
    ),
    ("classic_consumer", "every_partition_is_consumed_in_the_end"): (
        "user.yaml",
        "      client[c].rejoin_needed = true\n      apply_assignment(c)",
        "      apply_assignment(c)",
        "progress",
    ),
    ("consumer_group_848", "no_epoch_is_overwritten"): (
        "assignment.yaml",
        "coordinator.partition_epochs[p] == member[m].epoch",
        "coordinator.partition_epochs[p] != member[m].epoch",
        "default",
    ),
    ("consumer_group_848", "epochs_are_ordered"): (
        "assignment.yaml",
        "coordinator.assignment_epoch = coordinator.epoch",
        "coordinator.assignment_epoch = coordinator.epoch + 1",
        "default",
    ),
    ("consumer_group_848", "group_epoch_only_rises"): (
        "coordinator.yaml",
        "coordinator.epoch += 1\n    update",
        "coordinator.epoch -= 1\n    update",
        "leaving",
    ),
    ("consumer_group_848", "member_epoch_only_rises"): (
        "assignment.yaml",
        "member[m].epoch = epoch\n",
        "member[m].epoch = epoch if epoch < 4 else 2\n",
        "default",
    ),
    ("consumer_group_848", "consumer_epoch_only_rises"): (
        "client.yaml",
        "client[m].epoch = epoch\n",
        "client[m].epoch = epoch if epoch < 4 else 2\n",
        "default",
    ),
    ("consumer_group_848", "membership_changes_raise_the_group_epoch"): (
        "coordinator.yaml",
        "coordinator.epoch += 1\n    update",
        "update",
        "leaving",
    ),
    ("consumer_group_848", "stable_group_is_settled"): (
        "coordinator.yaml",
        "elif all(is_reconciled(m)",
        "elif any(is_reconciled(m)",
        "default",
    ),
    ("consumer_group_848", "group_state_follows_its_members"): (
        "coordinator.yaml",
        "now = EMPTY",
        "now = RECONCILING",
        "leaving",
    ),
    ("consumer_group_848", "strangers_have_no_target"): (
        "coordinator.yaml",
        "coordinator.target[p] == m:",
        "coordinator.target[p] != m:",
        "leaving",
    ),
    ("consumer_group_848", "an_instance_is_one_member"): (
        "coordinator.yaml",
        "    forget_member(old)",
        "    pass",
        "static_members",
    ),
    ("consumer_group_848", "fenced_members_come_back"): (
        "client.yaml",
        "client[m].stage != assigning and not client[m].dead\n    do",
        "client[m].stage == revoking and not client[m].dead\n    do",
        "fencing",
    ),
    ("consumer_group_848", "strangers_leave_nothing"): (
        "coordinator.yaml",
        "    member[m].topics = empty\n    member[m].assigned",
        "    member[m].assigned",
        "static_members",
    ),
    ("consumer_group_848", "a_revocation_has_a_deadline"): (
        "assignment.yaml",
        "        if state == UNREVOKED_PARTITIONS:\n",
        "        if state == UNRELEASED_PARTITIONS:\n",
        "older_coordinator",
    ),
    ("consumer_group_848", "what_is_reconciled_is_not_reconciled_again"): (
        "client.yaml",
        "          if not client[m].reconciled:\n",
        "          if client[m].epoch == epoch:\n",
        "static_members",
    ),
    ("consumer_group_848", "who_does_not_poll_stays_out"): (
        "client.yaml",
        "polling and not client[m].dead and client[m].stage != assigning and line_is_free(m)",
        "stage != assigning and line_is_free(m)",
        "hanging_alone",
    ),
    ("consumer_group_848", "who_is_back_is_not_away"): (
        "coordinator.yaml",
        "        member[m].epoch = 0\n        member[m].previous_epoch = 0\n",
        "        member[m].previous_epoch = 0\n",
        "static_members",
    ),
    ("consumer_group_848", "refusals_are_true"): (
        "coordinator.yaml",
        (
            "      elif holder_of(instance) != m:\n"
            "          reply(call, HeartbeatFailed(error=FENCED_INSTANCE_ID))"
        ),
        (
            "      elif holder_of(instance) != m:\n"
            "          reply(call, HeartbeatFailed(error=UNKNOWN_MEMBER_ID))"
        ),
        "static_members",
    ),
    ("consumer_group_848", "a_join_tells_everything"): (
        "client.yaml",
        "    client[m].state == JOINING or (not",
        "    client[m].state == UNSUBSCRIBED or (not",
        "hanging_alone",
    ),
    ("consumer_group_848", "callbacks_run_in_poll"): (
        "reconciliation.yaml",
        '      "client[m].stage": assigning\n    when: client[m].polling and not',
        '      "client[m].stage": assigning\n    when: not',
        "hanging_alone",
    ),
    ("consumer_group_848", "a_leave_that_nothing_hinders_goes_out"): (
        "client.yaml",
        "      if leave_is_always_sent or not client[m].waiting:\n",
        "      if client[m].waiting:\n",
        "kafka_16639",
    ),
    ("consumer_group_migration", "what_is_given_up_is_not_assigned"): (
        "consumer.yaml",
        "        member[m].assigned = keep\n        member[m].pending = revoke\n",
        "        member[m].pending = revoke\n",
    ),
    ("consumer_group_migration", "targets_are_members"): (
        "conversion.yaml",
        "    for p in targeted_to(m):\n        del coordinator.target[p]\n",
        "    for p in empty & targeted_to(m):\n        del coordinator.target[p]\n",
    ),
    ("consumer_group_migration", "a_group_without_members_is_empty"): (
        "classic.yaml",
        "    prepare()\n    if nobody_is_there():\n",
        "    prepare()\n    if nobody_is_there() and coordinator.epoch == 0:\n",
    ),
    ("consumer_group_migration", "who_settles_was_told_to"): (
        "clients.yaml",
        "stage = BUSY\n      client[m].waiting = true\n      call(calls[m], Consumer",
        "stage = SETTLED\n      client[m].waiting = true\n      call(calls[m], Consumer",
    ),
    ("consumer_group_migration", "who_joins_waits_for_an_answer"): (
        "clients.yaml",
        "      if client[m].stage == BUSY:\n",
        "      if client[m].stage == OUT:\n",
        "lost_requests",
    ),
    ("consumer_group_migration", "sessions_end_for_those_who_are_gone"): (
        "consumer.yaml",
        "when: not is_classic() and is_member(m) and is_silent(m)\n",
        "when: not is_classic() and not is_up(m) and client[m].stage == GONE\n",
        "lost_requests",
    ),
    ("consumer_group_migration", "a_lost_answer_fences_nobody"): (
        "consumer.yaml",
        "epoch == member[m].epoch or epoch == member[m].previous and owned <= member[m].assigned",
        "epoch == member[m].epoch and len(owned) >= 0",
        "lost_requests",
    ),
    ("consumer_group_migration", "a_static_member_that_leaves_is_waited_for"): (
        "consumer.yaml",
        "          if client[m].static:\n",
        "          if client[m].static and member[m].protocol == CLASSIC:\n",
        "static_member",
    ),
    ("consumer_group_migration", "a_request_meets_one_row"): (
        "classic.yaml",
        " and not is_stranger(m) and not is_outdated(m, epoch)\n    do: |\n      if coord",
        " and not is_outdated(m, epoch)\n    do: |\n      if coord",
        "lost_requests",
    ),
    ("consumer_group_migration", "who_is_behind_is_told_to_rejoin"): (
        "consumer.yaml",
        "if is_behind(m) and member[m].state != UNREVOKED_PARTITIONS:",
        "if is_behind(m) and member[m].state == UNRELEASED_PARTITIONS:",
    ),
    ("consumer_group_migration", "an_id_is_asked_for_everywhere"): (
        "conversion.yaml",
        "      if needs_id(m, false):\n",
        "      if needs_id(m, true):\n",
        "member_ids",
    ),
    ("consumer_group_migration", "requests_say_what_is_so"): (
        "clients.yaml",
        "generation=client[m].epoch if len(client[m].owned) > 0 else 0))",
        "generation=client[m].epoch))",
        "lost_requests",
    ),
    ("consumer_group_migration", "a_leave_is_answered"): (
        "classic.yaml",
        "          remove_from_classic(m)\n      reply(call, LeaveDone())\n",
        "          remove_from_classic(m)\n          reply(call, LeaveDone())\n",
        "default",
    ),
    ("consumer_group_migration", "strangers_have_nothing"): (
        "classic.yaml",
        "    claim(m, empty, 0)\n    member[m].is_new = false\n",
        "    member[m].is_new = false\n",
    ),
    ("consumer_group_migration", "who_did_not_join_is_no_member"): (
        "classic.yaml",
        "m not in coordinator.parked_join and not client[m].static:\n",
        "m not in coordinator.parked_join and not client[m].static and not client[m].named:\n",
        "lost_requests",
    ),
    ("consumer_group_migration", "somebody_asks_for_the_assignment"): (
        "classic.yaml",
        "when: len(coordinator.parked_sync) > 0\n",
        "when: not nobody_is_there()\n",
    ),
    ("consumer_group_migration", "a_classic_group_has_no_target"): (
        "conversion.yaml",
        "    coordinator.assignment_epoch = 0\n",
        "",
    ),
    ("consumer_group_migration", "a_settled_group_goes_on_when_its_last_consumer_is_replaced"): (
        "conversion.yaml",
        "member[k].epoch == coordinator.epoch\n",
        "member[k].epoch < coordinator.epoch\n",
        "static_member",
    ),
    ("consumer_group_migration", "some_errors_end_a_consumer"): (
        "clients.yaml",
        "    error in {GROUP_ID_NOT_FOUND, INCONSISTENT_GROUP_PROTOCOL, FENCED",
        "    error in {GROUP_ID_NOT_FOUND, FENCED",
        "disabled",
    ),
    ("consumer_group_migration", "one_heartbeat_at_a_time"): (
        "clients.yaml",
        "      client[m].waiting = true\n      if client[m].protocol == CLASSIC:\n",
        "      if client[m].protocol == CLASSIC:\n",
    ),
    ("consumer_group_migration", "given_to_nobody_that_must_wait"): (
        "consumer.yaml",
        "p for p in targeted_to(m) - keep if not is_held_by_another(p, m)",
        "p for p in targeted_to(m) - keep",
    ),
    ("consumer_group_migration", "held_partitions_are_disjoint"): (
        "consumer.yaml",
        "p for p in targeted_to(m) - keep if not is_held_by_another(p, m)",
        "p for p in targeted_to(m) - keep",
    ),
    ("consumer_group_migration", "a_conversion_keeps_the_members"): (
        "conversion.yaml",
        "            create(member[m].state, STABLE)\n",
        "            create(member[m].state, STABLE)\n            member[m].protocol = none\n",
    ),
    ("consumer_group_migration", "an_upgrade_keeps_the_assignment"): (
        "conversion.yaml",
        "            claim(m, empty, 0)\n",
        "            member[m].assigned = empty\n",
    ),
    ("consumer_group_migration", "a_conversion_knows_what_members_have"): (
        "conversion.yaml",
        "            claim(m, empty, 0)\n",
        "            member[m].assigned = empty\n",
    ),
    ("consumer_group_migration", "a_downgrade_keeps_the_generation"): (
        "conversion.yaml",
        "            member[m].epoch = coordinator.epoch\n            member[m].state = NOT",
        "            member[m].state = NOT",
    ),
    ("consumer_group_migration", "consumers_make_a_consumer_group"): (
        "conversion.yaml",
        "            and all(member[k].protocol == CLASSIC for k in Member if is_member(k))):\n",
        "            ):\n",
    ),
    ("consumer_group_migration", "a_downgrade_without_a_rebalance_moves_nothing"): (
        "conversion.yaml",
        "downgrade(is_stale or replacement_waits_for_others and not all_have_settled())",
        "downgrade(is_stale)",
        "static_member",
    ),
    ("consumer_group_migration", "the_outdated_are_told_so"): (
        "consumer.yaml",
        " and not is_outdated(m, epoch)\n    do: |\n      if is_behind",
        "\n    do: |\n      if is_behind",
        "lost_requests",
    ),
    ("consumer_group_migration", "an_unknown_id_is_dropped_and_no_other"): (
        "clients.yaml",
        "      if error == UNKNOWN_MEMBER_ID:\n",
        "      if error == FENCED_MEMBER_EPOCH:\n",
        "member_ids",
    ),
    ("consumer_group_migration", "whoever_waits_is_waited_for"): (
        "clients.yaml",
        "    client[m].waiting = false\n    client[m].stage = OUT if gives_up",
        "    client[m].stage = OUT if gives_up",
    ),
    ("consumer_group_migration", "who_must_wait_waits_for_somebody"): (
        "consumer.yaml",
        "len(targeted_to(m) - keep) > len(free)",
        "len(targeted_to(m) - keep) >= len(free)",
    ),
    ("consumer_group_migration", "a_consumer_group_waits_for_no_issued_id"): (
        "conversion.yaml",
        "        member[m].issued = false\n",
        "        pass\n",
        "member_ids",
    ),
    ("consumer_group_migration", "a_static_consumer_that_left_can_be_replaced"): (
        "consumer.yaml",
        "              step_away(m)\n",
        "              pass\n",
        "static_member",
    ),
    ("consumer_group_migration", "one_member_of_an_instance"): (
        "consumer.yaml",
        "    forget(old)\n",
        "    pass\n",
        "static_member",
    ),
    ("consumer_group_migration", "a_static_member_returns_to_what_it_had"): (
        "classic.yaml",
        "    member[m].assigned = assigned\n",
        "    pass\n",
        "static_member",
    ),
    ("consumer_group_migration", "a_static_member_returns_to_its_target"): (
        "consumer.yaml",
        "        coordinator.target[p] = m\n    member",
        "        del coordinator.target[p]\n    member",
        "static_member",
    ),
    ("consumer_group_migration", "epochs_only_rise"): (
        "conversion.yaml",
        "    coordinator.assignment_epoch = 0\n",
        "    coordinator.assignment_epoch = 0\n    coordinator.epoch = 0\n",
    ),
    ("consumer_group_migration", "an_empty_group_is_at_its_target"): (
        "consumer.yaml",
        "        coordinator.assignment_epoch = coordinator.epoch\n",
        "        coordinator.assignment_epoch = coordinator.epoch - 1\n",
    ),
    ("consumer_group_migration", "members_are_not_ahead"): (
        "consumer.yaml",
        "        member[m].epoch = coordinator.assignment_epoch\n",
        "        member[m].epoch = coordinator.assignment_epoch + 1\n",
    ),
    ("consumer_group_migration", "a_classic_member_is_told_its_own"): (
        "classic.yaml",
        "epoch=coordinator.epoch, partitions=member[m].assigned",
        "epoch=coordinator.epoch, partitions=member[m].claims",
    ),
    ("consumer_group_replay", "the_same_group_is_loaded"): (
        "loader.yaml",
        "            del loader.group.members[m]",
        "            pass",
        "one_member",
    ),
    ("consumer_group_replay", "the_owner_is_loaded"): (
        "loader.yaml",
        "        if loader.group.owner_epoch == loader.group.members[m].epoch:",
        "        if loader.group.owner_epoch > 0:",
        "default",
    ),
    ("consumer_group_replay", "a_loaded_classic_group_is_as_written"): (
        "loader.yaml",
        "loader.group.type = classic_group\n        loader.group.epoch = r.number",
        "loader.group.type = classic_group\n        loader.group.epoch = 1",
        "conversions",
    ),
    ("consumer_group_replay", "a_membership_raises_the_epoch"): (
        "writer.yaml",
        "      bury_member(m)\n      live.clock += 1\n      live.group.epoch = live.clock\n",
        "      bury_member(m)\n      live.clock += 1\n",
        "one_member",
    ),
    ("consumer_group_replay", "what_a_member_wants_is_in_the_log"): (
        "writer.yaml",
        "= consumer_group\n      append(member_metadata, m, true, 0, false)\n",
        "= consumer_group\n      append(current_assignment, m, true, 0, false)\n",
        "conversions",
    ),
    ("consumer_group_replay", "a_group_that_is_gone_leaves_nothing"): (
        "loader.yaml",
        "    loader.group.type = absent\n    loader.group.epoch = 0\n",
        "    loader.group.type = absent\n",
        "conversions",
    ),
    ("consumer_group_replay", "a_record_says_what_its_kind_says"): (
        "writer.yaml",
        "    append(current_assignment, m, false, 0, false)\n",
        "    append(current_assignment, m, false, 1, false)\n",
        "one_member",
    ),
    ("consumer_group_replay", "each_change_has_the_next_epoch"): (
        "writer.yaml",
        "      bury_member(m)\n      live.clock += 1\n",
        "      bury_member(m)\n      live.clock += 2\n",
        "one_member",
    ),
    ("consumer_group_replay", "an_append_is_a_batch"): (
        "writer.yaml",
        "      begin_batch()\n      append(group, none, false, 0, false)\n",
        "      append(group, none, false, 0, false)\n",
        "one_member",
    ),
    ("consumer_group_replay", "a_group_is_simple_by_an_offset_only"): (
        "loader.yaml",
        "    loader.group.type = absent\n",
        "    loader.group.type = simple\n",
        "one_member",
    ),
    ("consumer_group_replay", "who_has_only_subscribed_holds_nothing"): (
        "loader.yaml",
        "members:\n            loader.group.members[m] = MemberState(epoch=0, holds=false)",
        "members:\n            loader.group.members[m] = MemberState(epoch=0, holds=true)",
        "one_member",
    ),
    ("consumer_group_replay", "offsets_of_a_classic_group_are_its_members"): (
        "writer.yaml",
        "live.group.type in {absent, simple, consumer_group}",
        "true",
        "offsets_of_each_type",
    ),
    ("consumer_group_replay", "a_commit_makes_a_simple_group_of_nothing_only"): (
        "writer.yaml",
        "      if live.group.type == absent:\n          live.group.type = simple\n",
        "      live.group.type = simple\n",
        "offsets",
    ),
    ("consumer_group_replay", "a_load_has_something_to_read"): (
        "loader.yaml",
        "not loader.loading and len(log.written) > 0",
        "not loader.loading",
        "one_member",
    ),
    ("consumer_group_replay", "who_loads_has_taken_over"): (
        "writer.yaml",
        "not loader.loading and live.clock",
        "live.clock",
        "one_member",
    ),
    ("consumer_group_replay", "a_pass_takes_something_away"): (
        "writer.yaml",
        "i not in log.cleaned and not log.written[i].value",
        "not log.written[i].value",
        "one_member",
    ),
    ("consumer_group_replay", "a_partition_is_given_in_a_change_of_its_own"): (
        "writer.yaml",
        'settle(m, false)\n    actor: coordinator\n    source: "GroupMetadataManager.convertTo',
        'settle(m, true)\n    actor: coordinator\n    source: "GroupMetadataManager.convertTo',
        "conversions",
    ),
    ("consumer_group_replay", "the_live_group_has_one_owner"): (
        "writer.yaml",
        "m in live.group.members and not is_held()",
        "m in live.group.members and not live.group.members[m].holds",
        "default",
    ),
    ("consumer_rewrite_09", "a_refusal_says_why"): (
        "coordinator.yaml",
        "not consumer[c].with_former\n    do: reply(call, Refused(error=STARTUP_NOT_COMPLETE))\n",
        "not consumer[c].with_former\n    do: reply(call, Refused(error=UNKNOWN_CONSUMER))\n",
        "option_1a_closes_rediscovery",
    ),
    ("consumer_rewrite_09", "who_failed_is_no_member"): (
        "fetchers.yaml",
        "    coordinator.members.remove(i)\n",
        "    pass\n",
        "option_1c",
    ),
    ("consumer_rewrite_09", "who_is_heard_waits"): (
        "coordinator.yaml",
        "      call.open and hears(c) and coordinator.state in {READY, STEADY} and id",
        "      hears(c) and coordinator.state in {READY, STEADY} and id",
        "lost_connection",
    ),
    ("consumer_rewrite_09", "who_is_down_answers_nobody"): (
        "coordinator.yaml",
        "    when: call.open and serves() and id is not none and id not in coordinator.members\n",
        "    when: call.open and id is not none and id not in coordinator.members\n",
        "option_1a_closes_rediscovery",
    ),
    ("consumer_rewrite_09", "a_good_commit_is_written"): (
        "coordinator.yaml",
        "                 and coordinator.state != REBALANCING)\n",
        "                 and coordinator.state == REBALANCING)\n",
        "slow_consumer",
    ),
    ("consumer_rewrite_09", "who_asks_waits"): (
        "fetchers.yaml",
        "generation=consumer[c].generation))\n      consumer[c].waiting = true\n",
        "generation=consumer[c].generation))\n",
        "option_1c",
    ),
    ("consumer_rewrite_09", "who_lost_its_coordinator_has_none"): (
        "consumer.yaml",
        "    consumer[c].with_former = false\n",
        "    pass\n",
        "option_2a_fences_the_deposed",
    ),
    ("consumer_rewrite_09", "a_deposed_coordinator_lets_its_own_go"): (
        "placement.yaml",
        "          if consumer[c].with_former:\n              lose_coordinator(c)\n",
        "          lose_coordinator(c)\n",
        "option_2a_fences_the_deposed",
    ),
    ("consumer_rewrite_09", "all_members_are_asked"): (
        "fetchers.yaml",
        "              send(orders[coordinator.line[i]], StartFetcher(",
        "              if i == coordinator.owner: send(orders[coordinator.line[i]], StartFetcher(",
        "option_1b",
    ),
    ("consumer_rewrite_09", "a_rebalance_is_for_another_owner"): (
        "fetchers.yaml",
        "      if coordinator.owner != zookeeper.owner:\n",
        "      if true:\n",
        "option_1b",
    ),
    ("consumer_rewrite_09", "all_have_answered"): (
        "fetchers.yaml",
        "      coordinator.state: REBALANCING\n    when: len(coordinator.awaited) == 0\n",
        "      coordinator.state: REBALANCING\n    when: len(coordinator.awaited) <= 1\n",
        "option_1b",
    ),
    ("consumer_rewrite_09", "one_consumer_fetches_in_a_generation"): (
        "coordinator.yaml",
        "owns=coordinator.owner == i",
        "owns=true",
    ),
    ("consumer_rewrite_09", "generation_is_zookeepers"): (
        "coordinator.yaml",
        "      zookeeper.generation = coordinator.generation\n",
        "",
    ),
    ("consumer_rewrite_09", "generation_only_rises"): (
        "coordinator.yaml",
        "coordinator.generation = zookeeper.generation",
        "coordinator.generation = 0",
        "failover",
    ),
    ("consumer_rewrite_09", "who_is_told_to_stop_stops"): (
        "consumer.yaml",
        "      consumer[c].fetching = false\n      consumer[c].state = BLOCKED\n",
        "      consumer[c].state = BLOCKED\n",
        "forgotten_ids",
    ),
    ("consumer_rewrite_09", "who_is_down_has_nothing"): (
        "consumer.yaml",
        "      consumer[c].owned = false\n      consumer[c].state = DOWN\n",
        "      consumer[c].state = DOWN\n",
        "option_1c",
    ),
    ("consumer_rewrite_09", "nobody_waits_for_a_dead_coordinator"): (
        "consumer.yaml",
        (
            "not consumer[c].waiting and coordinator.state != DOWN and line_is_free(c)\n"
            "    do: |\n      call(requests_to_coordinator[c], JoinGroup"
        ),
        (
            "not consumer[c].waiting and line_is_free(c)\n"
            "    do: |\n      call(requests_to_coordinator[c], JoinGroup"
        ),
    ),
    ("consumer_rewrite_09", "a_rebalance_has_a_cause"): (
        "coordinator.yaml",
        "      if coordinator.state == READY:\n          coordinator.state = STEADY\n",
        (
            "      if coordinator.state == READY:\n"
            "          coordinator.state = PREPARE_FOR_REBALANCE\n"
        ),
        "option_1a_closes_rediscovery",
    ),
    ("consumer_rewrite_09", "only_a_coordinator_that_reads_is_not_ready"): (
        "coordinator.yaml",
        "call.open and coordinator.state == CATCH_UP and not consumer[c].with_former",
        "call.open and not consumer[c].with_former",
    ),
}
