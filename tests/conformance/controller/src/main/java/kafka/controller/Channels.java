package kafka.controller;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import kafka.cluster.Broker;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.requests.AbstractControlRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.StopReplicaRequest;
import org.apache.kafka.common.utils.Time;
import scala.Function1;
import scala.Option;
import scala.runtime.BoxedUnit;

/** What the controller sends, as far as a system knows it, kept until a broker receives it. */
final class Channels extends ControllerChannelManager {
  private final ControllerContext context;
  private final Reader reader;
  private final Map<Integer, Deque<Sent>> queues = new TreeMap<>();

  Channels(ControllerContext context, KafkaConfig config, Metrics metrics, Reader reader) {
    super(
        context, config, Time.SYSTEM, metrics,
        new StateChangeLogger(config.brokerId(), true, Option.empty()), Option.empty());
    this.context = context;
    this.reader = reader;
  }

  /** Says what a system knows of a request that is sent after another one, which may be null. */
  interface Reader {
    /** Return it, or null if the request is not kept. */
    Map<String, Object> read(AbstractControlRequest request, Map<String, Object> last);
  }

  /** Of all requests keep StopReplica with the order to delete. */
  static Map<String, Object> deletion(AbstractControlRequest request, Map<String, Object> last) {
    boolean deletes =
        request instanceof StopReplicaRequest
            && ((StopReplicaRequest) request)
                .partitionStates().get(Zookeeper.PARTITION).deletePartition();
    return deletes ? Map.of("kind", "DeleteReplica") : null;
  }

  /** A request, what a system knows of it, and where its answer goes. */
  static final class Sent {
    final Map<String, Object> known;
    final Function1<AbstractResponse, BoxedUnit> callback;

    Sent(Map<String, Object> known, Function1<AbstractResponse, BoxedUnit> callback) {
      this.known = known;
      this.callback = callback;
    }
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
    Deque<Sent> queue = queues.get(id);
    if (queue == null) {
      return; // as the class does: the broker has gone
    }
    Map<String, Object> last = queue.isEmpty() ? null : queue.peekLast().known;
    Map<String, Object> known = reader.read(builder.build(), last);
    if (known != null) {
      queue.add(new Sent(known, callback));
    }
  }

  /** A broker takes the first request to it. */
  Sent receive(int id) {
    return queues.get(id).remove();
  }

  /** Return what a system knows of the requests to a broker. */
  List<Map<String, Object>> waiting(int id) {
    Deque<Sent> queue = queues.getOrDefault(id, new ArrayDeque<>());
    return queue.stream().map(sent -> sent.known).collect(Collectors.toList());
  }
}
