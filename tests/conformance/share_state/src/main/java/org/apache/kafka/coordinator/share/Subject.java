package org.apache.kafka.coordinator.share;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.DeleteShareGroupStateRequestData;
import org.apache.kafka.common.message.InitializeShareGroupStateRequestData;
import org.apache.kafka.common.message.ReadShareGroupStateRequestData;
import org.apache.kafka.common.message.WriteShareGroupStateRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetrics;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetricsShard;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotValue;
import org.apache.kafka.coordinator.share.generated.ShareUpdateValue;
import org.apache.kafka.server.share.SharePartitionKey;
import org.mockito.Mockito;

/**
 * A ShareCoordinatorShard, the records that it gave and that are not committed yet, and a second
 * shard that has replayed the committed ones: what a broker would load.
 */
final class Subject implements Protocol.Subject {
  private static final String GROUP = "group";
  private static final Uuid TOPIC = Uuid.randomUuid();
  private static final SharePartitionKey KEY = SharePartitionKey.getInstance(GROUP, TOPIC, 0);
  private static final byte AVAILABLE = 0;
  private static final byte ACKNOWLEDGED = 2;
  private static final CoordinatorMetrics METRICS = stub(CoordinatorMetrics.class);
  private static final CoordinatorMetricsShard SHARD_METRICS = stub(CoordinatorMetricsShard.class);
  private static final CoordinatorMetadataImage IMAGE = image();

  private record Logged(long offset, CoordinatorRecord record) {}

  /** An operation that waits for the log; without a record where it waits only for its turn. */
  private record Pending(Optional<Logged> logged) {}

  private final ShareCoordinatorConfig configuration;
  private final Deque<Pending> pending = new ArrayDeque<>();
  private final List<Logged> log = new ArrayList<>();
  private long end = 0;
  private ShareCoordinatorShard shard;
  private ShareCoordinatorShard committed;

  Subject(JsonNode with) {
    int updates = with.get("updates_per_snapshot").asInt();
    configuration =
        Mockito.mock(
            ShareCoordinatorConfig.class,
            Mockito.withSettings()
                .stubOnly()
                .defaultAnswer(
                    called ->
                        called.getMethod().getName()
                                .equals("shareCoordinatorSnapshotUpdateRecordsPerSnapshot")
                            ? updates
                            : Mockito.RETURNS_DEFAULTS.answer(called)));
    shard = load();
    committed = load();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode().put("updates_per_snapshot", 1);
    Subject warm = new Subject(one); // loading Kafka's classes is not to count as a slow reply
    warm.initialise(1);
    warm.observe();
    Protocol.serve("ShareCoordinatorShard", Protocol.kafka(), Subject::new);
  }

  private static <T> T stub(Class<T> type) {
    return Mockito.mock(type, Mockito.withSettings().stubOnly());
  }

  private static CoordinatorMetadataImage image() {
    var topic = Mockito.mock(CoordinatorMetadataImage.TopicMetadata.class);
    Mockito.when(topic.partitionCount()).thenReturn(1);
    var image = Mockito.mock(CoordinatorMetadataImage.class);
    Mockito.when(image.topicMetadata(TOPIC)).thenReturn(Optional.of(topic));
    return image;
  }

  /** Return a shard that has replayed the log. */
  private ShareCoordinatorShard load() {
    ShareCoordinatorShard loaded = Release.open(configuration, METRICS, SHARD_METRICS);
    log.forEach(logged -> replay(loaded, logged));
    Release.update(loaded, IMAGE);
    return loaded;
  }

  private static void replay(ShareCoordinatorShard into, Logged logged) {
    into.replay(logged.offset(), -1, (short) -1, logged.record());
  }

  /** Append and replay the records of an operation, as CoordinatorRuntime does. */
  private <T> T appended(CoordinatorResult<T, CoordinatorRecord> result) {
    for (CoordinatorRecord record : result.records()) {
      Logged logged = new Logged(end++, record);
      replay(shard, logged);
      pending.add(new Pending(Optional.of(logged)));
    }
    return result.response();
  }

  @Override
  public Object call(String called, JsonNode with) {
    switch (called) {
      case "read":
        return read(with.get("leader_epoch").asInt());
      case "write":
        return write(with);
      case "initialise":
        return initialise(with.get("state_epoch").asInt());
      case "delete":
        delete();
        return null;
      case "move":
        move(with.get("kept").asInt(), with.get("pruned").asBoolean());
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  @Override
  public Object complete(String operation, String outcome, JsonNode with) {
    commit(pending.remove());
    return null;
  }

  private void commit(Pending done) {
    done.logged().ifPresent(
        logged -> {
          log.add(logged);
          replay(committed, logged);
        });
  }

  private Object read(int leaderEpoch) {
    var request =
        new ReadShareGroupStateRequestData()
            .setGroupId(GROUP)
            .setTopics(
                List.of(
                    new ReadShareGroupStateRequestData.ReadStateData()
                        .setTopicId(TOPIC)
                        .setPartitions(
                            List.of(
                                new ReadShareGroupStateRequestData.PartitionData()
                                    .setPartition(0)
                                    .setLeaderEpoch(leaderEpoch)))));
    var result = shard.readStateAndMaybeUpdateLeaderEpoch(request);
    var said = appended(result).results().get(0).partitions().get(0);
    if (said.errorCode() != Errors.NONE.code()) {
      return Map.of(
          "kind", "ReadFailed", "leader_epoch", leaderEpoch, "fenced", fenced(said.errorCode()));
    }
    if (result.records().isEmpty()) {
      pending.add(new Pending(Optional.empty()));
    }
    Map<Long, Object> batches = new TreeMap<>();
    said.stateBatches().forEach(
        batch ->
            describe(
                batches, batch.firstOffset(), batch.lastOffset(), batch.deliveryCount(),
                batch.deliveryState()));
    return Map.of(
        "kind", "ReadDone", "leader_epoch", leaderEpoch, "state_epoch", said.stateEpoch(),
        "start_offset", said.startOffset(), "batches", batches);
  }

  private static boolean fenced(short error) {
    return switch (Errors.forCode(error)) {
      case FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH -> true;
      case INVALID_REQUEST -> false;
      default -> throw new AssertionError("answered " + Errors.forCode(error));
    };
  }

  private Object write(JsonNode with) {
    int leaderEpoch = with.get("leader_epoch").asInt();
    long offset = with.get("offset").asLong();
    boolean accept = with.get("accept").asBoolean();
    var request =
        new WriteShareGroupStateRequestData()
            .setGroupId(GROUP)
            .setTopics(
                List.of(
                    new WriteShareGroupStateRequestData.WriteStateData()
                        .setTopicId(TOPIC)
                        .setPartitions(
                            List.of(
                                new WriteShareGroupStateRequestData.PartitionData()
                                    .setPartition(0)
                                    .setLeaderEpoch(leaderEpoch)
                                    .setStateEpoch(with.get("state_epoch").asInt())
                                    .setStartOffset(with.get("start_offset").asLong())
                                    .setStateBatches(
                                        List.of(
                                            new WriteShareGroupStateRequestData.StateBatch()
                                                .setFirstOffset(offset)
                                                .setLastOffset(offset)
                                                .setDeliveryCount((short) with.get("delivery").asInt())
                                                .setDeliveryState(
                                                    accept ? ACKNOWLEDGED : AVAILABLE)))))));
    var said = appended(shard.writeState(request)).results().get(0).partitions().get(0);
    if (said.errorCode() != Errors.NONE.code()) {
      return Map.of(
          "kind", "WriteFailed", "leader_epoch", leaderEpoch, "offset", offset, "fenced",
          fenced(said.errorCode()));
    }
    return Map.of(
        "kind", "WriteDone", "leader_epoch", leaderEpoch, "offset", offset, "accept", accept);
  }

  private boolean initialise(int stateEpoch) {
    var request =
        new InitializeShareGroupStateRequestData()
            .setGroupId(GROUP)
            .setTopics(
                List.of(
                    new InitializeShareGroupStateRequestData.InitializeStateData()
                        .setTopicId(TOPIC)
                        .setPartitions(
                            List.of(
                                new InitializeShareGroupStateRequestData.PartitionData()
                                    .setPartition(0)
                                    .setStateEpoch(stateEpoch)
                                    .setStartOffset(0)))));
    var said = appended(shard.initializeState(request)).results().get(0).partitions().get(0);
    return said.errorCode() == Errors.NONE.code();
  }

  private void delete() {
    var request =
        new DeleteShareGroupStateRequestData()
            .setGroupId(GROUP)
            .setTopics(
                List.of(
                    new DeleteShareGroupStateRequestData.DeleteStateData()
                        .setTopicId(TOPIC)
                        .setPartitions(
                            List.of(
                                new DeleteShareGroupStateRequestData.PartitionData()
                                    .setPartition(0)))));
    var said = appended(shard.deleteState(request)).results().get(0).partitions().get(0);
    if (said.errorCode() != Errors.NONE.code()) {
      throw new AssertionError("a deletion answered " + Errors.forCode(said.errorCode()));
    }
  }

  /** Another broker loads the log, which has the first records that wait and may be pruned. */
  private void move(int kept, boolean pruned) {
    if (pruned) {
      committed.lastRedundantOffset().response()
          .ifPresent(offset -> log.removeIf(logged -> logged.offset() < offset));
    }
    for (int taken = 0; taken < kept; taken++) {
      commit(pending.remove());
    }
    pending.clear();
    end = log.isEmpty() ? end : log.get(log.size() - 1).offset() + 1;
    committed = load();
    shard = load();
  }

  @Override
  public Map<String, Object> observe() throws ReflectiveOperationException {
    Map<String, Object> fields = new HashMap<>();
    fields.put("value", value(shard));
    fields.put("leader_epoch", orZero(shard.getLeaderMapValue(KEY)));
    fields.put("state_epoch", orZero(shard.getStateEpochMapValue(KEY)));
    fields.put("updates", updates(shard));
    fields.put("log_value", value(committed));
    fields.put("log_leader_epoch", orZero(committed.getLeaderMapValue(KEY)));
    fields.put("log_updates", updates(committed));
    List<Object> records = new ArrayList<>();
    pending.forEach(
        waiting -> records.add(waiting.logged().map(l -> described(l.record())).orElse(null)));
    fields.put("pending", records);
    return fields;
  }

  private static int orZero(Integer value) {
    return value == null ? 0 : value;
  }

  private static int updates(ShareCoordinatorShard of) throws ReflectiveOperationException {
    var field = ShareCoordinatorShard.class.getDeclaredField("snapshotUpdateCount");
    field.setAccessible(true);
    return orZero((Integer) ((Map<?, ?>) field.get(of)).get(KEY));
  }

  private static Map<String, Object> value(ShareCoordinatorShard of) {
    ShareGroupOffset held = of.getShareStateMapValue(KEY);
    Map<String, Object> found = new HashMap<>();
    found.put("exists", held != null);
    found.put("state_epoch", held == null ? 0 : held.stateEpoch());
    found.put("leader_epoch", held == null ? 0 : held.leaderEpoch());
    found.put("start_offset", held == null ? 0 : held.startOffset());
    Map<Long, Object> batches = new TreeMap<>();
    if (held != null) {
      held.stateBatches().forEach(
          batch ->
              describe(
                  batches, batch.firstOffset(), batch.lastOffset(), batch.deliveryCount(),
                  batch.deliveryState()));
    }
    found.put("batches", batches);
    return found;
  }

  private static void describe(
      Map<Long, Object> batches, long first, long last, short delivery, byte state) {
    if (state != ACKNOWLEDGED && state != AVAILABLE) {
      throw new AssertionError("a batch has the state " + state);
    }
    for (long offset = first; offset <= last; offset++) {
      batches.put(offset, Map.of("delivery", delivery, "accept", state == ACKNOWLEDGED));
    }
  }

  private static Map<String, Object> described(CoordinatorRecord record) {
    Map<String, Object> found = new HashMap<>();
    Map<Long, Object> batches = new TreeMap<>();
    found.put("batches", batches);
    for (String name : Arrays.asList("state_epoch", "leader_epoch", "start_offset")) {
      found.put(name, 0);
    }
    if (record.value() == null) {
      found.put("kind", "TOMBSTONE");
    } else if (record.value().message() instanceof ShareSnapshotValue snapshot) {
      found.put("kind", "SNAPSHOT");
      found.put("state_epoch", snapshot.stateEpoch());
      found.put("leader_epoch", snapshot.leaderEpoch());
      found.put("start_offset", snapshot.startOffset());
      snapshot.stateBatches().forEach(
          batch ->
              describe(
                  batches, batch.firstOffset(), batch.lastOffset(), batch.deliveryCount(),
                  batch.deliveryState()));
    } else {
      ShareUpdateValue update = (ShareUpdateValue) record.value().message();
      found.put("kind", "UPDATE");
      found.put("leader_epoch", update.leaderEpoch());
      found.put("start_offset", update.startOffset());
      update.stateBatches().forEach(
          batch ->
              describe(
                  batches, batch.firstOffset(), batch.lastOffset(), batch.deliveryCount(),
                  batch.deliveryState()));
    }
    return found;
  }
}
