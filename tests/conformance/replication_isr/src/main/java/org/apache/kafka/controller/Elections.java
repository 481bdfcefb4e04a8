package org.apache.kafka.controller;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignablePartition;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignableTopic;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData.BrokerState;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.message.ElectLeadersRequestData.TopicPartitions;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/** Who leads a partition of a ReplicationControlManager: elections, fenced brokers, changes of the ISR. */
final class Elections implements Protocol.Subject {
  private static final String TOPIC = "topic";
  private static final Uuid ID = new Uuid(1, 1);
  private static final int NOBODY = -1;

  private final Managers managers = new Managers();
  private final Map<String, Integer> brokers = new LinkedHashMap<>();

  Elections(JsonNode with) {
    with.get("brokers").forEach(name -> brokers.put(name.asText(), brokers.size()));
    brokers.values().forEach(managers::start);
    List<Integer> all = List.copyOf(brokers.values());
    // Nobody leads yet, as in a log of before.
    managers.replay(List.of(
        record(new TopicRecord().setName(TOPIC).setTopicId(ID)),
        record(new ConfigRecord().setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName(TOPIC)
            .setName("min.insync.replicas").setValue(with.get("min_isr").asText())),
        new ApiMessageAndVersion(
            new PartitionRecord().setTopicId(ID).setPartitionId(0).setReplicas(all).setIsr(all).setLeader(NOBODY)
                .setLeaderEpoch(0).setPartitionEpoch(0).setLeaderRecoveryState(LeaderRecoveryState.RECOVERED.value())
                .setDirectories(all.stream().map(broker -> new Uuid(broker + 1, 0)).toList()), (short) 2)));
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode().put("min_isr", 1);
    one.putArray("brokers").add("b");
    new Elections(one).observe(); // loading Kafka's classes takes a while
    Protocol.serve("ReplicationControlManager", Protocol.kafka(), Elections::new);
  }

  private static ApiMessageAndVersion record(org.apache.kafka.common.protocol.ApiMessage message) {
    return new ApiMessageAndVersion(message, (short) 0);
  }

  @Override
  public Object call(String called, JsonNode with) {
    switch (called) {
      case "elect":
        elect(brokers.get(with.get("broker").asText()));
        return null;
      case "elect_unclean":
        electUnclean(brokers.get(with.get("broker").asText()));
        return null;
      case "restart":
        restart(brokers.get(with.get("broker").asText()), with.get("clean").asBoolean());
        return null;
      case "drop":
        managers.fence(brokers.get(with.get("broker").asText()));
        return null;
      case "alter_partition":
        return alter(brokers.get(with.get("leader").asText()), with.get("isr"));
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  private PartitionRegistration partition() {
    return managers.replication.getPartition(ID, 0);
  }

  private boolean isFenced(int broker) {
    return managers.cluster.brokerRegistrations().get(broker).fenced();
  }

  private void elect(int broker) {
    if (isFenced(broker)) {
      managers.unfence(broker);
    }
    if (partition().leader != broker) {
      putFirst(broker);
    }
    if (partition().leader != broker) {
      ask(ElectionType.PREFERRED);
    }
  }

  /** As an operator does, for a broker that is alive and has no right to lead. */
  private void electUnclean(int broker) {
    if (isFenced(broker)) {
      managers.unfence(broker);
    }
    putFirst(broker);
    ask(ElectionType.UNCLEAN);
  }

  private void ask(ElectionType type) {
    var request = new ElectLeadersRequestData().setElectionType(type.value);
    request.topicPartitions().add(new TopicPartitions().setTopic(TOPIC).setPartitions(List.of(0)));
    managers.replay(managers.replication.electLeaders(request).records());
  }

  /** Register the next process of a broker, which stays fenced until the controller hears more of it. */
  private void restart(int broker, boolean clean) {
    long before = managers.epoch(broker);
    managers.register(broker, before + 1, clean ? before : -1);
  }

  private void putFirst(int broker) {
    List<Integer> order = new ArrayList<>(List.of(broker));
    brokers.values().stream().filter(other -> other != broker).forEach(order::add);
    var request = new AlterPartitionReassignmentsRequestData();
    request.topics().add(new ReassignableTopic().setName(TOPIC).setPartitions(
        List.of(new ReassignablePartition().setPartitionIndex(0).setReplicas(order))));
    managers.replay(managers.replication.alterPartitionReassignments(request).records());
  }

  /** Whether the change is decided. Who is to be in the ISR is heard of again, if it was fenced. */
  private boolean alter(int leader, JsonNode names) {
    List<BrokerState> isr = new ArrayList<>();
    for (JsonNode name : names) {
      int member = brokers.get(name.asText());
      if (isFenced(member)) {
        managers.unfence(member);
      }
      isr.add(new BrokerState().setBrokerId(member).setBrokerEpoch(managers.epoch(member)));
    }
    var change = new AlterPartitionRequestData.PartitionData().setPartitionIndex(0)
        .setLeaderEpoch(partition().leaderEpoch).setPartitionEpoch(partition().partitionEpoch).setNewIsrWithEpochs(isr);
    var request = new AlterPartitionRequestData().setBrokerId(leader).setBrokerEpoch(managers.epoch(leader));
    request.topics().add(new AlterPartitionRequestData.TopicData().setTopicId(ID).setPartitions(List.of(change)));
    var result = managers.replication.alterPartition(
        ControllerRequestContextUtil.anonymousContextFor(ApiKeys.ALTER_PARTITION), request);
    managers.replay(result.records());
    return result.response().topics().get(0).partitions().get(0).errorCode() == Errors.NONE.code();
  }

  @Override
  public Map<String, Object> observe() {
    PartitionRegistration partition = partition();
    Map<String, Object> found = new HashMap<>();
    found.put("leader", Managers.names(brokers, partition.leader).stream().findFirst().orElse(null));
    found.put("isr", Managers.names(brokers, partition.isr));
    found.put("eligible", Managers.names(brokers, partition.elr));
    return found;
  }
}
