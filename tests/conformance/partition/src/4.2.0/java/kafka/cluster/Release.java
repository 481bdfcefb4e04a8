package kafka.cluster;

import static org.mockito.Mockito.mock;

import kafka.log.LogManager;
import kafka.server.AlterPartitionManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.partition.AlterPartitionListener;
import scala.Option;

/** What this release has otherwise than others. */
final class Release {
  private static final long LAG_MS = 30_000;

  private Release() {}

  /** A replica of a broker that nothing was told of yet. */
  static Partition partition(TopicPartition name, int broker, Uuid topic) {
    return new Partition(
        name,
        LAG_MS,
        broker,
        () -> -1L,
        Time.SYSTEM,
        mock(AlterPartitionListener.class),
        mock(DelayedOperations.class),
        mock(MetadataCache.class),
        mock(LogManager.class),
        mock(AlterPartitionManager.class),
        Option.apply(topic));
  }

  /** A record of a producer. */
  static MemoryRecords record() {
    return MemoryRecords.withRecords(Compression.NONE, new SimpleRecord("value".getBytes()));
  }
}
