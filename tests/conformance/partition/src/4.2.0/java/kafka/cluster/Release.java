package kafka.cluster;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;

/** What this release has in another package than others. */
final class Release {
  private Release() {}

  /** A record of a producer. */
  static MemoryRecords record() {
    return MemoryRecords.withRecords(Compression.NONE, new SimpleRecord("value".getBytes()));
  }
}
