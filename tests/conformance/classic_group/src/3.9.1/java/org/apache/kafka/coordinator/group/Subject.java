package org.apache.kafka.coordinator.group;

import checker.conformance.GroupRecord;
import checker.conformance.GroupSubject;
import checker.conformance.Numbers;
import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import kafka.common.OffsetAndMetadata;
import kafka.coordinator.group.DelayedHeartbeat;
import kafka.coordinator.group.DelayedJoin;
import kafka.coordinator.group.DelayedSync;
import kafka.coordinator.group.GroupCoordinator;
import kafka.coordinator.group.GroupCoordinator$;
import kafka.coordinator.group.GroupMetadata;
import kafka.coordinator.group.InitialDelayedJoin;
import kafka.coordinator.group.JoinGroupResult;
import kafka.coordinator.group.MemberMetadata;
import kafka.server.DelayedOperationPurgatory;
import kafka.server.KafkaConfig;
import kafka.server.RequestLocal;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.common.message.JoinGroupResponseData.JoinGroupResponseMember;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import scala.Function1;
import scala.Option;
import scala.Tuple2;
import scala.collection.mutable.HashSet;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/** The GroupCoordinator in Scala, with one classic group. */
final class Subject extends GroupSubject {
  private static final String TYPE = "conformance"; // no embedded consumer protocol to parse
  private static final byte[] ASSIGNED = {1};
  private static final TopicPartition OFFSETS =
      new TopicPartition(Topic.GROUP_METADATA_TOPIC_NAME, 0);
  private static final TopicIdPartition CONSUMED =
      new TopicIdPartition(Uuid.ONE_UUID, 0, "consumed");

  private static final Map<Integer, KafkaConfig> CONFIGS = new HashMap<>(); // slow to parse

  private Log log;
  private Timers timers;
  private GroupCoordinator coordinator;
  private int epoch;

  Subject(JsonNode with) {
    super(with);
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    Numbers.install();
    var one = JsonNodeFactory.instance.objectNode();
    one.put("empty_is_appended", false).put("creation_is_appended", false);
    one.put("append_outlives_session", false).put("max_size", 0).putArray("clients");
    new Subject(one).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("GroupCoordinator", Protocol.kafka(), Subject::new);
  }

  @Override
  protected void open(int maxSize) {
    if (log == null) {
      log = new Log(this::took);
    }
    timers = new Timers();
    coordinator =
        GroupCoordinator$.MODULE$.apply(
            CONFIGS.computeIfAbsent(maxSize, Subject::config),
            log.replicas(),
            new DelayedOperationPurgatory<>("Heartbeat", timers, 0, 1000, false, true),
            new DelayedOperationPurgatory<>("Rebalance", timers, 0, 1000, false, true),
            Time.SYSTEM,
            new Metrics());
    coordinator.startup(() -> 1, false);
    coordinator.groupManager().addOwnedPartition(OFFSETS.partition());
  }

  private static KafkaConfig config(int maxSize) {
    Properties said = new Properties();
    said.put("broker.id", "0");
    said.put("zookeeper.connect", "nowhere");
    said.put(GroupCoordinatorConfig.GROUP_MAX_SIZE_CONFIG, Integer.toString(maxSize));
    return KafkaConfig.fromProps(said, false);
  }

  private GroupMetadata group() {
    Option<GroupMetadata> found = coordinator.groupManager().getGroup(GROUP);
    return found.isEmpty() ? null : found.get();
  }

  private static <T> Function1<T, BoxedUnit> told(Consumer<T> listener) {
    return said -> {
      listener.accept(said);
      return BoxedUnit.UNIT;
    };
  }

  private static <T> scala.collection.immutable.List<T> list(List<T> all) {
    return CollectionConverters.asScala(all).toList();
  }

  // ------------------------------------------------------------------------------- requests

  @Override
  protected void join(Call call, boolean old, String instance, String member, int subscription) {
    coordinator.handleJoinGroup(
        GROUP,
        member,
        Option.apply(instance),
        !old && instance == null,
        !old,
        "client",
        "host",
        REBALANCE_MS,
        SESSION_MS,
        TYPE,
        list(List.of(new Tuple2<>(PROTOCOL, GroupRecord.subscription(subscription)))),
        told(result -> answer(call, () -> joined(result))),
        Option.empty(),
        RequestLocal.NoCaching());
  }

  private Map<String, Object> joined(JoinGroupResult result) {
    boolean good = result.error() == Errors.NONE;
    Map<String, Object> found = message("JoinResponse", result.error().name());
    boolean named = good || result.error() == Errors.MEMBER_ID_REQUIRED;
    found.put("member", named ? name(result.memberId()) : null);
    found.put("generation", good ? result.generationId() : 0);
    found.put("leader", good ? name(result.leaderId()) : null);
    List<JoinGroupResponseMember> members = CollectionConverters.asJava(result.members());
    found.put("members", names(members.stream().map(JoinGroupResponseMember::memberId).toList()));
    found.put("skip_assignment", result.skipAssignment());
    return found;
  }

  @Override
  protected void sync(Call call, String instance, String member, int generation, String owner) {
    Map<String, byte[]> assignment = owner.isEmpty() ? Map.of() : Map.of(owner, ASSIGNED);
    coordinator.handleSyncGroup(
        GROUP,
        generation,
        member,
        Option.empty(),
        Option.empty(),
        Option.apply(instance),
        CollectionConverters.asScala(assignment),
        told(
            result -> {
              Map<String, Object> found = message("SyncResponse", result.error().name());
              found.put("assigned", result.memberAssignment().length > 0);
              answer(call, () -> found);
            }),
        RequestLocal.NoCaching());
  }

  @Override
  protected void heartbeat(Call call, String instance, String member, int generation) {
    coordinator.handleHeartbeat(
        GROUP,
        member,
        Option.apply(instance),
        generation,
        told(
            error -> {
              Map<String, Object> found = message("HeartbeatResponse", error.name());
              found.put("member", name(member));
              found.put("generation", generation);
              answer(call, () -> found);
            }));
  }

  @Override
  protected void leave(String instance, String member) {
    var identity = new MemberIdentity().setMemberId(member).setGroupInstanceId(instance);
    coordinator.handleLeaveGroup(GROUP, list(List.of(identity)), told(result -> {}));
  }

  @Override
  protected void remove(String member) {
    Option<String> instance = group().get(member).groupInstanceId();
    if (instance.isEmpty()) {
      leave(null, member);
    } else {
      leave(instance.get(), "");
    }
  }

  @Override
  protected void commit(Call call, String instance, String member, int generation) {
    var offset = new OffsetAndMetadata(0L, Optional.empty(), "", 0L, Option.empty());
    Map<TopicIdPartition, OffsetAndMetadata> offsets = Map.of(CONSUMED, offset);
    coordinator.handleCommitOffsets(
        GROUP,
        member,
        Option.apply(instance),
        generation,
        scala.collection.immutable.Map.from(CollectionConverters.asScala(offsets)),
        told(
            errors -> {
              Map<String, Object> found =
                  message("CommitResponse", errors.apply(CONSUMED).name());
              answer(call, () -> found);
            }),
        RequestLocal.NoCaching());
  }

  // --------------------------------------------------------------------------------- timers

  @Override
  protected boolean fireJoin() {
    timers.fire(timers.armed(DelayedJoin.class));
    return !timers.armed(InitialDelayedJoin.class).isEmpty();
  }

  @Override
  protected void fireMember(String member) {
    timers.fire(timers.of(member));
  }

  @Override
  protected void fireSync() {
    timers.fire(timers.armed(DelayedSync.class));
  }

  @Override
  protected void fireWaiting() {
    GroupMetadata group = group();
    if (group == null || is("Stable") && !appendOutlivesSession) {
      return;
    }
    for (MemberMetadata member : members(group)) {
      List<DelayedHeartbeat> armed = timers.of(member.memberId());
      if (!member.isNew() && waits(member) && !armed.isEmpty()) {
        int before = appending();
        timers.fire(armed);
        if (!group.has(member.memberId()) || appending() != before) {
          throw new IllegalStateException("the timer of a member that waits had an effect");
        }
      }
    }
  }

  private static boolean waits(MemberMetadata member) {
    return member.isAwaitingJoin() || member.isAwaitingSync();
  }

  private static List<MemberMetadata> members(GroupMetadata group) {
    return CollectionConverters.asJava(group.allMemberMetadata());
  }

  private boolean is(String state) {
    return group().currentState().toString().equals(state);
  }

  // ------------------------------------------------------------------------ log and failover

  private void took(Record record, Consumer<Errors> end) {
    begin(new Appended(record, end));
  }

  private final class Appended implements Append {
    private final Record record;
    private final Consumer<Errors> end;
    private final GroupMetadataValue value;

    private Appended(Record record, Consumer<Errors> end) {
      this.record = record;
      this.end = end;
      ByteBuffer bytes = record.value();
      value = new GroupMetadataValue(new ByteBufferAccessor(bytes), bytes.getShort());
    }

    @Override
    public Map<String, Object> record() {
      return GroupRecord.seen(value, id -> name(id));
    }

    @Override
    public boolean isOfNobody() {
      return value.members().isEmpty();
    }

    @Override
    public int generation() {
      return value.generation();
    }

    /** A broker that becomes a follower ends what waits for other replicas, then unloads. */
    @Override
    public void abandon() {
      end.accept(Errors.NOT_LEADER_OR_FOLLOWER);
    }

    @Override
    public void end(String outcome, boolean written) {
      if (written) {
        log.write(record);
      }
      switch (outcome) {
        case "ok" -> end.accept(Errors.NONE);
        case "error" -> end.accept(Errors.NOT_ENOUGH_REPLICAS);
        case "timeout" -> end.accept(Errors.REQUEST_TIMED_OUT);
        case "too_large" -> end.accept(Errors.MESSAGE_TOO_LARGE);
        case "lost" -> {} // abandoned before
        default -> throw new IllegalArgumentException("no outcome is called " + outcome);
      }
    }
  }

  @Override
  protected void deleteGroup() {
    Set<String> one = Set.of(GROUP);
    coordinator.handleDeleteGroups(CollectionConverters.asScala(one), RequestLocal.NoCaching());
  }

  @Override
  protected void unload() {
    epoch++;
    coordinator.groupManager().removeGroupsAndOffsets(
        OFFSETS, OptionalInt.of(epoch), told(group -> does("onGroupUnloaded", group)));
  }

  @Override
  protected void load(int maxSize) {
    open(maxSize);
    epoch++;
    coordinator.groupManager().removeGroupsAndOffsets(
        OFFSETS, OptionalInt.of(epoch), told(group -> {})); // it owns nothing yet
    coordinator.groupManager().loadGroupsAndOffsets(
        OFFSETS, epoch, told(group -> does("onGroupLoaded", group)), 0L);
  }

  /** What onElection and onResignation do for each group, in a thread of their own. */
  private void does(String listener, GroupMetadata group) {
    try {
      Method method = GroupCoordinator.class.getDeclaredMethod(listener, GroupMetadata.class);
      method.setAccessible(true);
      method.invoke(coordinator, group);
    } catch (ReflectiveOperationException failed) {
      throw new IllegalStateException(failed.getCause());
    }
  }

  // ---------------------------------------------------------------------------- what is seen

  @Override
  protected Collection<String> known() {
    Set<String> found = new TreeSet<>();
    GroupMetadata group = group();
    if (group != null) {
      found.addAll(pending(group));
      members(group).forEach(member -> found.add(member.memberId()));
    }
    return found;
  }

  @SuppressWarnings("unchecked")
  private static Set<String> pending(GroupMetadata group) {
    Object held = Timers.field(GroupMetadata.class, group, "pendingMembers");
    return new TreeSet<>(CollectionConverters.asJava((HashSet<String>) held));
  }

  @Override
  protected Map<String, Object> seen() {
    Map<String, Object> fields = new HashMap<>();
    GroupMetadata group = group();
    if (group == null) {
      return fields;
    }
    fields.put("group", group.currentState().toString());
    fields.put("exists", true);
    fields.put("generation", group.generationId());
    fields.put("leader", name(group.leaderOrNull()));
    fields.put("pending", names(pending(group)));
    fields.put("pending_sync", names(CollectionConverters.asJava(group.allPendingSyncMembers())));
    fields.put("initial_delay", !timers.armed(InitialDelayedJoin.class).isEmpty());
    fields.put("join_timer", !timers.armed(DelayedJoin.class).isEmpty());
    fields.put("sync_timer", !timers.armed(DelayedSync.class).isEmpty());
    fields.putAll(seen(group));
    return fields;
  }

  private Map<String, Object> seen(GroupMetadata group) {
    Map<String, Object> fields = new HashMap<>();
    Map<String, Object> members = new TreeMap<>();
    Map<String, Object> instances = new TreeMap<>();
    Map<String, Set<String>> sets = new HashMap<>();
    for (String set : List.of("new", "timers", "parked_join", "parked_sync")) {
      sets.put(set, new TreeSet<>());
    }
    for (MemberMetadata member : members(group)) {
      String name = name(member.memberId());
      boolean watched = !timers.of(member.memberId()).isEmpty();
      members.put(name, GroupRecord.number(member.metadata(PROTOCOL)));
      put(sets, "new", name, member.isNew());
      put(sets, "timers", name, watched && (member.isNew() || !waits(member)));
      put(sets, "parked_join", name, member.isAwaitingJoin());
      put(sets, "parked_sync", name, member.isAwaitingSync());
      Option<String> instance = member.groupInstanceId();
      if (!instance.isEmpty()) {
        instances.put(
            instance.get(), name(group.currentStaticMemberId(instance.get()).get()));
      }
      if (is("Stable") && member.assignment().length > 0) {
        fields.put("owner", name);
      }
    }
    fields.putAll(sets);
    fields.put("members", members);
    fields.put("static", instances);
    return fields;
  }

  private static void put(Map<String, Set<String>> sets, String set, String name, boolean in) {
    if (in) {
      sets.get(set).add(name);
    }
  }
}
