package kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import kafka.api.LeaderAndIsr;
import kafka.cluster.Broker;
import kafka.log.LogConfig;
import kafka.zk.KafkaZkClient;
import kafka.zk.PreferredReplicaElectionZNode;
import kafka.zk.TopicPartitionStateZNode;
import kafka.zk.TopicZNode;
import kafka.zookeeper.CreateResponse;
import kafka.zookeeper.GetDataResponse;
import kafka.zookeeper.ResponseMetadata;
import kafka.zookeeper.SetDataResponse;
import kafka.zookeeper.ZNodeChangeHandler;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.util.Right;

/**
 * The nodes of ZooKeeper that the controller reads and writes, for one topic with one partition,
 * behind a KafkaZkClient. The model counts leader epochs and versions from 1, Kafka from 0.
 */
final class Zookeeper {
  static final TopicPartition PARTITION = new TopicPartition("topic", 0);

  /** What the controller's events run in; it stops where these nodes are written in several steps. */
  final EventThread events = new EventThread();
  final boolean unclean;
  final Map<Integer, Long> registered = new TreeMap<>();
  boolean topic;
  int leader = LeaderAndIsr.NoLeader();
  Set<Integer> isr = Set.of();
  int leaderEpoch;
  int version;
  boolean notified;
  boolean election;
  /** Somebody asked for the topic's deletion. */
  boolean deletion;
  /** While a controller is elected: the model reads the request for an election in a later step. */
  boolean hidesElection;

  /** Whether each write of a move is a step. */
  boolean movesStepwise;
  ReplicaAssignment assignment;

  private static final StackWalker STACK = StackWalker.getInstance();
  private boolean elected;
  private int controllerEpoch;
  private int writtenBy = 1;
  private RuntimeException failure;
  final KafkaZkClient client =
      Mockito.mock(KafkaZkClient.class, Mockito.withSettings().stubOnly().defaultAnswer(this::answer));

  Zookeeper(List<Integer> assignment, boolean unclean) {
    this.assignment = ReplicaAssignment.apply(seq(new ArrayList<>(assignment)));
    this.unclean = unclean;
  }

  /** Take over what brokers and operators wrote. */
  void write(JsonNode with) {
    register(with.get("registered"));
    topic = with.get("topic").asBoolean();
    leader = with.get("leader").isNull() ? LeaderAndIsr.NoLeader() : number(with.get("leader").asText());
    isr = new TreeSet<>();
    with.get("isr").forEach(id -> isr.add(number(id.asText())));
    leaderEpoch = with.get("leader_epoch").asInt();
    version = with.get("version").asInt();
    notified = with.get("notified").asBoolean();
    election = with.get("election").asBoolean();
  }

  /** Take over a map of brokers and their epochs, or a set of brokers whose epochs do not matter. */
  void register(JsonNode of) {
    registered.clear();
    of.elements().forEachRemaining(
        id -> {
          if (id.isTextual()) {
            registered.put(number(id.asText()), 1L);
          }
        });
    of.fields().forEachRemaining(
        entry -> {
          if (entry.getValue().asLong() > 0) {
            registered.put(number(entry.getKey()), entry.getValue().asLong());
          }
        });
  }

  /** Create the topic, led by its first replica, with all of them in sync. */
  void createTopic() {
    topic = true;
    isr = new TreeSet<>();
    CollectionConverters.asJava(assignment.replicas()).forEach(id -> isr.add((Integer) id));
    leader = isr.iterator().next();
    leaderEpoch = 1;
    version = 1;
  }

  boolean hasRecord() {
    return leaderEpoch > 0;
  }

  /** The controller's session ends. */
  void dismiss() {
    elected = false;
  }

  /** Fail if the controller asked for something that is not here. */
  void check() {
    if (failure != null) {
      throw failure;
    }
  }

  static int number(String broker) {
    return Integer.parseInt(broker.substring(1));
  }

  /** The nodes of a topic go one by one, the partition's first; each is a step. */
  private void deleteTopic() {
    while (hasRecord() || topic) {
      events.pause();
      if (hasRecord()) {
        leaderEpoch = 0;
        leader = LeaderAndIsr.NoLeader();
        isr = Set.of();
        version = 0;
      } else {
        topic = false;
      }
    }
    events.pause(); // before the request goes
  }

  /** Stop before what a move does next, if the event is there: each of these is a step. */
  private void stopWithin(String part) {
    if (movesStepwise && calls("onPartitionReassignment") && calls(part)
        && !calls("updateCurrentReassignment")) {
      events.pause();
    }
  }

  private static boolean calls(String method) {
    return STACK.walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals(method)));
  }

  private SetDataResponse assign(scala.collection.Map<TopicPartition, ReplicaAssignment> written) {
    assignment = written.apply(PARTITION);
    return new SetDataResponse(Code.OK, "", Option.empty(), new Stat(), metadata());
  }

  private Object answer(InvocationOnMock asked) {
    if (!asked.getMethod().getName().startsWith("get")) {
      events.check();
    }
    switch (asked.getMethod().getName()) {
      case "getControllerId":
        return elected ? Option.apply(0) : Option.empty();
      case "deleteController":
        elected = false;
        return null;
      case "registerControllerAndIncrementControllerEpoch":
        elected = true;
        controllerEpoch++;
        return new Tuple2<>(controllerEpoch, 0);
      case "getDataAndVersion":
        return new Tuple2<>(Option.empty(), -2);
      case "registerZNodeChangeHandlerAndCheckExistence":
        String path = ((ZNodeChangeHandler) asked.getArgument(0)).path();
        return path.equals(PreferredReplicaElectionZNode.path()) && election;
      case "getAllBrokerAndEpochsInCluster":
        Map<Broker, Object> brokers = new HashMap<>();
        registered.forEach((id, epoch) -> brokers.put(broker(id), epoch));
        return map(brokers);
      case "getAllTopicsInCluster":
        return set(topic ? Set.of(PARTITION.topic()) : Set.of());
      case "getReplicaAssignmentAndTopicIdForTopics":
        return set(
            ((scala.collection.Iterable<?>) asked.getArgument(0)).isEmpty() ? Set.of() : Set.of(assigned()));
      case "getTopicPartitionStates":
        stopWithin("isReassignmentComplete");
        return map(leaderEpoch == 0 ? Map.of() : Map.of(PARTITION, record()));
      case "getTopicPartitionStatesRaw":
        stopWithin("stopRemovedReplicasOfReassignedPartition");
        return seq(List.of(read()));
      case "createTopicPartitionStatesRaw":
        return seq(create(asked.getArgument(0)));
      case "updateLeaderAndIsr":
        return update(asked.getArgument(0));
      case "getLogConfigs":
        return logConfigs();
      case "getAllIsrChangeNotifications":
        return seq(notified ? List.of("0") : List.of());
      case "getPartitionsFromIsrChangeNotifications":
        return seq(notified ? List.of(PARTITION) : List.of());
      case "deleteIsrChangeNotifications":
        notified = false;
        return null;
      case "getPreferredReplicaElection":
        return set(election && !hidesElection ? Set.of(PARTITION) : Set.of());
      case "deletePreferredReplicaElection":
        election = election && hidesElection;
        return null;
      case "getTopicDeletions":
        return seq(deletion ? List.of(PARTITION.topic()) : List.of());
      case "deleteTopicZNode":
        deleteTopic();
        return null;
      case "deleteTopicDeletions":
        deletion = false;
        return null;
      case "getPartitionReassignment":
        return map(Map.of());
      case "setTopicAssignmentRaw":
        stopWithin("updateReplicaAssignmentForPartition");
        return assign(asked.getArgument(2));
      case "reassignPartitionsInProgress":
        stopWithin("removePartitionFromReassigningPartitions");
        return false;
      default:
        if (asked.getMethod().getReturnType() != void.class) {
          failure = new IllegalStateException("no node for " + asked.getMethod());
          throw failure;
        }
        return null;
    }
  }

  private static Broker broker(int id) {
    SecurityProtocol plain = SecurityProtocol.PLAINTEXT;
    return new Broker(id, "localhost", 9092, ListenerName.forSecurityProtocol(plain), plain);
  }

  private TopicZNode.TopicIdReplicaAssignment assigned() {
    return new TopicZNode.TopicIdReplicaAssignment(
        PARTITION.topic(), Option.empty(), map(Map.of(PARTITION, assignment)));
  }

  private LeaderAndIsr leaderAndIsr() {
    List<Object> members = new ArrayList<>(isr);
    return new LeaderAndIsr(
        leader, leaderEpoch - 1, CollectionConverters.asScala(members).toList(), version - 1);
  }

  private LeaderIsrAndControllerEpoch record() {
    return new LeaderIsrAndControllerEpoch(leaderAndIsr(), writtenBy);
  }

  private GetDataResponse read() {
    boolean found = leaderEpoch > 0;
    Stat stat = new Stat();
    stat.setVersion(version - 1);
    byte[] data = found ? TopicPartitionStateZNode.encode(record()) : null;
    Code code = found ? Code.OK : Code.NONODE;
    return new GetDataResponse(code, "", Option.apply(PARTITION), data, stat, metadata());
  }

  private static ResponseMetadata metadata() {
    return new ResponseMetadata(0, 0);
  }

  private void accept(LeaderAndIsr written) {
    leader = written.leader();
    isr = new TreeSet<>();
    CollectionConverters.asJava(written.isr()).forEach(id -> isr.add((Integer) id));
    leaderEpoch = written.leaderEpoch() + 1;
    version++;
    writtenBy = controllerEpoch;
  }

  private List<CreateResponse> create(
      scala.collection.Map<TopicPartition, LeaderIsrAndControllerEpoch> asked) {
    if (asked.isEmpty()) {
      return List.of();
    }
    Code code = leaderEpoch == 0 ? Code.OK : Code.NODEEXISTS;
    if (code == Code.OK) {
      accept(asked.apply(PARTITION).leaderAndIsr());
    }
    return List.of(new CreateResponse(code, "", Option.apply(PARTITION), "", metadata()));
  }

  private KafkaZkClient.UpdateLeaderAndIsrResult update(
      scala.collection.Map<TopicPartition, LeaderAndIsr> asked) {
    if (asked.isEmpty()) {
      return new KafkaZkClient.UpdateLeaderAndIsrResult(map(Map.of()), seq(List.of()));
    }
    LeaderAndIsr written = asked.apply(PARTITION);
    if (written.zkVersion() + 1 != version) {
      return new KafkaZkClient.UpdateLeaderAndIsrResult(map(Map.of()), seq(List.of(PARTITION)));
    }
    accept(written);
    return new KafkaZkClient.UpdateLeaderAndIsrResult(
        map(Map.of(PARTITION, new Right<>(leaderAndIsr()))), seq(List.of()));
  }

  private Tuple2<?, ?> logConfigs() {
    Properties settings = new Properties();
    settings.put(LogConfig.UncleanLeaderElectionEnableProp(), String.valueOf(unclean));
    LogConfig config = new LogConfig(settings, set(Set.of()));
    return new Tuple2<>(map(Map.of(PARTITION.topic(), config)), map(Map.of()));
  }

  static <K, V> scala.collection.immutable.Map<K, V> map(Map<? extends K, ? extends V> of) {
    Map<K, V> copy = new HashMap<>(of);
    return scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(copy));
  }

  static <T> scala.collection.immutable.Seq<T> seq(List<? extends T> of) {
    List<T> copy = new ArrayList<>(of);
    return CollectionConverters.asScala(copy).toSeq();
  }

  static <T> scala.collection.immutable.Set<T> set(Set<? extends T> of) {
    Set<T> copy = new java.util.HashSet<>(of);
    return CollectionConverters.asScala(copy).toSet();
  }
}
