package org.apache.kafka.coordinator.group;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.MetadataImageBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

/** What 4.3 has otherwise than 4.2: partitions with the epochs of their assignment, an interval between targets. */
final class Release {
  static final long NO_PRODUCER = RecordBatch.NO_PRODUCER_ID;

  /** The epoch of a consumer group that nobody has joined yet. */
  static final int FIRST_EPOCH = 1;

  private Release() {}

  static GroupMetadataManagerTestContext.Builder assigning(
      GroupMetadataManagerTestContext.Builder builder, int interval) {
    return builder.withConfig(
        GroupCoordinatorConfig.CONSUMER_GROUP_ASSIGNMENT_INTERVAL_MS_CONFIG, interval);
  }

  /** Let a member hold partition 0 of topics, each since an epoch. */
  static ConsumerGroupMember.Builder holding(
      ConsumerGroupMember.Builder member, Map<Uuid, Integer> since) {
    Map<Uuid, Map<Integer, Integer>> held = new HashMap<>();
    since.forEach((topic, epoch) -> held.put(topic, Map.of(0, epoch)));
    return member.setAssignedPartitions(held);
  }

  /** Since which epochs a member holds, or is to give up, partition 0 of each topic. */
  static Map<Uuid, Integer> since(ConsumerGroupMember member) {
    Map<Uuid, Integer> found = new HashMap<>();
    member.assignedPartitions().forEach((topic, of) -> found.put(topic, of.get(0)));
    member.partitionsPendingRevocation().forEach((topic, of) -> found.put(topic, of.get(0)));
    return found;
  }

  static void update(GroupMetadataManager manager, CoordinatorMetadataDelta delta) {
    manager.onMetadataUpdate(delta, delta.image());
  }

  static CoordinatorRecord targetTombstone(String group) {
    return GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentMetadataTombstoneRecord(group);
  }

  static OffsetMetadataManager.Builder seeing(
      OffsetMetadataManager.Builder offsets, MetadataImageBuilder image) {
    return offsets.withMetadataImage(image.buildCoordinatorMetadataImage());
  }
}
