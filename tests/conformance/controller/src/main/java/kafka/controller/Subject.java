package kafka.controller;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kafka.api.LeaderAndIsr;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/**
 * A KafkaController that is the active one, its events processed in the caller's thread. It runs on
 * a broker of its own, number 0; ZooKeeper and the connections to brokers are in memory.
 */
final class Subject implements Protocol.Subject {
  private final List<Integer> brokers = new ArrayList<>();
  private final KafkaConfig config;
  private final Zookeeper zookeeper;
  private final Metrics metrics = new Metrics();
  private KafkaController controller;
  private Channels channels;

  Subject(JsonNode with) throws Exception {
    with.get("registered").fieldNames()
        .forEachRemaining(id -> brokers.add(Zookeeper.number(id)));
    brokers.sort(null);
    boolean unclean = with.get("unclean").asBoolean();
    Properties settings = new Properties();
    settings.put("broker.id", "0");
    settings.put("zookeeper.connect", "localhost:1");
    settings.put("auto.leader.rebalance.enable", "false");
    settings.put("unclean.leader.election.enable", String.valueOf(unclean));
    settings.put("inter.broker.protocol.version", "2.6"); // from 2.7 on leaders ask with AlterIsr
    config = KafkaConfig.fromProps(settings);
    zookeeper = new Zookeeper(brokers, unclean);
    zookeeper.register(with.get("registered"));
    elect();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode();
    one.put("unclean", false).putObject("registered").put("b1", 1);
    new Subject(one).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("KafkaController", Protocol.kafka(), Subject::new);
  }

  private void elect() throws Exception {
    if (controller != null) {
      controller.kafkaScheduler().shutdown();
    }
    controller =
        new KafkaController(
            config, zookeeper.client, Time.SYSTEM, metrics, null, 0, null, null, null, Option.empty());
    channels = new Channels(controller.controllerContext(), config, metrics);
    controller.controllerChannelManager_$eq(channels);
    for (Object part :
        List.of(controller, controller.replicaStateMachine(), controller.partitionStateMachine())) {
      String name = part == controller ? "brokerRequestBatch" : "controllerBrokerRequestBatch";
      Field batch = part.getClass().getDeclaredField(name);
      batch.setAccessible(true);
      Field manager = ControllerBrokerRequestBatch.class.getDeclaredField("controllerChannelManager");
      manager.setAccessible(true);
      manager.set(batch.get(part), channels);
    }
    zookeeper.hidesElection = true;
    process(Startup$.MODULE$);
    zookeeper.hidesElection = false;
    if (!controller.isActive()) {
      throw new IllegalStateException("the controller was not elected");
    }
  }

  private void process(ControllerEvent event) {
    controller.process(event);
    zookeeper.check();
  }

  @Override
  public Object call(String called, JsonNode with) throws Exception {
    switch (called) {
      case "write":
        zookeeper.write(with);
        return null;
      case "topic_change":
        process(TopicChange$.MODULE$);
        return null;
      case "broker_change":
        process(BrokerChange$.MODULE$);
        return null;
      case "isr_change":
        process(IsrChangeNotification$.MODULE$);
        return null;
      case "preferred_election":
        process(
            new ReplicaLeaderElection(
                Option.empty(), ElectionType.PREFERRED, ZkTriggered$.MODULE$, done -> BoxedUnit.UNIT));
        return null;
      case "rebalance":
        process(AutoPreferredReplicaLeaderElection$.MODULE$);
        return null;
      case "controlled_shutdown":
        List<Boolean> leads = new ArrayList<>();
        process(
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
        channels.receive(Zookeeper.number(with.get("broker").asText()));
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  @Override
  public Map<String, Object> observe() {
    ControllerContext context = controller.controllerContext();
    Map<String, Object> fields = new HashMap<>();
    fields.put("partition", partition(context));
    fields.put("replicas", replicas(context));
    fields.put("live", names(context.liveOrShuttingDownBrokerIds()));
    Map<String, Object> known = new TreeMap<>();
    CollectionConverters.asJava(context.liveBrokerIdAndEpochs())
        .forEach((id, epoch) -> known.put("b" + id, epoch));
    fields.put("known", known);
    fields.put("shutting_down", names(context.shuttingDownBrokerIds()));
    var cached = context.partitionLeadershipInfo(Zookeeper.PARTITION);
    if (cached.isEmpty()) {
      record("", LeaderAndIsr.NoLeader(), Set.of(), 0, 0, fields);
    } else {
      LeaderAndIsr cache = cached.get().leaderAndIsr();
      int epoch = cache.leaderEpoch() + 1;
      record("", cache.leader(), names(cache.isr()), epoch, cache.zkVersion() + 1, fields);
    }
    Set<String> isr = new TreeSet<>();
    zookeeper.isr.forEach(id -> isr.add("b" + id));
    record("node_", zookeeper.leader, isr, zookeeper.leaderEpoch, zookeeper.version, fields);
    fields.put("notified", zookeeper.notified);
    fields.put("election", zookeeper.election);
    Map<String, Object> requests = new TreeMap<>();
    brokers.forEach(id -> requests.put("b" + id, channels.waiting(id)));
    fields.put("requests", requests);
    return fields;
  }

  private static String partition(ControllerContext context) {
    boolean known = context.allPartitions().contains(Zookeeper.PARTITION);
    return known ? context.partitionState(Zookeeper.PARTITION).toString() : "NonExistentPartition";
  }

  private Map<String, Object> replicas(ControllerContext context) {
    Map<String, Object> found = new TreeMap<>();
    for (int id : brokers) {
      boolean known = context.allPartitions().contains(Zookeeper.PARTITION);
      var replica = new PartitionAndReplica(Zookeeper.PARTITION, id);
      found.put("b" + id, known ? context.replicaState(replica).toString() : "NonExistentReplica");
    }
    return found;
  }

  private static Set<String> names(scala.collection.Iterable<Object> ids) {
    Set<String> found = new TreeSet<>();
    CollectionConverters.asJava(ids).forEach(id -> found.add("b" + id));
    return found;
  }

  private static void record(
      String of, int leader, Set<String> isr, int epoch, int version, Map<String, Object> fields) {
    fields.put(of + "leader", leader == LeaderAndIsr.NoLeader() ? null : "b" + leader);
    fields.put(of + "isr", isr);
    fields.put(of + "leader_epoch", epoch);
    fields.put(of + "version", version);
  }
}
