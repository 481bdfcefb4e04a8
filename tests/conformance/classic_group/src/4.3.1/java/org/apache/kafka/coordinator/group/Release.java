package org.apache.kafka.coordinator.group;

import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;

/** What is written differently in this release. */
final class Release {
  private Release() {}

  /** Let one timer fire. */
  static CoordinatorResult<Void, CoordinatorRecord> fire(
      GroupMetadataManagerTestContext context, String key) throws Exception {
    var timer = context.timer.timeout(key);
    if (timer == null) {
      throw new IllegalStateException("no timer " + key);
    }
    context.timer.cancel(key);
    return timer.operation().generateRecords();
  }
}
