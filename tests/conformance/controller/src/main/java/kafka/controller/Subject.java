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
import org.apache.kafka.common.requests.AbstractControlRequest;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.StopReplicaRequest;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/** The controller of the system of that name: each event is one step. */
final class Subject implements Protocol.Subject {
  private final List<Integer> brokers = new ArrayList<>();
  private final Zookeeper zookeeper;
  private final Driven driven;

  Subject(JsonNode with) throws Exception {
    with.get("registered").fieldNames()
        .forEachRemaining(id -> brokers.add(Zookeeper.number(id)));
    brokers.sort(null);
    zookeeper = new Zookeeper(brokers, with.get("unclean").asBoolean());
    zookeeper.register(with.get("registered"));
    driven = new Driven(zookeeper, Subject::read);
    elect();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode();
    one.put("unclean", false).putObject("registered").put("b1", 1);
    new Subject(one).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("KafkaController", Protocol.kafka(), Subject::new);
  }

  /** UpdateMetadata is not kept, nor is a StopReplica that repeats the one before it. */
  private static Map<String, Object> read(AbstractControlRequest request, Map<String, Object> last) {
    Map<String, Object> known = new HashMap<>();
    if (request instanceof LeaderAndIsrRequest) {
      var state = ((LeaderAndIsrRequest) request).partitionStates().iterator().next();
      Set<String> isr = new TreeSet<>();
      state.isr().forEach(member -> isr.add("b" + member));
      known.put("kind", "LeaderAndIsr");
      known.put("leader", state.leader() == LeaderAndIsr.NoLeader() ? null : "b" + state.leader());
      known.put("isr", isr);
      known.put("leader_epoch", state.leaderEpoch() + 1);
      known.put("version", state.zkVersion() + 1);
    } else if (request instanceof StopReplicaRequest) {
      var state = ((StopReplicaRequest) request).partitionStates().get(Zookeeper.PARTITION);
      known.put("kind", "StopReplica");
      known.put("leader_epoch", state.leaderEpoch() + 1);
    } else {
      return null;
    }
    known.put("incarnation", request.brokerEpoch());
    return request instanceof StopReplicaRequest && known.equals(last) ? null : known;
  }

  private void elect() throws Exception {
    zookeeper.hidesElection = true;
    driven.elect();
    zookeeper.hidesElection = false;
    if (!driven.isActive()) {
      throw new IllegalStateException("the controller was not elected");
    }
  }

  @Override
  public Object call(String called, JsonNode with) throws Exception {
    switch (called) {
      case "write":
        zookeeper.write(with);
        return null;
      case "topic_change":
        driven.process(TopicChange$.MODULE$);
        return null;
      case "broker_change":
        driven.process(BrokerChange$.MODULE$);
        return null;
      case "isr_change":
        driven.process(IsrChangeNotification$.MODULE$);
        return null;
      case "preferred_election":
        driven.electPreferred();
        return null;
      case "rebalance":
        driven.process(AutoPreferredReplicaLeaderElection$.MODULE$);
        return null;
      case "controlled_shutdown":
        List<Boolean> leads = new ArrayList<>();
        driven.process(
            new ControlledShutdown(
                Zookeeper.number(with.get("broker").asText()),
                with.get("incarnation").asLong(),
                led -> {
                  leads.add(led.get().nonEmpty());
                  return BoxedUnit.UNIT;
                }));
        return leads.get(0);
      case "failover":
        elect();
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
    fields.put("partition", driven.partition());
    fields.put("replicas", driven.replicas(brokers));
    fields.put("live", Driven.names(context.liveOrShuttingDownBrokerIds()));
    Map<String, Object> known = new TreeMap<>();
    CollectionConverters.asJava(context.liveBrokerIdAndEpochs())
        .forEach((id, epoch) -> known.put("b" + id, epoch));
    fields.put("known", known);
    fields.put("shutting_down", Driven.names(context.shuttingDownBrokerIds()));
    var cached = context.partitionLeadershipInfo(Zookeeper.PARTITION);
    if (cached.isEmpty()) {
      record("", LeaderAndIsr.NoLeader(), Set.of(), 0, 0, fields);
    } else {
      LeaderAndIsr cache = cached.get().leaderAndIsr();
      int epoch = cache.leaderEpoch() + 1;
      record("", cache.leader(), Driven.names(cache.isr()), epoch, cache.zkVersion() + 1, fields);
    }
    Set<String> isr = new TreeSet<>();
    zookeeper.isr.forEach(id -> isr.add("b" + id));
    record("node_", zookeeper.leader, isr, zookeeper.leaderEpoch, zookeeper.version, fields);
    fields.put("notified", zookeeper.notified);
    fields.put("election", zookeeper.election);
    Map<String, Object> requests = new TreeMap<>();
    brokers.forEach(id -> requests.put("b" + id, driven.channels.waiting(id)));
    fields.put("requests", requests);
    return fields;
  }

  private static void record(
      String of, int leader, Set<String> isr, int epoch, int version, Map<String, Object> fields) {
    fields.put(of + "leader", leader == LeaderAndIsr.NoLeader() ? null : "b" + leader);
    fields.put(of + "isr", isr);
    fields.put(of + "leader_epoch", epoch);
    fields.put(of + "version", version);
  }
}
