"""Mistakes in `replication_isr` and `composed`: each breaks a property that no variant breaks.

By system and property: the file, what stands there, what the mistake puts in its place, and the
instance that notices where it is not `default`.
"""

REPLICATION_SYSTEMS = ("replication_isr", "composed")
REPLICATION_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
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
}
"""Properties that hold in every variant, each with a mistake that breaks it."""
