package org.apache.kafka.coordinator.group;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.MetadataImageBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

/** What 4.2 has otherwise than 4.3: partitions without epochs of their own, no interval between targets. */
final class Release {
  static final long NO_PRODUCER = RecordBatch.NO_PRODUCER_ID;

  /** The epoch of a consumer group that nobody has joined yet. */
  static final int FIRST_EPOCH = 0;

  private Release() {}

  static GroupMetadataManagerTestContext.Builder assigning(
      GroupMetadataManagerTestContext.Builder builder, int interval) {
    if (interval > 0) {
      throw new UnsupportedOperationException("this release makes each target at once");
    }
    return builder;
  }

  /** Let a member hold partition 0 of topics; since which epochs is not kept. */
  static ConsumerGroupMember.Builder holding(
      ConsumerGroupMember.Builder member, Map<Uuid, Integer> since) {
    Map<Uuid, Set<Integer>> held = new HashMap<>();
    since.keySet().forEach(topic -> held.put(topic, Set.of(0)));
    return member.setAssignedPartitions(held);
  }

  static Map<Uuid, Integer> since(ConsumerGroupMember member) {
    throw new UnsupportedOperationException("this release keeps no epochs of assignments");
  }

  static void update(GroupMetadataManager manager, CoordinatorMetadataDelta delta) {
    manager.onNewMetadataImage(delta.image(), delta);
  }

  static CoordinatorRecord targetTombstone(String group) {
    return GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentEpochTombstoneRecord(group);
  }

  static OffsetMetadataManager.Builder seeing(
      OffsetMetadataManager.Builder offsets, MetadataImageBuilder image) {
    return offsets.withMetadataImage(image.build());
  }
}
