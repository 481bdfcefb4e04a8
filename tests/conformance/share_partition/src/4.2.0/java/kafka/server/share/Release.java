package kafka.server.share;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.Timer;
import org.mockito.Mockito;

/** What SharePartition is given in Kafka 4.2.0. */
final class Release {
  private Release() {}

  private static final ReplicaManager REPLICAS = stub(ReplicaManager.class);
  private static final GroupConfigManager CONFIGURATION = stub(GroupConfigManager.class);
  private static final SharePartitionManager.SharePartitionListener LISTENER =
      stub(SharePartitionManager.SharePartitionListener.class);

  static SharePartition open(
      TopicIdPartition partition,
      int inFlightLimit,
      int deliveryLimit,
      Timer timer,
      Persister persister,
      DeadLetters deadLetters) {
    if (deadLetters.enabled) {
      throw new IllegalArgumentException("this release has no dead letters");
    }
    return new SharePartition(
        "group", partition, 0, inFlightLimit, deliveryLimit, 30_000, timer, Time.SYSTEM, persister,
        REPLICAS, CONFIGURATION, LISTENER);
  }

  /** Return batches of the log, from their first offset to their last, as they are read. */
  static FetchPartitionData fetched(Map<Long, Long> batches, long logStart, long end) {
    List<MemoryRecords> found = new ArrayList<>();
    int size = 0;
    for (var batch : batches.entrySet()) {
      SimpleRecord[] content = new SimpleRecord[(int) (batch.getValue() - batch.getKey() + 1)];
      Arrays.fill(content, new SimpleRecord("value".getBytes(StandardCharsets.UTF_8)));
      found.add(MemoryRecords.withRecords(batch.getKey(), Compression.NONE, content));
      size += found.get(found.size() - 1).sizeInBytes();
    }
    ByteBuffer joined = ByteBuffer.allocate(size);
    found.forEach(batch -> joined.put(batch.buffer().duplicate()));
    joined.flip();
    return new FetchPartitionData(
        Errors.NONE, end, logStart, MemoryRecords.readableRecords(joined), Optional.empty(),
        OptionalLong.empty(), Optional.empty(), OptionalInt.empty(), false);
  }

  private static <T> T stub(Class<T> type) {
    return Mockito.mock(type, Mockito.withSettings().stubOnly());
  }
}
