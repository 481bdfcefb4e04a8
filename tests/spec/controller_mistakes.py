"""Mistakes in the controller's systems, each of which breaks one property that no variant breaks.

By system and property: the file, what stands there, what the mistake puts in its place, and the
instance that notices where it is not `default`.
"""

CONTROLLER_SYSTEMS = ("controller", "controller_failover", "topic_deletion", "reassignment")
CONTROLLER_MISTAKES: dict[tuple[str, str], tuple[str, ...]] = {
    ("controller", "leader_is_in_sync"): (
        "procedures.yaml",
        "write_record(min(b for b in rest & controller.live), rest)",
        "write_record(zookeeper.leader, rest)",
        "controlled_shutdown",
    ),
    ("controller", "leader_epoch_never_falls"): (
        "procedures.yaml",
        "    zookeeper.leader_epoch += 1\n",
        "",
    ),
    ("controller", "leader_epoch_rises_for_a_reason"): (
        "procedures.yaml",
        "    elif controller.partition == OfflinePartition:\n",
        "    else:\n",
    ),
    ("controller", "every_change_has_a_version"): (
        "procedures.yaml",
        "    zookeeper.version += 1\n",
        "",
    ),
    ("controller", "leaders_do_not_stop"): (
        "procedures.yaml",
        "electable(): controller.live - controller.shutting_down",
        "electable(): controller.live",
        "controlled_shutdown",
    ),
    ("controller", "the_first_live_replica_is_elected"): (
        "procedures.yaml",
        "write_record(min(b for b in clean), clean)",
        "write_record(max(b for b in clean), clean)",
    ),
    ("controller", "preferred_election_elects_the_first"): (
        "procedures.yaml",
        "write_record(preferred, zookeeper.isr)",
        "write_record(preferred, {preferred})",
        "preferred_election",
    ),
    ("controller", "controller_knows_the_leader"): (
        "procedures.yaml",
        "    controller.leader = zookeeper.leader\n",
        "",
    ),
    ("controller", "cache_lags_only_until_a_report"): (
        "controller.yaml",
        "      zookeeper.notified = false\n      read_record()\n      send",
        "      zookeeper.notified = false\n      send",
    ),
    ("controller", "the_dead_receive_nothing"): (
        "broker.yaml",
        "    on: requests[b].StopReplica(leader_epoch, incarnation)\n    when: broker[b].running\n",
        "    on: requests[b].StopReplica(leader_epoch, incarnation)\n",
        "shutdown_and_failover",
    ),
    ("controller", "who_keeps_up_stays_in_sync"): (
        "broker.yaml",
        "    when: leads(b) and not broker[follower].running\n",
        "    when: leads(b)\n",
    ),
    ("controller", "a_write_asks_for_a_change"): (
        "broker.yaml",
        "follower: Broker - broker[b].isr\n",
        "follower: Broker\n",
    ),
    ("controller", "a_version_is_a_change"): (
        "broker.yaml",
        "      if zookeeper.version == version:\n          zookeeper.isr = isr\n",
        "      if zookeeper.version == version:\n",
        "lost_replies",
    ),
    ("controller", "a_dead_replica_goes_offline"): (
        "procedures.yaml",
        "            remove_from_isr(b)\n            replica[b].state = OfflineReplica\n",
        "            remove_from_isr(b)\n",
    ),
    ("controller", "every_dead_replica_is_offline_after_failover"): (
        "procedures.yaml",
        "        elif offline_without_record:\n            replica[b].state = OfflineReplica\n",
        "",
        "failover",
    ),
    ("controller", "no_news_sends_nothing"): (
        "controller.yaml",
        "      if len(bounced) > 0:\n",
        "      if len(bounced) >= 0:\n",
        "all_replicas_down",
    ),
    ("controller", "a_stopping_broker_is_told_the_truth"): (
        "controller.yaml",
        "      broker[b].told_to_go = controller.leader != b\n",
        "",
        "shutdown_and_failover",
    ),
    ("controller", "an_end_in_order_needs_no_timeout"): (
        "broker.yaml",
        "      stop_process(b)\n      zookeeper.registered[b] = 0\n",
        "      stop_process(b)\n",
        "controlled_shutdown",
    ),
    ("controller", "controller_knows_who_lives"): (
        "broker.yaml",
        "and not writes(b)\n    do: |\n      zookeeper.registered[b] = 0\n      watch_fires()\n",
        "and not writes(b)\n    do: |\n      zookeeper.registered[b] = 0\n",
    ),
    ("controller", "shutting_down_brokers_are_live"): (
        "procedures.yaml",
        "    controller.shutting_down -= dead\n",
        "",
        "controlled_shutdown",
    ),
    ("controller", "online_has_a_live_leader"): (
        "procedures.yaml",
        "        controller.partition = OfflinePartition\n",
        "        pass\n",
    ),
    ("controller", "offline_only_without_choice"): (
        "procedures.yaml",
        "        elect_offline_leader()\n",
        "        pass\n",
    ),
    ("controller", "dead_replicas_leave_the_isr"): (
        "broker.yaml",
        "              broker[b].isr = isr\n",
        "              broker[b].isr = {b}\n",
        "kafka_3143_isr",
    ),
    ("controller", "clients_find_the_leader"): (
        "procedures.yaml",
        "        send(requests[b], leader_and_isr(b))\n    send_metadata(controller.live)\n",
        "        send(requests[b], leader_and_isr(b))\n",
    ),
    ("controller", "replicas_of_the_living_are_online"): (
        "procedures.yaml",
        "        replicas_to_online(started)\n",
        "        pass\n",
    ),
    ("controller", "replicas_of_the_dead_are_offline"): (
        "procedures.yaml",
        "            remove_from_isr(b)\n            replica[b].state = OfflineReplica\n",
        "            remove_from_isr(b)\n",
        "lagging_followers",
    ),
    ("controller", "metadata_never_goes_back"): (
        "broker.yaml",
        "broker[b].seen_epoch = leader_epoch",
        "broker[b].seen_epoch = leader_epoch if leader == b else 0",
        "controlled_shutdown",
    ),
    ("controller", "stopped_broker_knows_nothing"): (
        "procedures.yaml",
        "    broker[b].leader_epoch = 0\n",
        "",
    ),
    ("controller", "only_leaders_keep_an_isr"): (
        "broker.yaml",
        "leader_epoch = leader_epoch\n              broker[b].isr = empty\n",
        "leader_epoch = leader_epoch\n              broker[b].isr = broker[b].isr\n",
        "controlled_shutdown",
    ),
    ("controller", "only_followers_are_added"): (
        "broker.yaml",
        "      and broker[follower].leader_epoch == broker[b].leader_epoch\n",
        "",
        "document",
    ),
    ("controller", "isr_grows_by_followers_only"): (
        "broker.yaml",
        "if zookeeper.version == version and not (shutting",
        "if not (shutting",
        "document",
    ),
    ("controller", "a_change_is_reported"): (
        "procedures.yaml",
        "        broker[b].report_due = true\n",
        "",
    ),
    ("controller", "stopping_leader_leaves_the_isr"): (
        "procedures.yaml",
        "write_record(min(b for b in rest & controller.live), rest)",
        "write_record(min(b for b in rest & controller.live), zookeeper.isr)",
        "controlled_shutdown",
    ),
    ("controller", "stopping_follower_is_taken_offline"): (
        "controller.yaml",
        "              replicas_to_offline({b})\n",
        "              pass\n",
        "controlled_shutdown",
    ),
    ("controller", "process_ends_in_order"): (
        "broker.yaml",
        "when: broker[b].stopping and broker[b].told_to_go and",
        "when: broker[b].stopping and",
        "controlled_shutdown",
    ),
    ("controller", "a_session_is_not_a_process"): (
        "broker.yaml",
        "      watch_fires()\n    fault: lost_session",
        "      watch_fires()\n      broker[b].hosting = false\n    fault: lost_session",
        "lost_session",
    ),
    ("controller", "online_again"): (
        "procedures.yaml",
        "        elect_offline_leader()\n",
        "        pass\n",
        "offline_settles",
    ),
    ("controller", "leadership_leaves_a_stopping_broker"): (
        "controller.yaml",
        "              elect_leader_for_shutdown()\n",
        "              pass\n",
        "shutdown_settles",
    ),
    ("controller", "shutdown_ends"): (
        "controller.yaml",
        "              elect_leader_for_shutdown()\n",
        "              pass\n",
        "shutdown_settles",
    ),
    ("controller", "dead_replica_leaves_the_isr"): (
        "broker.yaml",
        "      watch_fires()\n    fair: weak\n    actor: zookeeper",
        "      watch_fires()\n    actor: zookeeper",
    ),
    ("controller", "living_replica_gets_into_the_isr"): (
        "broker.yaml",
        "broker[b].isr | {follower}, broker[b].version, broker[b].leader_epoch))\n    fair: weak",
        "broker[b].isr | {follower}, broker[b].version, broker[b].leader_epoch))",
    ),
    ("controller", "cache_is_refreshed"): (
        "controller.yaml",
        "      read_record()\n      send_metadata(controller.live)\n    fair: weak",
        "      read_record()\n      send_metadata(controller.live)",
    ),
    ("controller", "all_becomes_quiet"): (
        "broker.yaml",
        "          broker[b].seen_epoch = leader_epoch\n    fair: weak",
        "          broker[b].seen_epoch = leader_epoch",
    ),
    ("controller_failover", "leader_is_in_sync"): (
        "controller.yaml",
        "isr=candidates(c),",
        "isr=zookeeper.record.isr - candidates(c),",
    ),
    ("controller_failover", "partition_has_a_live_leader"): (
        "declarations.yaml",
        "controller[c].cache.leader is none or controller[c].cache.leader not in live(c)",
        "controller[c].cache.leader is none",
    ),
    ("topic_deletion", "nothing_is_left_behind"): (
        "declarations.yaml",
        "all(replica[b].state == ReplicaDeletionSuccessful for b in Broker)",
        "in_state(ReplicaDeletionSuccessful)",
    ),
    ("topic_deletion", "nothing_is_deleted_unasked"): (
        "controller.yaml",
        "controller.queued = zookeeper.request\n",
        "controller.queued = true\n",
        "failover_and_crash",
    ),
    ("topic_deletion", "deleted_replicas_have_no_log"): (
        "broker.yaml",
        "      broker[b].has_log = false\n",
        "",
    ),
    ("topic_deletion", "asked_once"): (
        "controller.yaml",
        "    when: zookeeper.topic and not zookeeper.request\n",
        "    when: zookeeper.topic\n",
    ),
    ("topic_deletion", "the_dead_do_nothing"): (
        "broker.yaml",
        "    when: broker[b].running\n    do: send(answers[b], Deleted(true))\n",
        "    do: send(answers[b], Deleted(true))\n",
        "storage_errors",
    ),
    ("topic_deletion", "topics_are_those_of_zookeeper"): (
        "controller.yaml",
        "      controller.known = false\n",
        "",
    ),
    ("topic_deletion", "only_what_exists_is_moved"): (
        "controller.yaml",
        "not controller.completing and controller.known\n",
        "not controller.completing\n",
        "reassignment",
    ),
    ("topic_deletion", "a_topic_leaves_the_queue_for_good"): (
        "controller.yaml",
        "          controller.queued = false\n",
        "",
    ),
    ("topic_deletion", "completion_forgets_everything"): (
        "controller.yaml",
        "              if replica[b].state == ReplicaDeletionSuccessful:\n",
        "              if b in controller.live:\n",
    ),
    ("topic_deletion", "request_goes_with_its_topic"): (
        "controller.yaml",
        "      zookeeper.request = false\n      controller.completing = false\n",
        "      controller.completing = false\n",
    ),
    ("topic_deletion", "nodes_are_removed_once"): (
        "controller.yaml",
        "    when: controller.completing and not zookeeper.record and zookeeper.topic\n",
        "    when: controller.completing and zookeeper.topic\n",
    ),
    ("topic_deletion", "a_broker_changes_its_own_replicas_only"): (
        "controller.yaml",
        "      started: zookeeper.registered - controller.live\n",
        "      started: zookeeper.registered\n",
        "storage_errors",
    ),
    ("topic_deletion", "online_replicas_are_on_live_brokers"): (
        "controller.yaml",
        "ReplicaDeletionIneligible}, OfflineReplica)\n",
        "ReplicaDeletionIneligible}, OnlineReplica)\n",
    ),
    ("topic_deletion", "replicas_are_as_their_brokers"): (
        "controller.yaml",
        "                      ask(b, OfflineReplica)\n",
        "                      pass\n",
        "failover_and_crash",
    ),
    ("topic_deletion", "a_new_controller_believes_zookeeper"): (
        "controller.yaml",
        "      controller.awake = zookeeper.request\n",
        "",
        "failover",
    ),
    ("topic_deletion", "partition_goes_before_its_replicas"): (
        "controller.yaml",
        "              if partition_gone_at_start:\n                  forget_partition()\n",
        "",
    ),
    ("topic_deletion", "worker_is_woken"): (
        "controller.yaml",
        "controller.awake and not all_deleted()",
        "not all_deleted()",
    ),
    ("topic_deletion", "worker_is_woken_for_something"): (
        "declarations.yaml",
        "    if controller.queued:\n        controller.ineligible = false\n        wake()\n",
        "    controller.ineligible = false\n    wake()\n",
    ),
    ("topic_deletion", "worker_waits_for_answers"): (
        "controller.yaml",
        "      if not in_state(ReplicaDeletionStarted):\n",
        "      if replica[max(b for b in Broker)].state != ReplicaDeletionStarted:\n",
        "three_replicas",
    ),
    ("topic_deletion", "worker_leaves_an_ineligible_topic_alone"): (
        "controller.yaml",
        "          if not controller.ineligible:\n",
        "          if not controller.reassigning:\n",
    ),
    ("topic_deletion", "a_dead_broker_holds_the_topic_up"): (
        "controller.yaml",
        "              if len(dead) > 0:\n",
        "              if len(dead) > 1:\n",
    ),
    ("topic_deletion", "a_failure_is_kept"): (
        "controller.yaml",
        "          fail_deletion({b})\n",
        "          wake()\n",
        "storage_errors",
    ),
    ("topic_deletion", "table_moves_are_not_refused"): (
        "declarations.yaml",
        "OfflineReplica, ReplicaDeletionIneligible}\n    or after == ReplicaDeletionStarted",
        "OfflineReplica}\n    or after == ReplicaDeletionStarted",
    ),
    ("topic_deletion", "completion_ends"): (
        "controller.yaml",
        "    when: controller.completing and not zookeeper.topic\n",
        "    when: controller.completing and not zookeeper.topic and controller.known\n",
        "failover",
    ),
    ("topic_deletion", "gone_partition_has_no_replica_in_use"): (
        "controller.yaml",
        "                  ask(b, NonExistentReplica)\n",
        "                  pass\n",
    ),
    ("topic_deletion", "started_replica_is_answered"): (
        "controller.yaml",
        "                  fail_deletion(dead)\n",
        "                  pass\n",
    ),
    ("reassignment", "leader_is_in_sync"): (
        "controller.yaml",
        "for b in controller.target & controller.live), zookeeper.isr)",
        "for b in controller.target & controller.live), zookeeper.isr & {zookeeper.leader})",
    ),
    ("reassignment", "isr_is_never_empty"): (
        "broker.yaml",
        "    do: zookeeper.isr.discard(f)\n",
        "    do: zookeeper.isr.clear()\n",
    ),
    ("reassignment", "a_dead_replica_leaves_the_isr"): (
        "controller.yaml",
        "          else:\n              write_record(zookeeper.leader, rest)\n          send",
        "          send",
        "crash",
    ),
    ("reassignment", "a_dead_leader_is_replaced"): (
        "controller.yaml",
        "                  write_record(min(x for x in rest & controller.live), rest)\n",
        "                  write_record(zookeeper.leader, rest)\n",
        "crash",
    ),
    ("reassignment", "who_is_alive_stays_in_sync"): (
        "controller.yaml",
        "          rest = zookeeper.isr - {b}\n          if len(rest) == 0:",
        "          rest = {b}\n          if len(rest) == 0:",
        "crash",
    ),
    ("reassignment", "a_stopped_process_has_forgotten"): (
        "broker.yaml",
        "      broker[b].epoch = 0\n      broker[b].seen = 0\n",
        "      broker[b].epoch = 0\n",
        "crash",
    ),
    ("reassignment", "a_move_past_its_leader_goes_on"): (
        "controller.yaml",
        "when: controller.target is not none and controller.phase in {begun, waiting} and",
        "when: controller.target is not none and",
        "cancelled",
    ),
    ("reassignment", "without_a_move_nothing_is_under_way"): (
        "controller.yaml",
        "      controller.phase = idle\n      history.asked = zookeeper.original\n",
        "      history.asked = zookeeper.original\n",
        "cancelled",
    ),
    ("reassignment", "a_done_request_is_gone"): (
        "controller.yaml",
        "zookeeper.node == controller.target:\n          zookeeper.node = none\n",
        "zookeeper.node == controller.target:\n          pass\n",
        "document",
    ),
    ("reassignment", "isr_is_assigned"): (
        "controller.yaml",
        "      stop_replicas(zookeeper.assigned - controller.target)\n",
        "      pass\n",
    ),
    ("reassignment", "leader_epoch_never_falls"): (
        "declarations.yaml",
        "    zookeeper.epoch += 1\n    controller.epoch",
        "    controller.epoch",
    ),
    ("reassignment", "new_replicas_are_in_sync_first"): (
        "controller.yaml",
        "and controller.target <= zookeeper.isr and len(",
        "and len(",
    ),
    ("reassignment", "old_replicas_serve_until_then"): (
        "declarations.yaml",
        "zookeeper.assigned = zookeeper.original | target",
        "zookeeper.assigned = target",
    ),
    ("reassignment", "memory_is_what_is_stored"): (
        "declarations.yaml",
        "    controller.assigned = zookeeper.assigned\n    controller.phase = begun",
        "    controller.phase = begun",
    ),
    ("reassignment", "replicas_know_the_leader_epoch"): (
        "controller.yaml",
        "(controller.assigned)\n      send_metadata()\n      controller.phase = waiting",
        "(empty)\n      send_metadata()\n      controller.phase = waiting",
    ),
    ("reassignment", "nothing_is_left_behind"): (
        "declarations.yaml",
        "        send(requests[b], DeleteReplica(controller.epoch))",
        "        pass",
    ),
    ("reassignment", "move_ends"): (
        "controller.yaml",
        "      controller.phase = waiting\n",
        "      controller.phase = idle\n",
    ),
}
