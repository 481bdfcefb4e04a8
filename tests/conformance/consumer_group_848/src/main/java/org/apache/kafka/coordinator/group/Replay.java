package org.apache.kafka.coordinator.group;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.MetadataImageBuilder;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetricsShard;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.mockito.Mockito;

/** A GroupMetadataManager, and an OffsetMetadataManager beside it, that read the records of one group back. */
final class Replay implements Protocol.Subject {
  private static final String GROUP = "group";
  private static final String TOPIC = "t";
  private static final Uuid TOPIC_ID = new Uuid(1, 1);
  private static final int PARTITION = 0;

  private final GroupMetadataManagerTestContext groups;
  private final OffsetMetadataManager offsets;
  private boolean failed;

  Replay(JsonNode with) {
    var image = new MetadataImageBuilder().addTopic(TOPIC_ID, TOPIC, 1);
    groups =
        new GroupMetadataManagerTestContext.Builder()
            .withMetadataImage(image.buildCoordinatorMetadataImage())
            .build();
    offsets =
        Release.seeing(new OffsetMetadataManager.Builder(), image)
            .withTime(new MockTime())
            .withLogContext(new LogContext())
            .withSnapshotRegistry(new SnapshotRegistry(new LogContext()))
            .withGroupMetadataManager(groups.groupMetadataManager)
            .withGroupCoordinatorConfig(GroupCoordinatorConfig.fromProps(Map.of()))
            .withGroupCoordinatorMetricsShard(Mockito.mock(GroupCoordinatorMetricsShard.class))
            .build();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    new Replay(JsonNodeFactory.instance.objectNode()).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("GroupMetadataManager", Protocol.kafka(), Replay::new);
  }

  /** Reads a batch: records by their offset, in its order. A record that throws ends the load. */
  @Override
  public Object call(String called, JsonNode with) {
    var batch = new TreeMap<Integer, JsonNode>();
    with.get("records").fields().forEachRemaining(entry -> batch.put(Integer.valueOf(entry.getKey()), entry.getValue()));
    try {
      batch.forEach(this::replay);
    } catch (IllegalStateException thrown) {
      failed = true;
    }
    return null;
  }

  private void replay(int offset, JsonNode record) {
    if (record.get("kind").asText().equals("offset")) {
      var value = new OffsetCommitValue().setOffset(offset).setCommitTimestamp(0L);
      var key = new OffsetCommitKey().setGroup(GROUP).setTopic(TOPIC).setPartition(PARTITION);
      offsets.replay(offset, Release.NO_PRODUCER, key, value);
    } else {
      if (record.get("kind").asText().equals("group") && !record.get("value").asBoolean()) {
        // of the target, which the model leaves out; the two are always written together
        groups.replay(Release.targetTombstone(GROUP));
      }
      groups.replay(record(record));
    }
  }

  private static CoordinatorRecord record(JsonNode record) {
    String member = record.get("member").asText();
    int number = record.get("number").asInt();
    boolean value = record.get("value").asBoolean();
    return switch (record.get("kind").asText()) {
      case "classic" ->
          value
              ? GroupCoordinatorRecordHelpers.newGroupMetadataRecord(classic(number), Map.of())
              : GroupCoordinatorRecordHelpers.newGroupMetadataTombstoneRecord(GROUP);
      case "group" ->
          value
              ? GroupCoordinatorRecordHelpers.newConsumerGroupEpochRecord(GROUP, number, 0)
              : GroupCoordinatorRecordHelpers.newConsumerGroupEpochTombstoneRecord(GROUP);
      case "member_metadata" ->
          value
              ? GroupCoordinatorRecordHelpers.newConsumerGroupMemberSubscriptionRecord(GROUP, member(member, 0, false))
              : GroupCoordinatorRecordHelpers.newConsumerGroupMemberSubscriptionTombstoneRecord(GROUP, member);
      case "current_assignment" ->
          value
              ? GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentRecord(
                  GROUP, member(member, number, record.get("holds").asBoolean()))
              : GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentTombstoneRecord(GROUP, member);
      default -> throw new IllegalArgumentException("no record is of this kind: " + record);
    };
  }

  private static ClassicGroup classic(int generation) {
    return new ClassicGroup(
        new LogContext(), GROUP, ClassicGroupState.EMPTY, new MockTime(), generation,
        Optional.of("consumer"), Optional.empty(), Optional.empty(), Optional.of(0L));
  }

  private static ConsumerGroupMember member(String id, int epoch, boolean holds) {
    var member =
        new ConsumerGroupMember.Builder(id)
            .setState(MemberState.STABLE)
            .setMemberEpoch(epoch)
            .setPreviousMemberEpoch(epoch)
            .setClientId("client")
            .setClientHost("host")
            .setRebalanceTimeoutMs(300_000)
            .setSubscribedTopicNames(List.of(TOPIC));
    return Release.holding(member, holds ? Map.of(TOPIC_ID, epoch) : Map.of()).build();
  }

  @Override
  public Map<String, Object> observe() {
    Map<String, Object> fields = new HashMap<>();
    Map<String, Object> members = new TreeMap<>();
    fields.put("failed", failed);
    fields.put("type", "absent");
    fields.put("epoch", 0);
    fields.put("members", members);
    fields.put("owner_epoch", null);
    if (failed || !groups.groupMetadataManager.groupIds().contains(GROUP)) {
      return fields;
    }
    if (groups.groupMetadataManager.group(GROUP) instanceof ClassicGroup group) {
      fields.put("type", group.isSimpleGroup() ? "simple" : "classic_group");
      fields.put("epoch", group.generationId());
    } else {
      ConsumerGroup group = groups.groupMetadataManager.consumerGroup(GROUP);
      fields.put("type", "consumer_group");
      fields.put("epoch", group.groupEpoch());
      int owner = group.currentPartitionEpoch(TOPIC_ID, PARTITION);
      fields.put("owner_epoch", owner < 0 ? null : owner);
      group.members().forEach(
          (id, member) -> members.put(id, Map.of("epoch", member.memberEpoch(), "holds", !member.assignedPartitions().isEmpty())));
    }
    return fields;
  }
}
