package org.apache.kafka.coordinator.group;

/** From 4.3 on there is an interval between targets. */
final class Release {
  private Release() {}

  static GroupMetadataManagerTestContext.Builder assigningAtOnce(
      GroupMetadataManagerTestContext.Builder builder) {
    return builder.withConfig(GroupCoordinatorConfig.SHARE_GROUP_ASSIGNMENT_INTERVAL_MS_CONFIG, 0);
  }
}
