package org.apache.kafka.coordinator.group;

/** Up to 4.2 each target is made at once. */
final class Release {
  private Release() {}

  static GroupMetadataManagerTestContext.Builder assigningAtOnce(
      GroupMetadataManagerTestContext.Builder builder) {
    return builder;
  }
}
