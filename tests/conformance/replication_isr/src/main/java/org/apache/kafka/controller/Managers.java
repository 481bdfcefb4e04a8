package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.FakeKafkaConfigSchema;
import org.apache.kafka.metadata.RecordTestUtils;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.EligibleLeaderReplicasVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * A ReplicationControlManager with the managers that it asks, eligible leader replicas on, and brokers that come and
 * go. Records are replayed at once.
 */
final class Managers {
  static final long FIRST_EPOCH = 100; // of a broker, at its first registration
  private static final String CLUSTER = "conformance";

  private final SnapshotRegistry snapshots = new SnapshotRegistry(new LogContext());
  private final FeatureControlManager features;
  final ClusterControlManager cluster;
  final ConfigurationControlManager configuration;
  final ReplicationControlManager replication;

  Managers() {
    features =
        new FeatureControlManager.Builder()
            .setSnapshotRegistry(snapshots)
            .setQuorumFeatures(
                new QuorumFeatures(
                    0, QuorumFeatures.defaultSupportedFeatureMap(true), List.of(0)))
            .build();
    feature(MetadataVersion.FEATURE_NAME, MetadataVersion.latestProduction().featureLevel());
    feature(
        EligibleLeaderReplicasVersion.FEATURE_NAME,
        EligibleLeaderReplicasVersion.ELRV_1.featureLevel());
    cluster =
        new ClusterControlManager.Builder()
            .setClusterId(CLUSTER)
            .setTime(Time.SYSTEM)
            .setSnapshotRegistry(snapshots)
            .setReplicaPlacer(new StripedReplicaPlacer(new java.util.Random(0)))
            .setFeatureControlManager(features)
            .setBrokerShutdownHandler(this::shutDown)
            .build();
    configuration =
        new ConfigurationControlManager.Builder()
            .setSnapshotRegistry(snapshots)
            .setFeatureControl(features)
            .setKafkaConfigSchema(FakeKafkaConfigSchema.INSTANCE)
            .build();
    replication =
        new ReplicationControlManager.Builder()
            .setSnapshotRegistry(snapshots)
            .setConfigurationControl(configuration)
            .setClusterControl(cluster)
            .setFeatureControl(features)
            .build();
    cluster.activate();
  }

  private void feature(String name, short level) {
    features.replay(new FeatureLevelRecord().setName(name).setFeatureLevel(level));
  }

  private void shutDown(int broker, boolean clean, List<ApiMessageAndVersion> records) {
    replication.handleBrokerShutdown(broker, clean, records);
  }

  void replay(List<ApiMessageAndVersion> records) {
    RecordTestUtils.replayAll(cluster, records);
    RecordTestUtils.replayAll(configuration, records);
    RecordTestUtils.replayAll(replication, records);
  }

  void start(int broker) {
    register(broker, FIRST_EPOCH);
    unfence(broker);
  }

  void register(int broker, long epoch) {
    register(broker, epoch, -1); // as after a machine that lost power
  }

  /** Register a broker; its process of before ended in order if `before` was its epoch. */
  void register(int broker, long epoch, long before) {
    var request =
        new BrokerRegistrationRequestData()
            .setClusterId(CLUSTER)
            .setBrokerId(broker)
            .setIncarnationId(new Uuid(broker + 1, epoch))
            .setPreviousBrokerEpoch(before)
            .setLogDirs(List.of(new Uuid(broker + 1, 0)));
    for (var supported : QuorumFeatures.defaultSupportedFeatureMap(true).entrySet()) {
      request.features().add(
          new BrokerRegistrationRequestData.Feature()
              .setName(supported.getKey())
              .setMinSupportedVersion(supported.getValue().min())
              .setMaxSupportedVersion(supported.getValue().max()));
    }
    request.listeners().add(
        new BrokerRegistrationRequestData.Listener()
            .setName("PLAINTEXT")
            .setHost("nowhere")
            .setPort(9092));
    replay(
        cluster.registerBroker(request, epoch, features.finalizedFeatures(Long.MAX_VALUE), true)
            .records());
  }

  void unfence(int broker) {
    List<ApiMessageAndVersion> records = new ArrayList<>();
    replication.handleBrokerUnfenced(broker, epoch(broker), records);
    replay(records);
  }

  void fence(int broker) {
    List<ApiMessageAndVersion> records = new ArrayList<>();
    replication.handleBrokerFenced(broker, records);
    replay(records);
  }

  /** What the model calls some brokers. */
  static Set<String> names(Map<String, Integer> brokers, int... ids) {
    Set<String> found = new TreeSet<>();
    for (int id : ids) {
      brokers.forEach((name, known) -> {
        if (known == id) {
          found.add(name);
        }
      });
    }
    return found;
  }

  long epoch(int broker) {
    return cluster.brokerRegistrations().get(broker).epoch();
  }
}
