"""Mistakes in the systems of coordinators, each with the property that notices it."""

from __future__ import annotations

COORDINATOR_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
    ("coordinator_failover", "what_is_read_is_what_was_written"): (
        "declarations.yaml",
        "if r.what == COMMIT\n",
        "if r.what != COMMIT\n",
        "timeouts",
    ),
    ("coordinator_failover", "a_record_is_committed_once"): (
        "leadership.yaml",
        "      log.tail.pop(0)\n",
        "",
        "timeouts",
    ),
    ("coordinator_failover", "only_who_leads_commits"): (
        "leadership.yaml",
        "when: len(log.tail) > 0 and really_leads(partition.leader)",
        "when: len(log.tail) > 0",
        "timeouts",
    ),
    ("coordinator_failover", "what_was_unloaded_is_forgotten"): (
        "tasks.yaml",
        "    broker[b].phase = ABSENT\n    broker[b].memory = nothing()\n",
        "    broker[b].phase = ABSENT\n",
        "progress",
    ),
    ("coordinator_failover", "only_an_unload_closes_a_coordinator"): (
        "tasks.yaml",
        "    when: broker[b].phase == LOADING\n",
        "    when: broker[b].phase == ACTIVE\n",
        "failed_loads",
    ),
    ("coordinator_failover", "who_waits_has_a_record"): (
        "requests.yaml",
        "      broker[b].own = replay(broker[b].own, r)\n",
        "",
        "timeouts",
    ),
    ("coordinator_failover", "memory_follows_the_log"): (
        "requests.yaml",
        "append(r)\n      broker[b].parked[r.serial] = call\n      if implementation == JAVA:\n",
        "append(r)\n      broker[b].parked[r.serial] = call\n      if true:\n",
        "scala",
    ),
    ("coordinator_failover", "answers_come_from_a_coordinator"): (
        "requests.yaml",
        "COORDINATOR_LOAD_IN_PROGRESS if broker[b].phase == LOADING else NOT_COORDINATOR",
        "COORDINATOR_LOAD_IN_PROGRESS if broker[b].phase != LOADING else NOT_COORDINATOR",
        "timeouts",
    ),
    ("coordinator_failover", "memory_has_what_was_appended"): (
        "requests.yaml",
        "own, r)\n      broker[b].parked[r.serial] = call\n      if implementation == JAVA:\n",
        "own, r)\n      broker[b].parked[r.serial] = call\n      if implementation == SCALA:\n",
        "timeouts",
    ),
    ("coordinator_failover", "who_is_answered_has_asked"): (
        "requests.yaml",
        "      close(coordinator_calls[c])\n",
        "",
        "broken_connections",
    ),
    ("coordinator_failover", "who_waits_has_something_under_way"): (
        "requests.yaml",
        "      client[c].waits = false\n      if error == NONE:\n          history.fetched",
        "      if error == NONE:\n          history.fetched",
        "broken_connections",
    ),
    ("coordinator_failover", "who_is_refused_is_told_nothing_else"): (
        "requests.yaml",
        "WriteDone(error=NOT_COORDINATOR, serial=0)",
        "WriteDone(error=NOT_COORDINATOR, serial=log.serial)",
        "timeouts",
    ),
    ("coordinator_failover", "a_load_misses_the_last_record_only"): (
        "leadership.yaml",
        "      log.before = log.committed\n",
        "",
        "kafka_5600_last_record",
    ),
    ("coordinator_runtime", "only_an_active_coordinator_runs_operations"): (
        "events.yaml",
        "when: head(OPERATION) and context.state == ACTIVE and what(context.queue[0].op) == READ",
        "when: head(OPERATION) and what(context.queue[0].op) == READ",
        "failed_appends",
    ),
    ("coordinator_runtime", "an_active_coordinator_refuses_nobody"): (
        "events.yaml",
        "when: head(OPERATION) and context.state != ACTIVE",
        "when: head(OPERATION)",
        "failed_appends",
    ),
    ("coordinator_runtime", "what_was_answered_is_seen"): (
        "events.yaml",
        "seen = context.memory[:context.committed] if reads_see_committed else context.memory",
        "seen = context.memory[:0] if reads_see_committed else context.memory",
        "failed_appends",
    ),
    ("coordinator_runtime", "what_was_unloaded_is_forgotten"): (
        "procedures.yaml",
        "    context.loaded = false\n",
        "",
        "failed_loads",
    ),
    ("coordinator_runtime", "who_does_not_lead_unloads"): (
        "procedures.yaml",
        "is_here(): context.state not in {CLOSED}",
        "is_here(): context.state not in {CLOSED, FAILED}",
        "failed_loads",
    ),
    ("coordinator_runtime", "only_an_unload_closes"): (
        "events.yaml",
        "              context.state = FAILED\n",
        "              context.state = CLOSED\n",
        "failed_loads",
    ),
    ("coordinator_runtime", "only_a_leaders_log_is_loaded"): (
        "leadership.yaml",
        "when: e in broker.loaders and broker.leads",
        "when: e in broker.loaders",
        "failed_loads",
    ),
    ("coordinator_runtime", "a_load_ends_once"): (
        "leadership.yaml",
        "    when: e in broker.loaders\n    do: |\n      broker.loaders.discard(e)\n",
        "    when: e in broker.loaders\n    do: |\n",
        "failed_loads",
    ),
    ("coordinator_runtime", "what_is_noticed_has_an_event"): (
        "events.yaml",
        "when: head(FLUSH) and context.state == ACTIVE and len(context.batch) > 0",
        "when: head(HIGH_WATERMARK) and context.state == ACTIVE and len(context.batch) > 0",
        "batches",
    ),
    ("coordinator_runtime", "a_batch_has_a_flush"): (
        "events.yaml",
        "elif linger == BACK and len(context.batch) == 1:",
        "elif linger == BACK and len(context.batch) > 1:",
        "batches_at_the_end_of_the_queue",
    ),
    ("delayed_operation", "a_thread_at_rest_keeps_nothing"): (
        "procedures.yaml",
        "    if MONITOR_TAKEN in thread[t].took:\n        operation[o].monitor = none\n",
        "",
        "release_0_10_2",
    ),
    ("delayed_operation", "a_handler_keeps_the_lock_of_its_group"): (
        "procedures.yaml",
        "    if operation[o].group_lock != t:\n",
        "    if true:\n",
        "kafka_8334",
    ),
    ("delayed_operation", "an_attempt_holds_its_lock"): (
        "attempt.yaml",
        "          operation[o].monitor = t\n          thread[t].took.add(MONITOR_TAKEN)\n",
        "          thread[t].took.add(MONITOR_TAKEN)\n",
        "release_0_10_2",
    ),
    ("delayed_operation", "who_takes_the_lock_takes_the_word"): (
        "attempt.yaml",
        "          operation[o].contended = false\n",
        "          pass\n",
        "release_2_0",
    ),
    ("delayed_operation", "lists_are_walked_without_a_lock"): (
        "callers.yaml",
        "      if locking == MONITOR_IN_LIST:\n",
        "      if true:\n",
        "release_2_0",
    ),
    ("delayed_operation", "each_thread_keeps_to_its_job"): (
        "attempt.yaml",
        "contended = true\n          if done(o):\n              go(t, RESULT)\n",
        "contended = true\n          if done(o):\n              go(t, WATCH)\n",
        "release_2_0",
    ),
    ("delayed_operation", "lists_are_there_as_long_as_they_are_used"): (
        "callers.yaml",
        "          list[k].mapped = false\n",
        "          pass\n",
        "release_2_0",
    ),
    ("delayed_operation", "what_is_completed_is_unlinked_first"): (
        "callers.yaml",
        "      if done(o):\n          list[k].members.discard(o)\n      else:\n",
        "      if o not in Op:\n          list[k].members.discard(o)\n      else:\n",
        "release_2_0",
    ),
    ("delayed_operation", "calls_return"): (
        "attempt.yaml",
        "if retry_when_contended and operation[o].contended and not done(o)",
        "if retry_when_contended and not done(o)",
        "progress_2_0",
    ),
    ("delayed_operation", "a_member_has_one_session"): (
        "heartbeats.yaml",
        "          list[k].members.discard(old)\n",
        "          pass\n",
        "sessions_2_4",
    ),
    ("delayed_operation", "one_expiry_at_a_time"): (
        "callers.yaml",
        " and all(thread[x].job != EXPIRE for x in Thread)\n",
        "\n",
        "sessions_2_4",
    ),
    ("coordinator_runtime", "an_operation_runs_once"): (
        "events.yaml",
        "      tell(o, SUCCESS)\n      context.queue.pop(0)\n",
        "      tell(o, SUCCESS)\n",
        "failed_appends",
    ),
    ("offset_commit", "a_group_has_members_while_it_is_active"): (
        "log.yaml",
        "      if len(log.state.members) > 0:\n",
        "      if log.state.recorded:\n",
        "failover",
    ),
    ("offset_commit", "only_who_is_away_is_removed"): (
        "membership.yaml",
        "client[c].generation != group.generation\n      and group.generation < generation_max",
        "group.generation < generation_max",
    ),
    ("offset_commit", "answers_are_those_of_the_request"): (
        "log.yaml",
        "fail(item, NOT_COORDINATOR)",
        "fail(item, UNSTABLE_OFFSET_COMMIT)",
        "failover",
    ),
    ("offset_commit", "refusals_are_true"): (
        "expiry.yaml",
        "error=GROUP_ID_NOT_FOUND if group.state == Dead else NON_EMPTY_GROUP",
        "error=GROUP_ID_NOT_FOUND",
        "deletion",
    ),
    ("offset_commit", "a_deletion_covers_what_was_there"): (
        "expiry.yaml",
        "serial=serial if something else serial - 1",
        "serial=serial - 1",
        "candidate_deletion_is_not_durable",
    ),
    ("offset_commit", "a_late_fence_undoes_no_join"): (
        "client.yaml",
        "      if client[c].generation >= 0:\n          loses_membership(c)",
        "      if client[c].generation >= -1:\n          loses_membership(c)",
    ),
    ("offset_commit", "a_producer_ends_its_own_transaction"): (
        "transactions.yaml",
        "              transaction[c].state = ABORTING\n      if error in",
        "              pass\n      if error in",
        "transactions",
    ),
    ("offset_commit", "clients_take_errors_for_what_they_are"): (
        "client.yaml",
        "    when: error in {FENCED_INSTANCE_ID, UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION}\n",
        "",
    ),
    ("offset_commit", "producer_epochs_never_fall"): (
        "transactions.yaml",
        "      transaction[c].epoch += 1\n",
        "",
        "transactions_and_faults",
    ),
    ("offset_commit", "every_request_is_answered_or_waits"): (
        "procedures.yaml",
        "            reply(item.call, DeleteResponse(error=e, serial=0))",
        "            pass",
        "deletion",
    ),
    ("offset_commit", "a_stable_fetch_waits_for_what_is_open"): (
        "commits.yaml",
        "i.record.kind == OFFSET",
        "i.record.kind != OFFSET",
        "scala_transactions",
    ),
    ("offset_commit", "a_dead_group_is_nothing"): (
        "expiry.yaml",
        "group.simple = false\n    group.owner",
        "group.simple = true\n    group.owner",
        "expiry_of_simple_groups",
    ),
    ("offset_commit", "who_has_left_is_no_member"): (
        "membership.yaml",
        "      group.members.discard(c)\n      loses_membership(c)",
        "      loses_membership(c)",
    ),
    ("offset_commit", "who_joins_is_a_member"): (
        "log.yaml",
        "client[c].joining = false",
        "client[c].joining = true",
        "failover",
    ),
    ("offset_commit", "who_is_out_can_learn_it"): (
        "membership.yaml",
        "      and (c not in group.members or client[c].generation != group.generation)\n",
        "      and c not in group.members\n",
        "failover",
    ),
    ("offset_commit", "an_assignment_is_durable_when_it_is_known"): (
        "client.yaml",
        "\n      and (not any(i.record is not none and i.record.kind == GROUP for i in log.tail))",
        "",
        "static_members",
    ),
    ("offset_commit", "a_producer_waits_for_what_it_has_sent"): (
        "client.yaml",
        "          client[c].work = ENDING\n",
        "",
        "transactions_and_faults",
    ),
    ("offset_commit", "an_end_is_asked_for_once"): (
        "transactions.yaml",
        (
            "    when: client[c].work == WRITTEN\n    do: |\n      client[c].work = ENDING\n"
            "      if transaction[c].state == ONGOING "
            "and transaction[c].epoch == client[c].epoch:\n"
            "          transaction[c].state = ABORTING"
        ),
        (
            "    when: client[c].work == WRITTEN\n    do: |\n"
            "      if transaction[c].state == ONGOING "
            "and transaction[c].epoch == client[c].epoch:\n"
            "          transaction[c].state = ABORTING"
        ),
        "transactions",
    ),
    ("offset_commit", "who_can_move_the_group"): (
        "membership.yaml",
        "      c in group.members and room() and group.owner is none\n",
        "      c in group.members and room()\n",
    ),
    ("offset_commit", "rebalances_change_who_is_who"): (
        "membership.yaml",
        (
            "      group.generation += 1\n      group.owner = none\n      group.state "
            "= CompletingRebalance"
        ),
        "      group.generation += 1\n      group.state = CompletingRebalance",
    ),
    ("offset_commit", "who_takes_a_place_takes_all_of_it"): (
        "membership.yaml",
        "      group.members = {c}\n",
        "      group.members.add(c)\n",
        "static_members",
    ),
    ("offset_commit", "clients_ask_for_what_they_own"): (
        "client.yaml",
        "      client[c].position += 1\n      call(",
        "      call(",
    ),
    ("offset_commit", "clients_send_their_transactions"): (
        "transactions.yaml",
        "      transaction[c].record = client[c].position + 1\n",
        "",
        "transactions",
    ),
    ("offset_commit", "decisions_are_remembered"): (
        "transactions.yaml",
        "          history.decided.add(transaction[c].serial)\n",
        "",
        "transactions",
    ),
    ("offset_commit", "transactions_can_go_on"): (
        "transactions.yaml",
        "      and not any(is_marker(i, c) for i in log.tail)\n",
        "",
        "transactions",
    ),
    ("offset_commit", "markers_say_what_was_decided"): (
        "transactions.yaml",
        "commit=transaction[c].state == COMMITTING))",
        "commit=true))",
        "transactions",
    ),
    ("offset_commit", "who_commits_may"): (
        "commits.yaml",
        "    when: commit_error(member, generation, instance) != NONE\n",
        "    when: commit_error(member, generation, instance) != NONE or generation >= 0\n",
    ),
    ("offset_commit", "who_commits_in_a_transaction_may"): (
        "transactions.yaml",
        (
            "      producer_error(c, epoch) == NONE and transactional_error(member, "
            "generation) == NONE and room()\n"
        ),
        "      producer_error(c, epoch) == NONE and room()\n",
        "transactions",
    ),
    ("offset_commit", "refusals_name_what_is_wrong_first"): (
        "procedures.yaml",
        (
            "    else UNKNOWN_MEMBER_ID if member is none or member not in "
            "group.members\n    else ILLEGAL_GENERATION if generation != "
            "group.generation\n"
        ),
        (
            "    else ILLEGAL_GENERATION if generation != group.generation\n    else "
            "UNKNOWN_MEMBER_ID if member is none or member not in group.members\n"
        ),
    ),
    ("offset_commit", "requests_are_taken"): (
        "commits.yaml",
        "    when: not stable\n",
        "    when: not stable and group.generation < 2\n",
    ),
    ("offset_commit", "fetches_are_of_what_is_there"): (
        "commits.yaml",
        (
            "                found=log.state.committed if implementation == JAVA else "
            "group.committed))"
        ),
        "                found=group.committed))",
        "failover",
    ),
    ("offset_commit", "records_say_what_was_asked"): (
        "transactions.yaml",
        "epoch=epoch, commit=commit), none)",
        "epoch=epoch, commit=true), none)",
        "transactions",
    ),
    ("offset_commit", "what_a_load_gives_is_what_was_committed"): (
        "procedures.yaml",
        "    else replace(s, committed=none, serial=r.serial,\n",
        "    else replace(s, committed=s.committed, serial=r.serial,\n",
        "deletion",
    ),
    ("offset_commit", "who_waits_for_a_record_is_told"): (
        "procedures.yaml",
        "CommitResponse(error=NONE, serial=item.record.serial, time",
        "CommitResponse(error=NONE, serial=0, time",
    ),
    ("offset_commit", "what_fails_changes_nothing"): (
        "commits.yaml",
        "          create(group.state, Empty)\n          group.simple = true\n",
        "          create(group.state, Empty)\n",
        "simple_consumers",
    ),
    ("offset_commit", "a_load_gives_what_was_replicated"): (
        "log.yaml",
        "      group.owner = log.state.owner\n",
        "",
        "failover",
    ),
    ("offset_commit", "clients_take_what_they_are_told"): (
        "client.yaml",
        "          client[c].position = found.offset if found is not none else 0\n",
        "          client[c].position = 0\n",
    ),
    ("offset_commit", "what_expires_is_old"): (
        "expiry.yaml",
        "         or now.clock - age_begins() >= retention)",
        "         or now.clock - age_begins() > retention)",
        "expiry",
    ),
    ("offset_commit", "deletions_are_done"): (
        "expiry.yaml",
        "          history.deleted = max(history.deleted, serial)\n",
        "          history.deleted = 0\n",
        "deletion",
    ),
    ("offset_commit", "requests_are_answered"): (
        "commits.yaml",
        "    when: not stable\n",
        "    when: not stable and len(group.members) > len(Client)\n",
        "expiry_comes_about",
    ),
    ("offset_commit", "transactions_are_over"): (
        "transactions.yaml",
        "    when: client[c].work == ENDING and transaction[c].state == NO_TRANSACTION\n",
        "    when: client[c].work == ENDING and transaction[c].state == ONGOING\n",
        "transactions_come_to_an_end",
    ),
}
