package org.apache.kafka.coordinator.share;

import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetrics;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetricsShard;
import org.apache.kafka.timeline.SnapshotRegistry;

/** What ShareCoordinatorShard is given in Kafka 4.4.0. */
final class Release {
  private Release() {}

  static ShareCoordinatorShard open(
      ShareCoordinatorConfig configuration,
      CoordinatorMetrics metrics,
      CoordinatorMetricsShard shardMetrics) {
    LogContext context = new LogContext();
    return new ShareCoordinatorShard(
        context, configuration, metrics, shardMetrics, new SnapshotRegistry(context), Time.SYSTEM);
  }

  static void update(ShareCoordinatorShard shard, CoordinatorMetadataImage image) {
    shard.onMetadataUpdate(null, image);
  }
}
