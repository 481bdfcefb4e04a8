package org.apache.kafka.controller;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData.BrokerState;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableReplicaAssignment;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.FakeKafkaConfigSchema;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.RecordTestUtils;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.EligibleLeaderReplicasVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * A ReplicationControlManager with the managers that it asks, one topic of one partition, and
 * brokers that it hears of: 0 leads, the followers are 1 and more. Records are replayed at once.
 */
final class Subject implements Protocol.Subject {
  private static final String TOPIC = "topic";
  private static final String CLUSTER = "conformance";
  private static final int LEADER = 0;
  private static final long FIRST_EPOCH = 100; // what the model calls registration 0

  private final SnapshotRegistry snapshots = new SnapshotRegistry(new LogContext());
  private final FeatureControlManager features;
  private final ClusterControlManager cluster;
  private final ConfigurationControlManager configuration;
  private final ReplicationControlManager replication;
  private final Map<String, Integer> brokers = new TreeMap<>();
  private final Uuid topic;

  Subject(JsonNode with) {
    with.get("followers").forEach(name -> brokers.put(name.asText(), brokers.size() + 1));
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
    start(LEADER);
    brokers.values().forEach(this::start);
    topic = create();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var none = JsonNodeFactory.instance.objectNode();
    none.putArray("followers");
    new Subject(none).observe(); // loading Kafka's classes takes a while
    Protocol.serve("ReplicationControlManager", Protocol.kafka(), Subject::new);
  }

  private void feature(String name, short level) {
    features.replay(new FeatureLevelRecord().setName(name).setFeatureLevel(level));
  }

  private void shutDown(int broker, boolean clean, List<ApiMessageAndVersion> records) {
    replication.handleBrokerShutdown(broker, clean, records);
  }

  private void replay(List<ApiMessageAndVersion> records) {
    RecordTestUtils.replayAll(cluster, records);
    RecordTestUtils.replayAll(configuration, records);
    RecordTestUtils.replayAll(replication, records);
  }

  private void start(int broker) {
    register(broker, FIRST_EPOCH);
    unfence(broker);
  }

  private void register(int broker, long epoch) {
    var request =
        new BrokerRegistrationRequestData()
            .setClusterId(CLUSTER)
            .setBrokerId(broker)
            .setIncarnationId(new Uuid(broker + 1, epoch))
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

  private void unfence(int broker) {
    List<ApiMessageAndVersion> records = new ArrayList<>();
    replication.handleBrokerUnfenced(broker, epoch(broker), records);
    replay(records);
  }

  private void fence(int broker) {
    List<ApiMessageAndVersion> records = new ArrayList<>();
    replication.handleBrokerFenced(broker, records);
    replay(records);
  }

  private long epoch(int broker) {
    return cluster.brokerRegistrations().get(broker).epoch();
  }

  private Uuid create() {
    List<Integer> all = new ArrayList<>(List.of(LEADER));
    all.addAll(brokers.values());
    var asked = new CreatableTopic().setName(TOPIC).setNumPartitions(-1);
    asked.setReplicationFactor((short) -1);
    asked.assignments().add(
        new CreatableReplicaAssignment().setPartitionIndex(0).setBrokerIds(all));
    var request = new CreateTopicsRequestData();
    request.topics().add(asked);
    var result =
        replication.createTopics(
            ControllerRequestContextUtil.anonymousContextFor(ApiKeys.CREATE_TOPICS),
            request, Set.of(TOPIC), false);
    replay(result.records());
    return result.response().topics().find(TOPIC).topicId();
  }

  @Override
  public Object call(String called, JsonNode with) {
    switch (called) {
      case "alter_partition":
        return alter(with.get("proposal"));
      case "fence":
        fence(brokers.get(with.get("follower").asText()));
        return null;
      case "unfence":
        unfence(brokers.get(with.get("follower").asText()));
        return null;
      case "register":
        int broker = brokers.get(with.get("follower").asText());
        register(broker, epoch(broker) + 1);
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  /** What is answered: an error, or what has been decided. */
  private Object alter(JsonNode proposal) {
    List<BrokerState> isr = new ArrayList<>();
    isr.add(new BrokerState().setBrokerId(LEADER).setBrokerEpoch(FIRST_EPOCH));
    for (JsonNode member : proposal.get("isr")) {
      long epoch = FIRST_EPOCH + proposal.get("registrations").get(member.asText()).asLong();
      isr.add(new BrokerState().setBrokerId(brokers.get(member.asText())).setBrokerEpoch(epoch));
    }
    var partition =
        new AlterPartitionRequestData.PartitionData()
            .setPartitionIndex(0)
            .setLeaderEpoch(proposal.get("leader_epoch").asInt())
            .setPartitionEpoch(proposal.get("partition_epoch").asInt())
            .setNewIsrWithEpochs(isr);
    var request =
        new AlterPartitionRequestData().setBrokerId(LEADER).setBrokerEpoch(FIRST_EPOCH);
    request.topics().add(
        new AlterPartitionRequestData.TopicData()
            .setTopicId(topic)
            .setPartitions(List.of(partition)));
    var result =
        replication.alterPartition(
            ControllerRequestContextUtil.anonymousContextFor(ApiKeys.ALTER_PARTITION), request);
    replay(result.records());
    var answer = result.response().topics().get(0).partitions().get(0);
    Map<String, Object> found = new HashMap<>();
    Errors error = Errors.forCode(answer.errorCode());
    found.put("proposal", proposal);
    found.put("error", error.name());
    found.put("isr", names(answer.isr()));
    found.put("partition_epoch", answer.partitionEpoch());
    return error == Errors.NONE ? found : error.name();
  }

  private Set<String> names(Iterable<Integer> ids) {
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

  @Override
  public Map<String, Object> observe() {
    PartitionRegistration partition = replication.getPartition(topic, 0);
    if (partition.leader != LEADER) {
      throw new IllegalStateException("broker " + partition.leader + " leads");
    }
    List<Integer> isr = new ArrayList<>();
    for (int member : partition.isr) {
      isr.add(member);
    }
    Set<String> fenced = new TreeSet<>();
    Map<String, Long> registered = new TreeMap<>();
    brokers.forEach((name, id) -> {
      registered.put(name, epoch(id) - FIRST_EPOCH);
      if (cluster.brokerRegistrations().get(id).fenced()) {
        fenced.add(name);
      }
    });
    return Map.of(
        "isr", names(isr),
        "leader_epoch", partition.leaderEpoch,
        "partition_epoch", partition.partitionEpoch,
        "fenced", fenced,
        "registered", registered);
  }
}
