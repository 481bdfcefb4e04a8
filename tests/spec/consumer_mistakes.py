"""Mistakes in the systems of consumer groups, each with the property that notices it."""

from __future__ import annotations

CONSUMER_SYSTEMS = (
    "classic_consumer",
    "consumer_group_848",
    "consumer_group_replay",
    "consumer_rewrite_09",
)

CONSUMER_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
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
        "not waits_behind_sync(c, connection) and fence(m, generation) == NONE\n    do",
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
    ("consumer_group_replay", "the_same_group_is_loaded"): (
        "loader.yaml",
        "            del loader.group.members[m]",
        "            pass",
        "one_member",
    ),
    ("consumer_group_replay", "the_owner_is_loaded"): (
        "loader.yaml",
        "loader.group.owner_epoch < epoch:",
        "loader.group.owner_epoch > epoch:",
        "default",
    ),
    ("consumer_group_replay", "a_loaded_classic_group_is_as_written"): (
        "loader.yaml",
        "loader.group.type = classic_group\n        loader.group.epoch = r.number",
        "loader.group.type = classic_group\n        loader.group.epoch = 1",
        "conversions",
    ),
    ("consumer_group_replay", "the_live_group_has_one_owner"): (
        "writer.yaml",
        "m in live.group.members and not is_held()",
        "m in live.group.members and not live.group.members[m].holds",
        "default",
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
}
