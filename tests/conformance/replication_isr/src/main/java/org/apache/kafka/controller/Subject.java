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
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableReplicaAssignment;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.metadata.PartitionRegistration;

/**
 * A ReplicationControlManager with the managers that it asks, one topic of one partition, and
 * brokers that it hears of: 0 leads, the followers are 1 and more. Records are replayed at once.
 */
final class Subject implements Protocol.Subject {
  private static final String TOPIC = "topic";
  private static final int LEADER = 0;

  private final Managers managers = new Managers();
  private final ClusterControlManager cluster = managers.cluster;
  private final ReplicationControlManager replication = managers.replication;
  private final Map<String, Integer> brokers = new TreeMap<>();
  private final Uuid topic;

  Subject(JsonNode with) {
    with.get("followers").forEach(name -> brokers.put(name.asText(), brokers.size() + 1));
    managers.start(LEADER);
    brokers.values().forEach(managers::start);
    topic = create();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var none = JsonNodeFactory.instance.objectNode();
    none.putArray("followers");
    new Subject(none).observe(); // loading Kafka's classes takes a while
    Protocol.serve("ReplicationControlManager", Protocol.kafka(), Subject::new);
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
    managers.replay(result.records());
    return result.response().topics().find(TOPIC).topicId();
  }

  @Override
  public Object call(String called, JsonNode with) {
    switch (called) {
      case "alter_partition":
        return alter(with.get("proposal"));
      case "fence":
        managers.fence(brokers.get(with.get("follower").asText()));
        return null;
      case "unfence":
        managers.unfence(brokers.get(with.get("follower").asText()));
        return null;
      case "register":
        int broker = brokers.get(with.get("follower").asText());
        managers.register(broker, managers.epoch(broker) + 1);
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  /** What is answered: an error, or what has been decided. */
  private Object alter(JsonNode proposal) {
    List<BrokerState> isr = new ArrayList<>();
    isr.add(new BrokerState().setBrokerId(LEADER).setBrokerEpoch(Managers.FIRST_EPOCH));
    for (JsonNode member : proposal.get("isr")) {
      long epoch = Managers.FIRST_EPOCH + proposal.get("registrations").get(member.asText()).asLong();
      isr.add(new BrokerState().setBrokerId(brokers.get(member.asText())).setBrokerEpoch(epoch));
    }
    var partition =
        new AlterPartitionRequestData.PartitionData()
            .setPartitionIndex(0)
            .setLeaderEpoch(proposal.get("leader_epoch").asInt())
            .setPartitionEpoch(proposal.get("partition_epoch").asInt())
            .setNewIsrWithEpochs(isr);
    var request =
        new AlterPartitionRequestData().setBrokerId(LEADER).setBrokerEpoch(Managers.FIRST_EPOCH);
    request.topics().add(
        new AlterPartitionRequestData.TopicData()
            .setTopicId(topic)
            .setPartitions(List.of(partition)));
    var result =
        replication.alterPartition(
            ControllerRequestContextUtil.anonymousContextFor(ApiKeys.ALTER_PARTITION), request);
    managers.replay(result.records());
    var answer = result.response().topics().get(0).partitions().get(0);
    Map<String, Object> found = new HashMap<>();
    Errors error = Errors.forCode(answer.errorCode());
    found.put("proposal", proposal);
    found.put("error", error.name());
    found.put("isr", Managers.names(brokers, answer.isr().stream().mapToInt(Integer::intValue).toArray()));
    found.put("partition_epoch", answer.partitionEpoch());
    return error == Errors.NONE ? found : error.name();
  }

  @Override
  public Map<String, Object> observe() {
    PartitionRegistration partition = replication.getPartition(topic, 0);
    if (partition.leader != LEADER) {
      throw new IllegalStateException("broker " + partition.leader + " leads");
    }
    Set<String> fenced = new TreeSet<>();
    Map<String, Long> registered = new TreeMap<>();
    brokers.forEach((name, id) -> {
      registered.put(name, managers.epoch(id) - Managers.FIRST_EPOCH);
      if (cluster.brokerRegistrations().get(id).fenced()) {
        fenced.add(name);
      }
    });
    return Map.of(
        "isr", Managers.names(brokers, partition.isr),
        "leader_epoch", partition.leaderEpoch,
        "partition_epoch", partition.partitionEpoch,
        "fenced", fenced,
        "registered", registered);
  }
}
