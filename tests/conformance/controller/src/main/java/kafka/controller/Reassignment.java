package kafka.controller;

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
import kafka.api.LeaderAndIsr;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * The controller of the system reassignment: the event of a move waits where it decides which phase
 * it is in, and before each write of the second phase. Of what is sent only StopReplica with the
 * order to delete is kept.
 */
final class Reassignment implements Protocol.Subject {
  private final List<Integer> brokers = new ArrayList<>();
  private final Zookeeper zookeeper;
  private final Driven driven;

  Reassignment(JsonNode with) throws Exception {
    with.get("brokers").forEach(id -> brokers.add(Zookeeper.number(id.asText())));
    brokers.sort(null);
    zookeeper = new Zookeeper(numbers(with.get("assigned")), false);
    zookeeper.movesStepwise = true;
    zookeeper.createTopic();
    zookeeper.register(with.get("brokers"));
    driven = new Driven(zookeeper, Channels::deletion);
    driven.elect();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode();
    one.putArray("brokers").add("b1");
    one.putArray("assigned").add("b1");
    new Reassignment(one).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("KafkaController", Protocol.kafka(), Reassignment::new);
  }

  private static List<Integer> numbers(JsonNode names) {
    List<Integer> found = new ArrayList<>();
    names.forEach(name -> found.add(Zookeeper.number(name.asText())));
    found.sort(null);
    return found;
  }

  /** Brokers start, die and change the ISR. */
  private void write(JsonNode with) {
    zookeeper.register(with.get("registered"));
    Set<Integer> isr = new TreeSet<>(numbers(with.get("isr")));
    if (!isr.equals(zookeeper.isr)) {
      zookeeper.isr = isr;
      zookeeper.version++;
    }
  }

  private void ask(List<Integer> target) {
    scala.collection.Seq<Object> replicas = target == null ? null : Zookeeper.seq(target);
    driven.process(
        new ApiPartitionReassignment(
            Zookeeper.map(Map.of(Zookeeper.PARTITION, Option.apply(replicas))),
            done -> BoxedUnit.UNIT));
  }

  @Override
  public Object call(String called, JsonNode with) throws Exception {
    switch (called) {
      case "write":
        write(with);
        return null;
      case "move":
        ask(numbers(with.get("target")));
        return null;
      case "take_back":
        ask(null);
        while (driven.events.waits()) {
          driven.resume();
        }
        return null;
      case "next_step":
        if (!driven.events.waits()) {
          driven.process(new PartitionReassignmentIsrChange(Zookeeper.PARTITION));
        }
        driven.resume();
        return null;
      case "broker_change":
        driven.process(BrokerChange$.MODULE$);
        return null;
      case "failover":
        driven.elect();
        return null;
      case "receive":
        driven.channels.receive(Zookeeper.number(with.get("broker").asText()));
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  @Override
  public Map<String, Object> observe() {
    ControllerContext context = driven.context();
    Map<String, Object> fields = new HashMap<>();
    ReplicaAssignment stored = zookeeper.assignment;
    fields.put("node_assigned", Driven.names(stored.replicas()));
    fields.put("node_original", Driven.names(stored.originReplicas()));
    fields.put(
        "node_target", stored.isBeingReassigned() ? Driven.names(stored.targetReplicas()) : null);
    fields.put("leader", zookeeper.leader == LeaderAndIsr.NoLeader() ? null : "b" + zookeeper.leader);
    Set<String> isr = new TreeSet<>();
    zookeeper.isr.forEach(id -> isr.add("b" + id));
    fields.put("isr", isr);
    fields.put("leader_epoch", zookeeper.leaderEpoch);
    fields.put("assigned", Driven.names(context.partitionReplicaAssignment(Zookeeper.PARTITION)));
    fields.put("moving", context.partitionsBeingReassigned().contains(Zookeeper.PARTITION));
    fields.put("under_way", driven.events.waits());
    fields.put(
        "cached_epoch",
        context.partitionLeadershipInfo(Zookeeper.PARTITION).get().leaderAndIsr().leaderEpoch() + 1);
    fields.put("live", Driven.names(context.liveOrShuttingDownBrokerIds()));
    Map<String, Object> deletions = new TreeMap<>();
    brokers.forEach(id -> deletions.put("b" + id, driven.channels.waiting(id).size()));
    fields.put("deletions", deletions);
    return fields;
  }
}
