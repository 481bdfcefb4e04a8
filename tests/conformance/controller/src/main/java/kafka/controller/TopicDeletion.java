package kafka.controller;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.message.StopReplicaResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.StopReplicaResponse;

/**
 * The controller of the system topic_deletion: an event is one step, but for the end of a deletion,
 * which waits before each write to ZooKeeper. Of what is sent only StopReplica with the order to
 * delete is kept.
 */
final class TopicDeletion implements Protocol.Subject {
  private final List<Integer> brokers = new ArrayList<>();
  private final Map<Integer, List<Channels.Sent>> deleted = new TreeMap<>();
  private final Zookeeper zookeeper;
  private final Driven driven;

  TopicDeletion(JsonNode with) throws Exception {
    with.get("registered").forEach(id -> brokers.add(Zookeeper.number(id.asText())));
    brokers.sort(null);
    zookeeper = new Zookeeper(brokers, false);
    zookeeper.createTopic();
    write(with);
    driven = new Driven(zookeeper, Channels::deletion);
    elect();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode();
    one.put("request", false).put("election", false).putArray("registered").add("b1");
    new TopicDeletion(one).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("KafkaController", Protocol.kafka(), TopicDeletion::new);
  }

  private void elect() throws Exception {
    brokers.forEach(id -> deleted.put(id, new ArrayList<>()));
    driven.elect();
  }

  private void write(JsonNode with) {
    zookeeper.register(with.get("registered"));
    zookeeper.deletion = with.get("request").asBoolean();
    zookeeper.election = with.get("election").asBoolean();
  }

  @Override
  public Object call(String called, JsonNode with) throws Exception {
    switch (called) {
      case "write":
        write(with);
        return null;
      case "topic_deletion":
        driven.process(TopicDeletion$.MODULE$);
        return null;
      case "preferred_election":
        driven.electPreferred();
        return null;
      case "broker_change":
        driven.process(BrokerChange$.MODULE$);
        return null;
      case "next_write":
        driven.resume();
        return null;
      case "failover":
        elect();
        return null;
      case "receive":
        int receiver = Zookeeper.number(with.get("broker").asText());
        deleted.get(receiver).add(driven.channels.receive(receiver));
        return null;
      case "answer":
        answer(Zookeeper.number(with.get("broker").asText()), with.get("error").asBoolean());
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  /** A broker's answer arrives: what its callback puts into the queue is processed. */
  private void answer(int broker, boolean fails) throws Exception {
    short code = (fails ? Errors.KAFKA_STORAGE_ERROR : Errors.NONE).code();
    var partition =
        new StopReplicaResponseData.StopReplicaPartitionError()
            .setTopicName(Zookeeper.PARTITION.topic())
            .setPartitionIndex(Zookeeper.PARTITION.partition())
            .setErrorCode(code);
    driven.queued();
    deleted.get(broker).remove(0).callback.apply(
        new StopReplicaResponse(
            new StopReplicaResponseData().setPartitionErrors(List.of(partition))));
    for (ControllerEvent event : driven.queued()) {
      driven.process(event);
    }
  }

  @Override
  public Map<String, Object> observe() {
    ControllerContext context = driven.context();
    String topic = Zookeeper.PARTITION.topic();
    Map<String, Object> fields = new HashMap<>();
    fields.put("active", driven.isActive());
    fields.put("partition_is_gone", driven.partition().equals("NonExistentPartition"));
    fields.put("replicas", driven.replicas(brokers));
    fields.put("live", Driven.names(context.liveOrShuttingDownBrokerIds()));
    fields.put("known", context.allTopics().contains(topic));
    fields.put("queued", context.topicsToBeDeleted().contains(topic));
    fields.put("ineligible", context.topicsIneligibleForDeletion().contains(topic));
    fields.put("completing", driven.events.waits());
    fields.put("record", zookeeper.hasRecord());
    fields.put("topic", zookeeper.topic);
    fields.put("request", zookeeper.deletion);
    fields.put("election", zookeeper.election);
    Map<String, Object> requests = new TreeMap<>();
    brokers.forEach(id -> requests.put("b" + id, driven.channels.waiting(id).size()));
    fields.put("requests", requests);
    return fields;
  }
}
