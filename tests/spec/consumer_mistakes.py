"""Mistakes in the systems of consumer groups, each with the property that notices it."""

from __future__ import annotations

CONSUMER_SYSTEMS = ("consumer_group_848", "consumer_group_replay", "consumer_rewrite_09")

CONSUMER_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
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
