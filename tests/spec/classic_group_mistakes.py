"""Mistakes in classic_group, each with the property that notices it.

Its machine takes long to compile. So most mistakes are mutants that are woven into one machine for
each instance; the others are texts that are replaced by other ones, like those of every system.
"""

from __future__ import annotations

CLASSIC_GROUP_WOVEN: dict[str, dict[str, str]] = {
    "rebalances_end": {
        "a_client_that_must_rejoin_joins": "row client_poll_sends_join: the row is missing",
        "a_live_client_is_served": "row client_sync_response_ok: the row is missing",
        "a_pending_id_joins_or_goes": "definition attended: `told(m, c)` taken for true",
        "joins_are_taken": (
            "row coordinator_join_known_unchanged_in_completing: the row is missing"
        ),
        "clients_say_what_is_so": "row client_poll_sends_join: `none` for `client[c].member`",
        "empty_group_has_no_members": "procedure rebalance: without `prepare_rebalance()`",
        "generation_moves_by_one": "procedure next_generation: `1` one more",
        "the_forgotten_wait_no_more_than_their_clients": (
            "procedure park_join: without `forget_closed_calls()`"
        ),
        "one_heartbeat_at_a_time": (
            "row client_heartbeat_is_sent: `not heartbeat_under_way(c)` taken for true"
        ),
        "sets_belong_to_their_phase": (
            "procedure next_generation: without `coordinator.new = empty`"
        ),
    },
    "one_client_settles_after_a_failover": {
        "a_parked_request_is_answered": "procedure complete_join: `0` one more (2)",
        "commit_answers_are_true": (
            "row coordinator_commit_accepted: `INCONSISTENT_GROUP_PROTOCOL` for `NONE` in column 40"
        ),
        "dead_group_holds_nothing": "procedure reset_group: without `coordinator.timers = empty`",
        "empty_group_is_in_the_log": (
            "row coordinator_load: `len(log.record.members) > 0` taken for false"
        ),
        "failover_restores_what_was_written": (
            "row coordinator_load: without `coordinator.leader = log.record.leader`"
        ),
        "group_dies_only_with_its_coordinator": (
            "row coordinator_append_assignment_ok: `coordinator.group` goes to `Dead` for `Stable`"
        ),
        "heartbeat_answers_are_true": (
            "row coordinator_heartbeat_in_stable: `MEMBER_ID_REQUIRED` for `NONE` in column 43"
        ),
        "log_is_not_ahead": "row coordinator_load: `len(append_group) != 0`",
        "requests_are_taken": "row coordinator_join_in_dead: the row is missing",
        "stable_generation_is_in_the_log": (
            "row coordinator_append_assignment_ok: without `store(record)`"
        ),
        "timers_remove_their_own_member": (
            "procedure complete_join: `m in coordinator.parked_join`"
        ),
    },
    "one_static_client_settles": {
        "a_created_group_is_written": (
            "procedure create_group: without `start(append_group(record=empty_record(), "
            "purpose=CREATION, replaced=none, replacing=cr...`"
        ),
        "a_rebalance_keeps_static_members": (
            "procedure complete_join: `not is_static(m)` taken for true"
        ),
        "a_silent_member_is_removed": "row coordinator_member_timer_expires: the row is missing",
        "an_outdated_append_changes_nothing": (
            "row coordinator_append_assignment_failed: "
            "`record.generation == coordinator.generation` taken for true"
        ),
        "assignment_is_being_written": (
            "row coordinator_append_assignment_ok: without `coordinator.group = Stable`"
        ),
        "client_knows_what_it_is": "procedure stop: without `client[c].owned = false`",
        "leader_is_a_member": "procedure replace_member: without `coordinator.leader = m`",
        "member_sets_agree": "procedure forget: without `coordinator.new.discard(m)`",
        "members_come_and_go_as_they_say": "procedure expire: without `forget({m})`",
        "only_current_members_hear_that_all_is_well": (
            "row coordinator_heartbeat_in_completing: "
            "`fence_error(m, call.client, generation) == NONE` taken for true"
        ),
        "only_leavers_and_the_overtaken_are_forgotten": (
            "row coordinator_sync_in_stable: without "
            "`reply(call, SyncResponse(error=NONE, assigned=coordinator.owner == m))`"
        ),
        "phase_waits_for_everyone": (
            "row coordinator_append_assignment_ok: without `coordinator.group = Stable`"
        ),
        "processes_start_where_one_has_died": (
            "row client_restarts: `client[c].process == crashed` taken for true"
        ),
        "static_ids_are_members": ("procedure replace_member: without `coordinator.static[i] = m`"),
        "sync_answers_are_true": "row coordinator_append_assignment_ok: `m != record.owner`",
        "the_initial_delay_ends_early_for_an_expiry_only": (
            "row coordinator_join_timer_expires: `not coordinator.initial_delay` taken for true"
        ),
        "waiting_members_have_no_session_timer": (
            "row coordinator_append_assignment_ok: without `coordinator.parked_sync = empty`"
        ),
    },
    "kafka_2557_fixed": {
        "a_leader_that_rejoins_is_heard": (
            "row coordinator_join_follower_unchanged_in_stable: "
            "`m != coordinator.leader` taken for true"
        ),
        "a_rebalance_begins_for_a_reason": (
            "procedure begin_delay: without `coordinator.initial_delay = true`"
        ),
        "clients_do_as_they_are_told": (
            "row client_heartbeat_response_rebalance: `client[c].state == STABLE` taken for false"
        ),
        "leader_is_told_its_members": "definition join_ok: `coordinator.leader != m`",
        "leader_keeps_its_role": (
            "procedure next_generation: "
            "`coordinator.leader not in coordinator.parked_join` taken for true"
        ),
        "member_has_what_the_leader_gave": (
            "procedure send_sync: `generation != coordinator.generation`"
        ),
        "nobody_alive_is_left_behind": (
            "definition barrier_met: "
            "`all((m in coordinator.parked_join for m in coordinator.members))` taken for true"
        ),
        "who_has_synced_is_out_of_the_pending_syncs": (
            "row coordinator_sync_in_completing: without `coordinator.pending_sync.discard(m)`"
        ),
    },
}
"""Of instances: a property, and a mutant that breaks it there."""

CLASSIC_GROUP_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
    ("classic_group", "a_failed_write_is_told"): (
        "group_record.yaml",
        "answer_sync(m, timeout_error())",
        "answer_sync(m, REBALANCE_IN_PROGRESS)",
        "failed_append",
    ),
    ("classic_group", "processes_end_as_they_are_told"): (
        "client.yaml",
        (
            "    only_if: oversized_records > 0\n    do: stop(c, failed)\n    actor: client\n"
            '    source: "AbstractCoordinator JoinGroup'
        ),
        (
            "    only_if: oversized_records > 0\n    do: stop(c, fenced)\n    actor: client\n"
            '    source: "AbstractCoordinator JoinGroup'
        ),
        "static_record_too_large",
    ),
    ("classic_group", "a_request_is_taken"): (
        "joins.yaml",
        (
            "      coordinator.group: [Empty, PreparingRebalance, CompletingRebalance, Stable]\n"
            "    let:\n"
        ),
        "      coordinator.group: [Empty, PreparingRebalance, CompletingRebalance]\n    let:\n",
        "two_static_clients_settle",
    ),
    ("classic_group", "what_is_written_is_what_is_held"): (
        "coordinator.yaml",
        "members=coordinator.members, leader=coordinator.leader,",
        "members=coordinator.members, leader=owner,",
        "failed_append",
    ),
    ("classic_group", "who_has_stopped_wants_nothing"): (
        "client.yaml",
        "    client[c].changed = false\n    client[c].computed = none\n",
        "    client[c].computed = none\n",
        "subscriptions",
    ),
    ("classic_group", "who_has_synced_is_not_waited_for"): (
        "requests.yaml",
        "      coordinator.pending_sync.discard(m)\n      if implementation",
        "      if implementation",
        "kafka_2557_fixed",
    ),
    ("classic_group", "a_group_with_members_exists"): (
        "joins.yaml",
        (
            "      create_group(m)\n      add_member(m, subscription, call)\n"
            '    actor: coordinator\n    source: "GroupCoordinator'
        ),
        (
            "      add_member(m, subscription, call)\n    actor: coordinator\n"
            '    source: "GroupCoordinator'
        ),
        "mixed_members",
    ),
    ("classic_group", "an_append_is_what_it_says"): (
        "coordinator.yaml",
        "purpose=EMPTY_GROUP",
        "purpose=ASSIGNMENT",
        "commits_and_a_failover",
    ),
    ("classic_group", "an_expiry_tests_the_barrier"): (
        "coordinator.yaml",
        (
            "_barrier:\n            test_barrier_in(coordinator.initial_delay and "
            "implementation == kafka_3_9)"
        ),
        "_barrier:\n            test_barrier_in(coordinator.initial_delay)",
        "slow_timer",
    ),
    ("classic_group", "an_id_is_issued_where_there_is_room"): (
        "joins.yaml",
        "is none and speaks_v4(call.client) and admits(none, subscription)",
        "is none and speaks_v4(call.client)",
        "kafka_9885_fixed",
    ),
    ("classic_group", "only_a_join_prepares"): (
        "client.yaml",
        "    if client[c].state != UNJOINED:\n        client[c].state = UNJOINED",
        "    if client[c].state != UNJOINED:\n        client[c].state = PREPARING_REBALANCE",
        "kafka_7824_fixed",
    ),
    ("classic_group", "who_joins_shares_a_protocol"): (
        "joins.yaml",
        (
            "      i: client[call.client].instance\n"
            "    when: i is not none and i in coordinator.static and admits(none, subscription)\n"
            "    do: |\n      m = fresh(MemberId)\n      old"
        ),
        (
            "      i: client[call.client].instance\n"
            "    when: i is not none and i in coordinator.static and has_room(none)\n"
            "    do: |\n      m = fresh(MemberId)\n      old"
        ),
        "returns_with_another_list",
    ),
    ("classic_group", "a_late_fence_is_ignored"): (
        "client.yaml",
        "sent_as_it_is(c, m, generation):\n          stop(c, fenced)",
        "true:\n          stop(c, fenced)",
        "static_poll_timeout",
    ),
    ("classic_group", "an_unknown_id_is_given_up"): (
        "client.yaml",
        "      if error != REBALANCE_IN_PROGRESS and client[c].generation > 0:\n",
        "      if error == ILLEGAL_GENERATION:\n",
        "slow_timer",
    ),
    ("classic_group", "the_delay_is_extended_again_for_a_newcomer"): (
        "timers.yaml",
        "      coordinator.new_member_added = false\n      coordinator.extensions",
        "      coordinator.extensions",
        "delay_is_extended_twice",
    ),
    ("classic_group", "what_all_prefer_is_elected"): (
        "protocols.yaml",
        'vote(subscription): "prefers(subscription) if',
        'vote(subscription): "1 - prefers(subscription) if 1 -',
        "protocols",
    ),
    ("classic_group", "assignments_go_to_the_current_generation"): (
        "requests.yaml",
        (
            "    when: fence_error(m, call.client, generation) == NONE\n    do: |\n"
            "      coordinator.pending_sync.discard(m)\n      if implementation"
        ),
        "    do: |\n      coordinator.pending_sync.discard(m)\n      if implementation",
        "slow_timer",
    ),
    ("classic_group", "commits_never_go_back"): (
        "requests.yaml",
        "coordinator.commit_generation = generation\n",
        "coordinator.commit_generation = generation_max + 1 - generation\n",
        "unfenced_commits_fixed",
    ),
    ("classic_group", "coordinator_knows_what_members_said"): (
        "joins.yaml",
        "members[m] = subscription\n      park_join(m, call)\n      prepare_rebalance()",
        "members[m] = 0\n      park_join(m, call)\n      prepare_rebalance()",
        "subscriptions",
    ),
    ("classic_group", "forgotten_for_a_reason"): (
        "coordinator.yaml",
        "if coordinator.generation == record.generation:\n            answer_join(m, error)",
        "if coordinator.generation != record.generation:\n            answer_join(m, error)",
        "static_record_too_large",
    ),
    ("classic_group", "leader_joined_its_generation"): (
        "coordinator.yaml",
        (
            "        if coordinator.leader not in coordinator.parked_join:\n"
            "            coordinator.leader = pick(k for k in coordinator.parked_join)\n"
        ),
        "",
        "two_instances",
    ),
    ("classic_group", "members_share_a_protocol"): (
        "coordinator.yaml",
        "admits(m, subscription): has_room(m) and supported(subscription)",
        "admits(m, subscription): has_room(m)",
        "protocols",
    ),
    ("classic_group", "members_speak_their_protocol"): (
        "coordinator.yaml",
        "        coordinator.protocol = elected()\n",
        "",
        "returns_with_another_list",
    ),
    ("classic_group", "one_leader_per_generation"): (
        "coordinator.yaml",
        (
            "leader=coordinator.leader,\n"
            "    members=coordinator.members.keys() if coordinator.leader == m else empty"
        ),
        "leader=m,\n    members=coordinator.members.keys()",
        "kafka_2557_fixed",
    ),
    ("classic_group", "only_replaced_ids_are_left_among_the_syncs"): (
        "coordinator.yaml",
        "        coordinator.pending_sync.discard(m)\n    forget_closed_calls()",
        "        coordinator.pending_sync.add(m)\n    forget_closed_calls()",
        "static_record_too_large",
    ),
    ("classic_group", "only_who_joined_enters_a_generation"): (
        "coordinator.yaml",
        (
            "    forget({m for m in coordinator.members if m not in coordinator.parked_join "
            "and not is_static(m)})\n"
        ),
        "",
        "slow_timer",
    ),
    ("classic_group", "the_refused_are_out"): (
        "administration.yaml",
        "      if m in coordinator.pending:\n          coordinator.pending.discard(m)\n",
        "",
        "kafka_9885_fixed",
    ),
    ("classic_group", "the_vote_is_kept"): (
        "coordinator.yaml",
        "        coordinator.protocol = elected()\n",
        "",
        "returns_with_another_list",
    ),
}
"""Of properties: a file, a text in it, what stands there instead, and the instance that notices."""
