package kafka.controller;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Map;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/**
 * A KafkaController that is the active one. It runs on a broker of its own, number 0; ZooKeeper and
 * the connections to brokers are in memory.
 */
final class Driven {
  final Zookeeper zookeeper;
  final EventThread events;
  Channels channels;

  private final KafkaConfig config;
  private final Channels.Reader reader;
  private final Metrics metrics = new Metrics();
  private KafkaController controller;

  Driven(Zookeeper zookeeper, Channels.Reader reader) {
    this.zookeeper = zookeeper;
    this.reader = reader;
    events = zookeeper.events;
    Properties settings = new Properties();
    settings.put("broker.id", "0");
    settings.put("zookeeper.connect", "localhost:1");
    settings.put("auto.leader.rebalance.enable", "false");
    settings.put("unclean.leader.election.enable", String.valueOf(zookeeper.unclean));
    settings.put("inter.broker.protocol.version", "2.6"); // from 2.7 on leaders ask with AlterIsr
    config = KafkaConfig.fromProps(settings);
  }

  ControllerContext context() {
    return controller.controllerContext();
  }

  boolean isActive() {
    return controller.isActive();
  }

  /** Replace the controller by a new one, in the middle of an event if one waits. */
  void elect() throws Exception {
    if (controller != null) {
      events.abandon();
      controller.kafkaScheduler().shutdown();
    }
    zookeeper.dismiss();
    controller =
        new KafkaController(
            config, zookeeper.client, Time.SYSTEM, metrics, null, 0, null, null, null, Option.empty());
    channels = new Channels(controller.controllerContext(), config, metrics, reader);
    controller.controllerChannelManager_$eq(channels);
    for (Object part :
        List.of(controller, controller.replicaStateMachine(), controller.partitionStateMachine())) {
      String name = part == controller ? "brokerRequestBatch" : "controllerBrokerRequestBatch";
      field(ControllerBrokerRequestBatch.class, "controllerChannelManager")
          .set(field(part.getClass(), name).get(part), channels);
    }
    process(Startup$.MODULE$);
  }

  private static Field field(Class<?> of, String name) throws NoSuchFieldException {
    Field found = of.getDeclaredField(name);
    found.setAccessible(true);
    return found;
  }

  /** Process an event until it ends, or waits before a write. */
  void process(ControllerEvent event) {
    events.run(() -> controller.process(event));
    zookeeper.check();
  }

  /** Process the request for preferred leaders that stands in ZooKeeper. */
  void electPreferred() {
    process(
        new ReplicaLeaderElection(
            Option.empty(), ElectionType.PREFERRED, ZkTriggered$.MODULE$, done -> BoxedUnit.UNIT));
  }

  /** Let the event that waits go on to its next write or its end. */
  void resume() {
    events.resume();
    zookeeper.check();
  }

  /** Return the events that were put into the controller's queue since it was asked last. */
  @SuppressWarnings("unchecked")
  List<ControllerEvent> queued() throws Exception {
    ControllerEventManager manager = controller.eventManager();
    Queue<QueuedEvent> queue =
        (Queue<QueuedEvent>) field(ControllerEventManager.class, "queue").get(manager);
    List<ControllerEvent> found = new ArrayList<>();
    for (QueuedEvent next = queue.poll(); next != null; next = queue.poll()) {
      found.add(next.event());
    }
    return found;
  }

  /** Return whether the partition is one that the controller knows and that exists. */
  String partition() {
    boolean known = context().allPartitions().contains(Zookeeper.PARTITION);
    return known ? context().partitionState(Zookeeper.PARTITION).toString() : "NonExistentPartition";
  }

  /** Return the state of each broker's replica. */
  Map<String, Object> replicas(List<Integer> brokers) {
    Map<String, Object> found = new TreeMap<>();
    for (int id : brokers) {
      var replica = new PartitionAndReplica(Zookeeper.PARTITION, id);
      boolean known = context().allPartitions().contains(Zookeeper.PARTITION);
      Object state = context().replicaStates().get(replica).getOrElse(() -> "NonExistentReplica");
      found.put("b" + id, known ? state.toString() : "NonExistentReplica");
    }
    return found;
  }

  static Set<String> names(scala.collection.Iterable<Object> ids) {
    Set<String> found = new TreeSet<>();
    CollectionConverters.asJava(ids).forEach(id -> found.add("b" + id));
    return found;
  }
}
