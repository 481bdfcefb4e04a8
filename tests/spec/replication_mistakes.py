"""Mistakes in `replication_isr`, each of which breaks one property that no variant breaks.

By system and property: the file, what stands there, what the mistake puts in its place, and the
instance that notices where it is not `default`.
"""

REPLICATION_SYSTEMS = ("replication_isr",)
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
}
"""Properties that hold in every variant, each with a mistake that breaks it."""
