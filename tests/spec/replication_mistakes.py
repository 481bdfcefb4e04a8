"""Mistakes in the systems of replication, each of which breaks one property that no variant breaks.

By system and property: the file, what stands there, what the mistake puts in its place, and the
instance that notices where it is not `default`.
"""

REPLICATION_SYSTEMS = ("isr_in_one_step", "replication_in_one_step", "replication_isr", "composed")
REPLICATION_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
    ("replication", "high_watermark_is_in_the_log"): (
        "declarations.yaml",
        "replica[f].high_watermark = min(replica[f].high_watermark, end)",
        "replica[f].high_watermark = replica[f].high_watermark",
        "power_failure",
    ),
    ("replication", "a_leader_never_takes_back"): (
        "declarations.yaml",
        "if end > replica[b].high_watermark:",
        "if end != replica[b].high_watermark:",
        "kip_320_first_attempt",
    ),
    ("replication", "only_the_leader_is_the_isr"): (
        "controller.yaml",
        "decide(none if quorum.leader == b else quorum.leader,",
        "decide(quorum.leader,",
    ),
    ("isr_in_one_step", "the_leader_learns_what_was_decided"): (
        "system.yaml",
        "      leader.isr = d.isr\n",
        "      leader.isr = d.isr | leader.asked\n",
    ),
    ("replication_in_one_step", "the_leader_is_in_sync"): (
        "controller.yaml",
        "          decide(none, quorum.isr - {b})\n",
        "          decide(b, quorum.isr - {b})\n",
    ),
    ("isr_in_one_step", "what_is_asked_is_of_the_isr_it_knows"): (
        "system.yaml",
        "    when: f in leader.isr\n",
        '    when: "true"\n',
    ),
    ("isr_in_one_step", "what_is_asked_is_kept_in_mind"): (
        "system.yaml",
        "      leader.asking = none\n",
        "      leader.asking = leader.asking\n",
    ),
    ("isr_in_one_step", "who_is_gone_is_taken_out"): (
        "system.yaml",
        "do: decide(controller.isr - {f})",
        "do: decide(controller.isr)",
    ),
    ("isr_in_one_step", "each_decision_is_told"): (
        "system.yaml",
        "Change(isr=isr, version=controller.version)",
        "Change(isr=isr, version=0)",
    ),
    ("isr_in_one_step", "logs_grow_by_a_record"): (
        "system.yaml",
        "when: leader.ends[f] < leader.end\n",
        "when: leader.ends[f] <= leader.end and leader.ends[f] <= offset_max\n",
    ),
    ("replication_in_one_step", "the_controller_elects_who_is_in_sync"): (
        "controller.yaml",
        "b in quorum.isr and quorum.leader != b\n",
        "b in quorum.isr\n",
    ),
    ("replication_in_one_step", "who_is_taken_out_leads_no_more"): (
        "controller.yaml",
        "elif quorum.isr == {b}:",
        "elif b in quorum.isr:",
    ),
    ("replication_in_one_step", "each_epoch_has_one_decision"): (
        "declarations.yaml",
        "Decision(leader=leader, isr=isr)",
        "Decision(leader=leader, isr={b for b in Broker})",
    ),
    ("replication_in_one_step", "records_are_written_once"): (
        "replicas.yaml",
        "      producers.written += 1\n",
        "      producers.written = min(producers.written + 1, 1)\n",
    ),
    ("replication_in_one_step", "the_leader_changes_the_isr_by_one"): (
        "replicas.yaml",
        "is_leader(l) and f not in replica[l].isr and has_reached_its_epoch(l)",
        "is_leader(l) and has_reached_its_epoch(l)",
    ),
    ("replication_in_one_step", "who_lacks_the_log_can_be_taken_out"): (
        "declarations.yaml",
        "not follows(f, l) or len(replica[f].log) < len(replica[l].log) if design == KIP_320",
        "not follows(f, l) if design == KIP_320",
    ),
    ("replication_in_one_step", "who_has_the_log_can_return"): (
        "declarations.yaml",
        "or replica[l].log[replica[l].high_watermark].epoch == replica[l].epoch",
        "or replica[l].epoch < 0",
    ),
    ("replication_in_one_step", "followers_follow_another_one"): (
        "replicas.yaml",
        "(design != KIP_320 or leads(l) and replica[l].epoch == e)",
        "(design != KIP_320 or leads(l))",
    ),
    ("replication_in_one_step", "who_hears_of_a_leader_can_follow"): (
        "replicas.yaml",
        "(design != KIP_320 or leads(l) and replica[l].epoch == e)",
        "(design != KIP_320 or leads(l) and replica[l].epoch == e and e < epochs)",
    ),
    ("replication_in_one_step", "followers_copy_what_is_there"): (
        "replicas.yaml",
        "min(replica[l].high_watermark, len(replica[f].log))",
        "min(replica[l].high_watermark, replica[f].high_watermark)",
    ),
    ("replication_in_one_step", "what_both_have_of_an_epoch_stays"): (
        "declarations.yaml",
        "replica[l].log[i].epoch > epoch)",
        "replica[l].log[i].epoch >= epoch)",
        "kip_101_to_the_end",
    ),
    ("replication_in_one_step", "a_log_that_parts_is_cut"): (
        "replicas.yaml",
        "    do: cut(f, last_in_common(l, f))\n",
        "    do: cut(f, min(len(replica[f].log), replica[f].high_watermark))\n",
        "kip_320_first_of_two",
    ),
    ("replication_in_one_step", "who_parts_can_truncate"): (
        "replicas.yaml",
        "when: leads(l) and replica[f].leader == l and logs_part(l, f)",
        "when: leads(l) and replica[f].leader == l and len(replica[f].log) > 1 and logs_part(l, f)",
        "kip_320_first_of_two",
    ),
    ("replication", "who_is_elected_can_lead"): (
        "controller.yaml",
        "b in quorum.isr and quorum.leader != b and replica[b].up\n",
        "b in quorum.isr and quorum.leader != b\n",
        "crashes",
    ),
    ("replication", "who_is_elected_has_a_right_to_it"): (
        "controller.yaml",
        "b in quorum.isr and quorum.leader != b and replica[b].up\n",
        "b in quorum.isr and replica[b].up\n",
    ),
    ("replication", "who_is_dropped_leads_no_more"): (
        "controller.yaml",
        "quorum.isr - {b} if eligible_leaders or quorum.isr != {b} else",
        "quorum.isr - {b} if quorum.isr != {b} else",
    ),
    ("replication", "the_dead_can_be_dropped"): (
        "controller.yaml",
        "(quorum.leader == b or b in quorum.isr and (",
        "(replica[b].up and b in quorum.isr and (",
        "crashes",
    ),
    ("replication", "decisions_are_sent_as_made"): (
        "controller.yaml",
        "Decision(leader=leader, isr=isr)",
        "Decision(leader=leader, isr=empty)",
    ),
    ("replication", "who_left_a_small_isr_may_still_lead"): (
        "controller.yaml",
        "(quorum.eligible | quorum.isr) - isr",
        "quorum.isr - isr",
        "power_failure",
    ),
    ("replication", "eligible_is_who_is_needed"): (
        "controller.yaml",
        "empty if len(isr) >= min_isr else (",
        "(",
    ),
    ("replication", "a_new_leader_knows_of_no_follower"): (
        "controller.yaml",
        "replica[b].epoch_start = len(replica[b].log)",
        "replica[b].epoch_start = 0",
    ),
    ("replication", "a_follower_follows_whom_it_was_told"): (
        "controller.yaml",
        "replica[b].leader = quorum.decided[e].leader\n",
        "replica[b].leader = quorum.leader\n",
    ),
    ("replication", "a_follower_looks_before_it_fetches"): (
        "controller.yaml",
        "{ON_FETCH, HIGH_WATERMARK} or len(replica[b].log) == 0",
        "{ON_FETCH, HIGH_WATERMARK}",
        "kip_320",
    ),
    ("replication", "a_new_role_cuts_no_more_than_is_known"): (
        "controller.yaml",
        "      if truncation == HIGH_WATERMARK:\n",
        "      if truncation == ON_FETCH:\n",
    ),
    ("replication", "brokers_obey_only_what_is_newer"): (
        "controller.yaml",
        "quorum.decided[e].leader != b and replica[b].up and e > replica[b].epoch and",
        "quorum.decided[e].leader != b and replica[b].up and e >= replica[b].epoch and",
    ),
    ("replication", "what_was_decided_can_be_told"): (
        "controller.yaml",
        "quorum.decided[e].leader != b and replica[b].up and e > replica[b].epoch and",
        "quorum.decided[e].leader != b and replica[b].up and e == replica[b].epoch + 1 and",
    ),
    ("replication", "only_leaders_keep_what_leaders_know"): (
        "controller.yaml",
        "      replica[b].isr = empty\n",
        "",
    ),
    ("replication", "the_dead_know_nothing"): (
        "controller.yaml",
        "    replica[b].up = false\n    replica[b].epoch = 0\n",
        "    replica[b].up = false\n",
        "crashes",
    ),
    ("replication", "answers_of_a_former_leader_are_lost"): (
        "controller.yaml",
        "if replica[b].leader != quorum.decided[e].leader:\n",
        "if replica[b].leader == quorum.decided[e].leader:\n",
    ),
    ("replication", "a_restart_is_registered"): (
        "controller.yaml",
        "      replica[b].registration += 1\n",
        "",
        "crashes",
    ),
    ("replication", "a_lost_end_is_known_until_it_registers"): (
        "controller.yaml",
        "      replica[b].lost_its_end = false\n",
        "",
        "power_failure",
    ),
    ("replication", "logs_change_by_reason"): (
        "controller.yaml",
        "    when: replica[b].up\n    do: |\n      die(b)\n",
        "    when: replica[b].up\n    do: |\n      truncate(b, 0)\n      die(b)\n",
        "crashes",
    ),
    ("replication", "a_follower_asks_its_leader"): (
        "follower.yaml",
        "offset=len(replica[f].log), last=",
        "offset=replica[f].high_watermark, last=",
    ),
    ("replication", "every_request_can_be_answered"): (
        "leader.yaml",
        (
            "    on: connection[f].Fetch(to, registration, epoch, offset, last)\n"
            "    when: not listens(to, epoch)\n"
        ),
        (
            "    on: connection[f].Fetch(to, registration, epoch, offset, last)\n"
            "    when: not listens(to, epoch) and replica[to].up\n"
        ),
        "crashes",
    ),
    ("replication", "every_request_is_answered_once_it_is_read"): (
        "leader.yaml",
        "reply(call, Fetched(epoch=epoch, offset=offset, record=none, high_watermark=before))",
        "pass",
    ),
    ("replication", "only_the_leader_that_is_meant_answers"): (
        "leader.yaml",
        (
            "    on: connection[f].Fetch(to, registration, epoch, offset, last)\n"
            "    when: not listens(to, epoch)\n"
        ),
        (
            "    on: connection[f].Fetch(to, registration, epoch, offset, last)\n"
            "    when: not listens(to, epoch) or offset == 0\n"
        ),
    ),
    ("replication", "fetches_are_answered_by_the_leaders_log"): (
        "leader.yaml",
        "record=replica[to].log[offset], high_watermark=before",
        "record=replica[to].log[offset], high_watermark=replica[to].high_watermark",
    ),
    ("replication", "only_a_log_that_left_is_told_so"): (
        "leader.yaml",
        "listens(to, epoch) and offset > 0 and diverges(to, offset, last)\n",
        "listens(to, epoch) and offset > 0\n",
    ),
    ("replication", "every_answer_can_be_taken"): (
        "follower.yaml",
        "    on: connection[f].Refused()\n",
        "    on: connection[f].Refused()\n    when: replica[f].truncated\n",
        "kip_320",
    ),
    ("replication", "what_was_told_is_not_told_again"): (
        "declarations.yaml",
        "            if end > len(clients.told):\n",
        "            if end != len(clients.told):\n",
    ),
    ("replication", "look_ups_are_answered_by_the_leaders_log"): (
        "leader.yaml",
        "for x in replica[to].log) and own_epoch_at_most(to, asked) > 0:",
        "for x in replica[to].log):",
        "kip_101_alone",
    ),
    ("replication", "answers_of_another_epoch_change_nothing"): (
        "follower.yaml",
        "if hears(f, epoch) and (replica[f].truncated or",
        "if (replica[f].truncated or",
    ),
    ("replication", "answers_about_another_place_change_nothing"): (
        "follower.yaml",
        "len(replica[f].log) == 0) and offset == len(replica[f].log):",
        "len(replica[f].log) == 0):",
        "high_watermark_alone_in_conduct",
    ),
    ("replication", "a_record_is_appended_where_it_belongs"): (
        "follower.yaml",
        "              replica[f].log.append(record)\n",
        "              pass\n",
    ),
    ("replication", "a_follower_cuts_where_the_leaders_epoch_ends"): (
        "follower.yaml",
        "if found == 0 else min(end, len(replica[f].log))",
        "if found == 0 else len(replica[f].log)",
        "kip_101_alone",
    ),
    ("replication", "a_follower_goes_back_an_epoch_at_a_time"): (
        "follower.yaml",
        "replica[f].truncated = known == found or len(replica[f].log) == 0",
        "replica[f].truncated = false",
        "kip_320",
    ),
    ("replication", "a_diverged_log_is_cut"): (
        "follower.yaml",
        (
            "      if hears(f, epoch) and offset == len(replica[f].log):\n"
            "          follow_reply(f, found, end)\n"
        ),
        "      if hears(f, epoch) and offset == len(replica[f].log):\n          pass\n",
    ),
    ("replication", "a_log_beyond_the_leaders_is_cut_to_it"): (
        "follower.yaml",
        "          truncate(f, min(end, len(replica[f].log)))\n",
        "          pass\n",
        "high_watermark_alone_in_conduct",
    ),
    ("replication", "who_joins_the_isr_has_caught_up"): (
        "leader.yaml",
        "f not in replica[b].isr and has_caught_up(b, f)\n",
        "has_caught_up(b, f)\n",
    ),
    ("replication", "who_has_caught_up_may_join_the_isr"): (
        "leader.yaml",
        "f not in replica[b].isr and has_caught_up(b, f)\n",
        "f not in replica[b].isr and has_caught_up(b, f) and len(replica[f].log) == log_max\n",
    ),
    ("replication", "who_leaves_the_isr_lags"): (
        "leader.yaml",
        "f in replica[b].isr and lags(b, f)\n",
        "f in replica[b].isr\n",
    ),
    ("replication", "who_lags_may_leave_the_isr"): (
        "leader.yaml",
        "f in replica[b].isr and lags(b, f)\n",
        "f in replica[b].isr and lags(b, f) and not replica[f].up\n",
    ),
    ("replication", "what_the_isr_has_is_committed"): (
        "leader.yaml",
        (
            "      replica[b].isr.discard(f)\n"
            "      in_sync(replica[b].isr)\n"
            "      raise_high_watermark(b)\n"
        ),
        "      replica[b].isr.discard(f)\n      in_sync(replica[b].isr)\n",
    ),
    ("replication_isr", "partition_epochs_never_fall"): (
        "leader.yaml",
        "    partition_epoch > leader.partition_epoch\n",
        "    partition_epoch != leader.partition_epoch\n",
    ),
    ("replication_isr", "every_change_has_a_partition_epoch"): (
        "controller.yaml",
        "          controller.partition_epoch += 1\n          if metadata",
        "          if metadata",
    ),
    ("replication_isr", "one_change_asks_for_one_follower"): (
        "leader.yaml",
        "when: may_propose() and f in leader.isr and not is_caught_up(f)",
        "when: may_propose() and not is_caught_up(f)",
    ),
    ("replication_isr", "a_request_is_of_the_present"): (
        "leader.yaml",
        "partition_epoch=leader.partition_epoch)",
        "partition_epoch=leader.partition_epoch + 1)",
    ),
    ("replication_isr", "errors_say_what_is_wrong"): (
        "controller.yaml",
        "INVALID_UPDATE_VERSION if partition_epochs_are_compared",
        "FENCED_LEADER_EPOCH if partition_epochs_are_compared",
        "two_followers",
    ),
    ("replication_isr", "only_its_answer_settles_a_proposal"): (
        "leader.yaml",
        (
            "    on: controller_calls[c].AlterPartitionDone(proposal, NONE, isr, partition_epoch)\n"
            "    when: is_present(proposal)\n"
        ),
        "    on: controller_calls[c].AlterPartitionDone(proposal, NONE, isr, partition_epoch)\n",
        "two_followers",
    ),
    ("replication_isr", "only_the_controller_decides"): (
        "controller.yaml",
        "c == ACTIVE and alter_error(p) == NONE",
        "alter_error(p) == NONE",
        "replaced_controllers",
    ),
    ("replication_isr", "a_controller_was_one_once"): (
        "leader.yaml",
        "replaced.exists and not leader.knows",
        "not leader.knows",
    ),
    ("replication_isr", "a_replaced_controller_knows_what_was_decided"): (
        "controller.yaml",
        "      replaced.partition_epoch = controller.partition_epoch\n",
        "",
        "replaced_controllers",
    ),
    ("replication_isr", "the_leader_asks_for_whom_it_may"): (
        "leader.yaml",
        "not in leader.tested and may_join(f)",
        "not in leader.tested",
    ),
    ("replication_isr", "refusals_count_until_the_next_epoch"): (
        "leader.yaml",
        "          leader.doubtful = empty\n",
        "",
        "lost_requests",
    ),
    ("replication_isr", "the_pending_state_says_what_is_asked"): (
        "leader.yaml",
        "      leader.state = PENDING_EXPAND\n",
        "      leader.state = PENDING_SHRINK\n",
    ),
    ("replication_isr", "answers_say_what_holds"): (
        "controller.yaml",
        "error=alter_error(p), isr=controller.isr,",
        "error=alter_error(p), isr=p.isr,",
    ),
    ("replication_isr", "a_follower_begins_where_the_log_does"): (
        "follower.yaml",
        "          follower[f].end = leader.start\n",
        "          follower[f].end += 1\n",
        "storage",
    ),
    ("replication_isr", "the_leader_hears_of_everything"): (
        "follower.yaml",
        "      if metadata_comes_by == LOG:\n          publish()\n",
        "",
        "crashes",
    ),
    ("replication_isr", "the_leader_epoch_rises_with_a_fence"): (
        "controller.yaml",
        "          if not shrink_keeps_leader_epoch:\n              controller.leader_epoch += 1\n",
        "",
        "zookeeper",
    ),
    ("replication_isr", "the_dead_do_nothing"): (
        "follower.yaml",
        "when: follower[f].up and has_something_to_say(f)",
        "when: has_something_to_say(f)",
        "crashes",
    ),
    ("replication_isr", "who_has_the_end_has_caught_up"): (
        "follower.yaml",
        "      if follower[f].end == leader.end:\n          leader.recent.add(f)\n",
        "",
    ),
    ("replication_isr", "requests_are_settled"): (
        "leader.yaml",
        (
            "    do: answered()\n    actor: leader\n"
            '    source: "Partition.handleAlterPartitionError@3.9"'
        ),
        '    do: pass\n    actor: leader\n    source: "Partition.handleAlterPartitionError@3.9"',
        "zookeeper",
    ),
    ("composed", "logs_agree_below_high_watermarks"): (
        "log.yaml",
        "deal_with_each_other(b, f) and not must_cut(f, b)",
        "deal_with_each_other(b, f)",
    ),
    ("composed", "high_watermark_is_in_the_log"): (
        "log.yaml",
        "min(before, len(broker[f].log))",
        "before",
    ),
    ("composed", "one_leader_in_an_epoch"): (
        "requests.yaml",
        "    when: broker[b].up and leader == b and is_for",
        "    when: broker[b].up and b in isr and is_for",
        "three_replicas",
    ),
    ("composed", "the_leader_is_in_sync"): (
        "controller.yaml",
        "            write(zookeeper.leader, rest)",
        "            write(b, rest)",
    ),
    ("composed", "who_is_in_sync_is_a_replica"): (
        "controller.yaml",
        "if len(zookeeper.isr - {b}) > 0 else zookeeper.isr",
        "if len(zookeeper.isr) > 0 else zookeeper.isr",
    ),
    ("composed", "a_broker_does_not_go_back"): (
        "requests.yaml",
        "is_newer(b, epoch): epoch > broker[b].epoch or",
        "is_newer(b, epoch): epoch >= 0 or",
        "crash",
    ),
    ("composed", "the_newest_controller_is_obeyed"): (
        "requests.yaml",
        "    broker[b].term = max(broker[b].term, t)\n",
        "    broker[b].term = 0\n",
        "failover",
    ),
    ("composed", "the_partition_is_led"): (
        "controller.yaml",
        "        write(chosen, isr)\n",
        "        write(none, isr)\n",
        "progress",
    ),
    ("composed", "replicas_catch_up"): (
        "log.yaml",
        "and f not in broker[b].isr and f in zookeeper.assigned",
        "and f not in broker[b].isr and f not in zookeeper.assigned",
        "progress",
    ),
    ("composed", "moves_end"): (
        "controller.yaml",
        "not move_waits_for_isr or zookeeper.target <= zookeeper.isr",
        "not move_waits_for_isr or zookeeper.assigned < zookeeper.isr",
        "progress_of_move",
    ),
    ("composed", "what_is_written_is_acknowledged"): (
        "log.yaml",
        "broker[b].ends[f] = offset",
        "broker[b].ends[f] = 0",
        "progress",
    ),
    ("composed", "who_is_gone_is_taken_out"): (
        "controller.yaml",
        "        if zookeeper.leader == b:\n            elect_or_none(t, rest)\n",
        "        if len(rest) > 0:\n            elect_or_none(t, rest)\n",
        "three_replicas",
    ),
    ("composed", "who_comes_is_known_by_its_registration"): (
        "controller.yaml",
        "      if zookeeper.leader is none and able and may_write(t):\n",
        "      if able and may_write(t):\n",
    ),
    ("composed", "what_is_known_changes_by_news"): (
        "controller.yaml",
        "    do: controller[t].acts = false\n",
        (
            "    do: |\n"
            "      controller[t].acts = false\n"
            "      controller[t].known = zookeeper.registered\n"
        ),
        "failover",
    ),
    ("composed", "an_election_is_of_the_living"): (
        "controller.yaml",
        "        write(chosen, isr)\n",
        "        write(chosen, isr - {chosen})\n",
    ),
    ("composed", "who_can_lead_does"): (
        "controller.yaml",
        "    if len(able) > 0:\n",
        "    if len(able) > 1:\n",
    ),
    ("composed", "who_stops_is_passed_over"): (
        "controller.yaml",
        "if is_alive(t, b) and not broker[b].stopping}",
        "if is_alive(t, b)}",
        "shutdown_and_lost_session",
    ),
    ("composed", "who_is_let_go_has_left"): (
        "controller.yaml",
        "          write(chosen, zookeeper.isr - {b})\n",
        "          write(chosen, zookeeper.isr)\n",
        "progress_of_failover",
    ),
    ("composed", "a_move_begins_with_both"): (
        "controller.yaml",
        "      zookeeper.assigned |= zookeeper.target\n",
        "      zookeeper.assigned = zookeeper.target\n",
        "move",
    ),
    ("composed", "a_move_ends_with_the_new"): (
        "controller.yaml",
        "if zookeeper.leader not in able or b == zookeeper.leader)",
        "if b in able)",
        "move",
    ),
    ("composed", "there_are_as_many_replicas_as_asked_for"): (
        "controller.yaml",
        "      zookeeper.assigned = zookeeper.target\n      zookeeper.target = empty\n",
        "      zookeeper.target = empty\n",
        "move",
    ),
    ("composed", "assignments_change_by_moves"): (
        "operator.yaml",
        (
            "      len(zookeeper.target) == 0 and len(chosen) == replicas and chosen != zooke"
            "eper.assigned\n"
        ),
        "      len(zookeeper.target) == 0 and len(chosen) == replicas\n",
        "move",
    ),
    ("composed", "a_change_has_a_version"): (
        "controller.yaml",
        "    zookeeper.version += 1\n",
        "    zookeeper.version += 1 if leader is not none else 0\n",
    ),
    ("composed", "who_takes_office_knows_what_holds"): (
        "controller.yaml",
        "      controller[t].left = {b for b in Broker if zookeeper.registered[b] == 0}\n",
        "",
        "failover",
    ),
    ("composed", "the_controller_in_office_acts"): (
        "controller.yaml",
        "controller[t].acts and t != zookeeper.controller\n",
        "controller[t].acts\n",
        "failover",
    ),
    ("composed", "requests_say_what_holds"): (
        "controller.yaml",
        "isr=zookeeper.isr, epoch=zookeeper.epoch,",
        "isr=zookeeper.assigned, epoch=zookeeper.epoch,",
    ),
    ("composed", "who_is_told_has_a_reason"): (
        "controller.yaml",
        "    do: controller[t].acts = false\n",
        "    do: |\n      controller[t].acts = false\n      announce(t)\n",
        "failover",
    ),
    ("composed", "news_are_acted_on"): (
        "controller.yaml",
        "when: controller[t].acts and not is_alive(t, b) and zookeeper.registered[b] > 0\n",
        (
            "when: controller[t].acts and not is_alive(t, b) and zookeeper.registered[b] > 0 "
            "and b in zookeeper.isr\n"
        ),
    ),
    ("composed", "moves_are_acted_on"): (
        "controller.yaml",
        "may_write(t) and len(zookeeper.target - zookeeper.assigned) > 0\n",
        "may_write(t) and len(zookeeper.target - zookeeper.assigned) > 1\n",
        "move",
    ),
    ("composed", "who_is_replaced_can_hear_of_it"): (
        "controller.yaml",
        "controller[t].acts and t != zookeeper.controller\n",
        "controller[t].acts and t > zookeeper.controller\n",
        "failover",
    ),
    ("composed", "a_new_leader_is_as_it_was_told"): (
        "requests.yaml",
        "    broker[b].epoch_start = len(broker[b].log)\n",
        "    broker[b].epoch_start = 0\n",
    ),
    ("composed", "a_follower_is_as_it_was_told"): (
        "requests.yaml",
        "    if truncation == BY_HIGH_WATERMARK:\n        broker",
        "    if truncation == BY_EPOCH:\n        broker",
    ),
    ("composed", "who_is_stopped_does_nothing_more"): (
        "requests.yaml",
        "    if delete:\n        broker[b].log = empty\n",
        "    if not delete:\n        broker[b].log = empty\n",
        "progress_of_failover",
    ),
    ("composed", "what_is_obeyed_is_newer"): (
        "requests.yaml",
        "is_newer(b, epoch): epoch > broker[b].epoch or",
        "is_newer(b, epoch): epoch >= broker[b].epoch or",
    ),
    ("composed", "what_is_ignored_is_old_and_changes_nothing"): (
        "requests.yaml",
        "t >= broker[b].term)\n",
        "t > broker[b].term)\n",
    ),
    ("composed", "late_copies_are_judged_as_requests_are"): (
        "requests.yaml",
        "      elif is_for(b, m.term, m.incarnation) and is_newer(b, m.epoch):\n",
        "      elif is_for(b, m.term, m.incarnation):\n",
        "move",
    ),
    ("composed", "whoever_lives_can_handle_requests"): (
        "requests.yaml",
        "    when: broker[b].up and not (is_for(b, t, incarnation) and is_newer(b, epoch))\n",
        "    when: broker[b].up and not (is_for(b, t, incarnation) or is_newer(b, epoch))\n",
        "crash",
    ),
    ("composed", "the_dead_do_nothing"): (
        "operator.yaml",
        "    broker[b].term = 0\n",
        "",
        "crash",
    ),
    ("composed", "only_leaders_keep_what_leaders_know"): (
        "requests.yaml",
        "    broker[b].version = 0\n",
        "",
    ),
    ("composed", "a_registration_is_of_the_present_process"): (
        "operator.yaml",
        (
            "    when: broker[b].up and zookeeper.registered[b] == 0\n"
            "    do: |\n"
            "      broker[b].incarnation += 1\n"
            "      zookeeper"
        ),
        (
            "    when: broker[b].up and zookeeper.registered[b] == 0\n"
            "    do: |\n"
            "      zookeeper.registered[b] = 1\n"
            "      broker[b].incarnation += 1\n"
            "      # zookeeper"
        ),
    ),
    ("composed", "every_registration_is_newer"): (
        "operator.yaml",
        (
            "    when: broker[b].up and zookeeper.registered[b] == 0\n"
            "    do: |\n"
            "      broker[b].incarnation += 1\n"
        ),
        "    when: broker[b].up and zookeeper.registered[b] == 0\n    do: |\n",
    ),
    ("composed", "who_shuts_down_does_not_lead"): (
        "operator.yaml",
        "broker[b].stopping and zookeeper.leader != b\n",
        "broker[b].stopping\n",
        "progress_of_failover",
    ),
    ("composed", "processes_come_back"): (
        "operator.yaml",
        "broker[b].stopping and zookeeper.leader != b\n",
        "broker[b].stopping and zookeeper.leader is none\n",
        "progress_of_failover",
    ),
    ("composed", "logs_change_by_reason"): (
        "operator.yaml",
        "    when: broker[b].up\n    do: die(b)\n",
        "    when: broker[b].up\n    do: |\n      broker[b].log = empty\n      die(b)\n",
        "crash",
    ),
    ("composed", "a_follower_has_what_its_leader_has"): (
        "log.yaml",
        "      broker[b].ends[f] = offset\n",
        "      broker[b].ends[f] = len(broker[b].log)\n",
    ),
    ("composed", "a_follower_cuts_only_what_has_left"): (
        "log.yaml",
        "min(end_of(f, found), end_of(b, found)))",
        "0)",
    ),
    ("composed", "whoever_lags_can_catch_up"): (
        "log.yaml",
        (
            "      or len(broker[f].log) < len(broker[b].log) or broker[f].high_watermark < b"
            "roker[b].high_watermark)\n"
        ),
        "      or len(broker[f].log) < len(broker[b].log))\n",
    ),
    ("composed", "what_the_isr_has_is_acknowledged"): (
        "log.yaml",
        "    broker[b].version = zookeeper.version\n    raise_high_watermark(b)\n",
        "    broker[b].version = zookeeper.version\n",
    ),
    ("composed", "acknowledgements_are_of_leaders"): (
        "log.yaml",
        "i < end and broker[b].log[i].epoch == broker[b].epoch:",
        "i < end:",
    ),
    ("composed", "who_changes_the_isr_may"): (
        "log.yaml",
        "f not in broker[b].isr and f in zookeeper.assigned and has_caught_up(b, f)\n",
        "f not in broker[b].isr and f in zookeeper.assigned and broker[b].ends[f] is not none\n",
    ),
    ("composed", "who_lags_may_leave_the_isr"): (
        "log.yaml",
        "(broker[b].ends[f] is none or broker[b].ends[f] < len(broker[b].log))\n    do",
        "broker[b].ends[f] is none\n    do",
    ),
    ("composed", "who_has_caught_up_may_join_the_isr"): (
        "log.yaml",
        "f not in broker[b].isr and f in zookeeper.assigned and has_caught_up(b, f)\n",
        (
            "f not in broker[b].isr and f in zookeeper.assigned and has_caught_up(b, f) and l"
            "en(broker[f].log) == records\n"
        ),
    ),
}
"""Properties that hold in every variant, each with a mistake that breaks it."""
