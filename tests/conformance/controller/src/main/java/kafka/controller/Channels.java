package kafka.controller;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kafka.api.LeaderAndIsr;
import kafka.cluster.Broker;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.requests.AbstractControlRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.LeaderAndIsrRequest;
import org.apache.kafka.common.requests.StopReplicaRequest;
import org.apache.kafka.common.utils.Time;
import scala.Function1;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * What the controller sends, kept until a broker receives it. UpdateMetadata is not kept, nor is a
 * StopReplica that repeats the one before it.
 */
final class Channels extends ControllerChannelManager {
  private final ControllerContext context;
  private final Map<Integer, Deque<Map<String, Object>>> queues = new TreeMap<>();

  Channels(ControllerContext context, KafkaConfig config, Metrics metrics) {
    super(
        context, config, Time.SYSTEM, metrics,
        new StateChangeLogger(config.brokerId(), true, Option.empty()), Option.empty());
    this.context = context;
  }

  @Override
  public void startup() {
    scala.jdk.javaapi.CollectionConverters.asJava(context.liveOrShuttingDownBrokers())
        .forEach(this::addBroker);
  }

  @Override
  public void shutdown() {
    queues.clear();
  }

  @Override
  public void addBroker(Broker broker) {
    queues.put(broker.id(), new ArrayDeque<>());
  }

  @Override
  public void removeBroker(int id) {
    queues.remove(id);
  }

  @Override
  public void sendRequest(
      int id,
      AbstractControlRequest.Builder<? extends AbstractControlRequest> builder,
      Function1<AbstractResponse, BoxedUnit> callback) {
    Deque<Map<String, Object>> queue = queues.get(id);
    if (queue == null) {
      return; // as the class does: the broker has gone
    }
    AbstractControlRequest request = builder.build();
    Map<String, Object> kept = new HashMap<>();
    if (request instanceof LeaderAndIsrRequest) {
      var state = ((LeaderAndIsrRequest) request).partitionStates().iterator().next();
      Set<String> isr = new TreeSet<>();
      state.isr().forEach(member -> isr.add("b" + member));
      kept.put("kind", "LeaderAndIsr");
      kept.put("leader", state.leader() == LeaderAndIsr.NoLeader() ? null : "b" + state.leader());
      kept.put("isr", isr);
      kept.put("leader_epoch", state.leaderEpoch() + 1);
      kept.put("version", state.zkVersion() + 1);
    } else if (request instanceof StopReplicaRequest) {
      var state = ((StopReplicaRequest) request).partitionStates().get(Zookeeper.PARTITION);
      kept.put("kind", "StopReplica");
      kept.put("leader_epoch", state.leaderEpoch() + 1);
    } else {
      return;
    }
    kept.put("incarnation", request.brokerEpoch());
    if (!(request instanceof StopReplicaRequest && kept.equals(queue.peekLast()))) {
      queue.add(kept);
    }
  }

  /** A broker takes the first request to it. */
  void receive(int id) {
    queues.get(id).remove();
  }

  Object waiting(int id) {
    return queues.getOrDefault(id, new ArrayDeque<>());
  }
}
