package org.apache.kafka.coordinator.group;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupRequestData.SyncGroupRequestAssignment;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.MetadataImageBuilder;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;

/**
 * A GroupMetadataManager with one group, whose members speak both protocols.
 *
 * <p>A rebalance of classic members ends when the model says. To keep the class from ending one at
 * once, a stranger has always been told an id and never joins with it: the group waits for it, until
 * the timer of the rebalance fires. What the leader assigns is written when the model's leader assigns:
 * it then sends its SyncGroup again, or for the first time.
 */
final class Migration implements Protocol.Subject {
  static final String GROUP = "group";
  static final String INSTANCE = "instance";
  private static final int SESSION_MS = 45_000;
  private static final int REBALANCE_MS = 300_000;
  private static final int EXTENSIONS = 200;
  private static final int NEVER = 1_000_000;

  /** A request that was taken: whose, and whether its connection is open. */
  private record Call(String member, boolean open) {}

  private final Map<String, Uuid> topics = new TreeMap<>();
  private final Map<Uuid, String> topicNames = new HashMap<>();
  private final Set<String> consumers = new HashSet<>();
  private final Set<String> statics = new HashSet<>();
  private final boolean idRequired;
  private final boolean keepsProtocol; // whether the model does
  private final Chosen assignor = new Chosen(topics, this::id);
  private final GroupMetadataManagerTestContext context;

  private final Map<String, String> ids = new HashMap<>();
  private final Map<String, List<Object>> answers = new TreeMap<>();
  private final List<Call> open = new ArrayList<>();
  private String stranger = "";
  private int joins;
  private int shift;
  private Group former;
  private int last;

  Migration(JsonNode with) throws Exception {
    for (JsonNode name : with.get("partitions")) {
      Uuid id = new Uuid(1, topics.size() + 1);
      topics.put(name.asText(), id);
      topicNames.put(id, name.asText());
    }
    with.get("members").forEach(member -> answers.put(member.asText(), new ArrayList<>()));
    with.get("consumers").forEach(member -> consumers.add(member.asText()));
    with.get("statics").forEach(member -> statics.add(member.asText()));
    consumers.forEach(member -> ids.put(member, member));
    idRequired = with.get("member_id_required").asBoolean();
    keepsProtocol = with.get("keeps_protocol").asBoolean();
    MetadataImageBuilder image = new MetadataImageBuilder();
    topics.forEach((name, id) -> image.addTopic(id, name, 1));
    context =
        Release.assigning(new GroupMetadataManagerTestContext.Builder(), 0)
            .withConfig(GroupCoordinatorConfig.CONSUMER_GROUP_ASSIGNORS_CONFIG, List.of(assignor))
            .withConfig(
                GroupCoordinatorConfig.CONSUMER_GROUP_MIGRATION_POLICY_CONFIG,
                with.get("policy").asText())
            .withMetadataImage(image.buildCoordinatorMetadataImage())
            .build();
    keepWaiting();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode();
    one.put("policy", "BIDIRECTIONAL").put("member_id_required", false).put("keeps_protocol", true);
    for (String key : List.of("members", "consumers", "statics")) {
      one.putArray(key);
    }
    one.putArray("partitions").add("p1");
    new Migration(one).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("GroupMetadataManager", Protocol.kafka(), Migration::new);
  }

  // --------------------------------------------------------------------------------- the group

  /** The group, or null where an empty one was deleted. */
  private Group group() {
    return context.groupMetadataManager.groupIds().contains(GROUP)
        ? context.groupMetadataManager.group(GROUP)
        : null;
  }

  /** The group as a classic one, or null. */
  private ClassicGroup classic() {
    return group() instanceof ClassicGroup found ? found : null;
  }

  private ConsumerGroup consumer() {
    return group() instanceof ConsumerGroup found ? found : null;
  }

  private int epoch() {
    return classic() != null ? classic().generationId() : consumer().groupEpoch();
  }

  private Collection<String> members() {
    if (group() == null) {
      return Set.of();
    }
    return classic() != null ? classic().allMemberIds() : consumer().members().keySet();
  }

  /** What the model calls a member, or a text that it has not. */
  private String name(String id) {
    return ids.entrySet().stream()
        .filter(entry -> entry.getValue().equals(id))
        .map(Map.Entry::getKey)
        .findAny()
        .orElse("?" + id);
  }

  /** The id of a member; who joins without one has an id that no member had before. */
  private String id(String member, Set<String> among) {
    String known = ids.get(member);
    return known != null && among.contains(known)
        ? known
        : among.stream().filter(id -> !ids.containsValue(id)).findAny().orElseThrow();
  }

  private String instance(String member) {
    return statics.contains(member) ? INSTANCE : null;
  }

  /** The class's number for one of the model's, whose numbers go on where a group begins anew. */
  private int number(int said) {
    int found = said - shift;
    return said == 0 ? 0 : found > 0 ? found : NEVER;
  }

  /** The model's number for one of the class's; that of a member with no epoch yet is 0 to both. */
  private int said(int number) {
    return number <= 0 ? 0 : number + shift;
  }

  private boolean waitsForTheLeader() {
    return classic() != null && classic().isInState(ClassicGroupState.COMPLETING_REBALANCE);
  }

  // --------------------------------------------------------------------------------- the steps

  @Override
  public Object call(String called, JsonNode with) throws Exception {
    former = members().isEmpty() ? group() : null;
    last = epoch() + shift;
    step(called, with);
    keepWaiting();
    renumber();
    return null;
  }

  /** An empty group was deleted and another one begun; the model's numbers go on. */
  private void renumber() {
    if (former != null && group() != null && former != group()) {
      shift = last - (consumer() == null ? 0 : Release.FIRST_EPOCH); // where it begins counts, too
      former = null;
    }
  }

  private void step(String called, JsonNode with) throws Exception {
    String member = with.path("member").asText();
    switch (called) {
      case "take" -> answers.get(member).remove(0);
      case "close" -> {
        answers.get(member).clear();
        open.removeIf(call -> call.member.equals(member));
      }
      case "complete_join" -> completeJoin();
      case "assign" -> assign(with.get("assignment"));
      case "session" -> session(member);
      default -> {
        Call call = new Call(member, with.get("open").asBoolean());
        open.removeIf(other -> other.member.equals(member));
        if (call.open) {
          open.add(call);
        }
        request(called, call, with);
      }
    }
  }

  private void request(String called, Call call, JsonNode with) throws Exception {
    assignor.target = with.get("target");
    try {
      switch (called) {
        case "join" -> join(call, with);
        case "sync" -> sync(call, number(with.get("epoch").asInt()), null);
        case "heartbeat" -> heartbeat(call, number(with.get("epoch").asInt()));
        case "consumer_heartbeat" -> consumerHeartbeat(call, with);
        case "leave" -> leave(call);
        default -> throw new IllegalArgumentException("no call is named " + called);
      }
    } catch (ApiException refused) {
      answer(call, called.equals("leave") ? done() : error(Errors.forException(refused)));
    } catch (NoSuchElementException failed) {
      answer(call, error(Errors.UNKNOWN_SERVER_ERROR)); // as the runtime does it
    }
  }

  // ------------------------------------------------------------------------------ the requests

  private JoinGroupRequestData joining(JsonNode owned, int generation) {
    return new JoinGroupRequestData()
        .setGroupId(GROUP)
        .setProtocolType(Embedded.TYPE)
        .setSessionTimeoutMs(SESSION_MS)
        .setRebalanceTimeoutMs(REBALANCE_MS)
        .setProtocols(Embedded.subscription(topics.keySet(), owned, generation, joins++));
  }

  private void join(Call call, JsonNode with) {
    String member = call.member;
    boolean named = with.get("named").asBoolean();
    String id = ids.get(member);
    // A process of the model has one id for good: what is left of it is what it finds.
    boolean finds = instance(member) == null && !idRequired && id != null && members().contains(id);
    int since = with.get("generation").asInt();
    var request =
        joining(with.get("owned"), since == 0 ? -1 : number(since))
            .setMemberId((named || finds) && id != null ? id : "")
            .setGroupInstanceId(instance(member));
    Set<String> before = Set.copyOf(members());
    var result = context.sendClassicGroupJoin(request, idRequired, idRequired);
    members().stream()
        .filter(found -> !before.contains(found))
        .findAny()
        .ifPresent(found -> ids.put(member, found));
    end(result.appendFuture);
    result.joinFuture.thenAccept(response -> joined(call, response));
  }

  private void joined(Call call, JoinGroupResponseData response) {
    Errors error = Errors.forCode(response.errorCode());
    if (error == Errors.NONE) {
      answer(call, Map.of("kind", "JoinDone", "epoch", said(response.generationId())));
      return;
    }
    if (error == Errors.MEMBER_ID_REQUIRED) {
      ids.put(call.member, response.memberId());
    }
    answer(call, error(error));
  }

  private SyncGroupRequestData syncing(String id, String member, int generation) {
    return new SyncGroupRequestData()
        .setGroupId(GROUP)
        .setMemberId(id)
        .setGroupInstanceId(instance(member))
        .setGenerationId(generation)
        .setProtocolType(Embedded.TYPE)
        .setProtocolName(Embedded.PROTOCOL);
  }

  /** Without an assignment what the leader says is not written yet; it says it again with one. */
  private void sync(Call call, int generation, JsonNode assignment) throws Exception {
    var request = syncing(ids.get(call.member), call.member, generation);
    if (assignment != null) {
      List<SyncGroupRequestAssignment> given = new ArrayList<>();
      assignment.fields().forEachRemaining(
          entry ->
              given.add(
                  new SyncGroupRequestAssignment()
                      .setMemberId(ids.get(entry.getKey()))
                      .setAssignment(Embedded.assignment(entry.getValue()))));
      request.setAssignments(given);
    }
    try {
      var result = context.sendClassicGroupSync(request);
      result.syncFuture.thenAccept(response -> synced(call, generation, response));
      if (assignment != null || !waitsForTheLeader()) {
        end(result.appendFuture);
      }
    } catch (ApiException refused) {
      answer(call, error(Errors.forException(refused)));
    }
  }

  private void synced(Call call, int generation, SyncGroupResponseData response) {
    Errors error = Errors.forCode(response.errorCode());
    if (error != Errors.NONE) {
      answer(call, error(error));
      return;
    }
    answer(call, assigned(generation, Embedded.assignment(response.assignment())));
  }

  private void heartbeat(Call call, int generation) {
    var result =
        context.sendClassicGroupHeartbeat(
            new HeartbeatRequestData()
                .setGroupId(GROUP)
                .setMemberId(ids.get(call.member))
                .setGroupInstanceId(instance(call.member))
                .setGenerationId(generation));
    Errors error = Errors.forCode(result.response().errorCode());
    answer(call, error == Errors.NONE ? Map.of("kind", "HeartbeatDone") : error(error));
  }

  private ConsumerGroupHeartbeatRequestData beating(String member, int epoch) {
    return new ConsumerGroupHeartbeatRequestData()
        .setGroupId(GROUP)
        .setMemberId(member)
        .setInstanceId(instance(member))
        .setMemberEpoch(epoch);
  }

  /** A heartbeat that tells everything, so that it is told everything. */
  private void consumerHeartbeat(Call call, JsonNode with) {
    int epoch = number(with.get("epoch").asInt());
    List<ConsumerGroupHeartbeatRequestData.TopicPartitions> owned = new ArrayList<>();
    with.get("owned")
        .forEach(
            name ->
                owned.add(
                    new ConsumerGroupHeartbeatRequestData.TopicPartitions()
                        .setTopicId(topics.get(name.asText()))
                        .setPartitions(List.of(0))));
    var request =
        beating(call.member, epoch)
            .setRebalanceTimeoutMs(REBALANCE_MS)
            .setSubscribedTopicNames(List.copyOf(topics.keySet()))
            .setTopicPartitions(owned);
    var result = context.consumerGroupHeartbeat(request);
    end(result.appendFuture());
    renumber();
    List<String> assigned = new ArrayList<>();
    result.response().assignment().topicPartitions()
        .forEach(topic -> assigned.add(topicNames.get(topic.topicId())));
    answer(call, assigned(result.response().memberEpoch(), assigned));
  }

  private void leave(Call call) throws Exception {
    String member = call.member;
    if (consumers.contains(member)) {
      var result = context.consumerGroupHeartbeat(beating(member, instance(member) == null ? -1 : -2));
      end(result.appendFuture());
    } else {
      var identity = new MemberIdentity().setMemberId(ids.get(member)).setGroupInstanceId(instance(member));
      took(
          context.sendClassicGroupLeave(
              new LeaveGroupRequestData().setGroupId(GROUP).setMembers(List.of(identity))));
    }
    answer(call, done());
  }

  // ------------------------------------------------------------------------- timers, and the leader

  private void completeJoin() throws Exception {
    String key = GroupMetadataManager.classicGroupJoinKey(GROUP);
    for (int turn = 0; classic().isInState(ClassicGroupState.PREPARING_REBALANCE); turn++) {
      if (turn == EXTENSIONS) {
        throw new IllegalStateException("the rebalance does not end");
      }
      fire(key);
    }
  }

  private void assign(JsonNode assignment) throws Exception {
    String leader = name(classic().leaderOrNull());
    Call waiting = new Call(leader, true); // a request of its own may wait already
    sync(
        open.contains(waiting) ? waiting : new Call(leader, false),
        classic().generationId(),
        assignment);
  }

  private void session(String member) throws Exception {
    String id = ids.get(member);
    fire(
        classic() != null
            ? GroupMetadataManager.classicGroupHeartbeatKey(GROUP, id)
            : GroupMetadataManager.groupSessionTimeoutKey(GROUP, id));
  }

  private void fire(String key) throws Exception {
    var timer = context.timer.timeout(key);
    if (timer == null) {
      throw new IllegalStateException("no timer " + key);
    }
    context.timer.cancel(key);
    took(timer.operation().generateRecords());
  }

  /** What the class gives is replayed where it says so, and written. */
  private void took(CoordinatorResult<?, CoordinatorRecord> result) {
    if (result.replayRecords()) {
      result.records().forEach(context::replay);
    }
    end(result.appendFuture());
  }

  private static void end(CompletableFuture<Void> append) {
    if (append != null) {
      append.complete(null);
    }
  }

  /** The stranger asks for an id, if the group is a classic one that waits for none. */
  private void keepWaiting() throws Exception {
    Group group = group();
    if (group != null && classic() == null) {
      return;
    }
    if (group != null && members().isEmpty() && classic().isInState(ClassicGroupState.PREPARING_REBALANCE)) {
      completeJoin(); // of nobody: there is no need to wait
    }
    if (group == null || !classic().isPendingMember(stranger)) {
      var request = joining(JsonNodeFactory.instance.arrayNode(), -1);
      var result = context.sendClassicGroupJoin(request, true, true);
      end(result.appendFuture);
      stranger = result.joinFuture.get().memberId();
    }
  }

  // -------------------------------------------------------------------------------- the answers

  private void answer(Call call, Object message) {
    if (open.remove(call)) {
      answers.get(call.member).add(message);
    }
  }

  private static Object error(Errors error) {
    return Map.of("kind", "Refused", "error", error.name());
  }

  private static Object done() {
    return Map.of("kind", "LeaveDone");
  }

  private Object assigned(int epoch, Collection<String> partitions) {
    return Map.of("kind", "Assigned", "epoch", said(epoch), "partitions", partitions);
  }

  // ---------------------------------------------------------------------------- what can be seen

  @Override
  public Map<String, Object> observe() {
    Map<String, Object> fields = new HashMap<>();
    for (String each : List.of("protocols", "assigned", "claims", "claimed_in", "target")) {
      fields.put(each, new TreeMap<>());
    }
    for (String each : List.of("states", "epochs", "pending")) {
      fields.put(each, new TreeMap<>());
    }
    for (String each : List.of("issued", "parked_join", "parked_sync", "away")) {
      fields.put(each, new HashSet<>());
    }
    fields.put("answers", answers);
    fields.put("epoch", epoch() + shift);
    fields.put("assignment_epoch", 0);
    if (classic() != null) {
      seen(classic(), fields);
    } else {
      seen(consumer(), fields);
    }
    return fields;
  }

  @SuppressWarnings("unchecked")
  private static void put(Map<String, Object> fields, String field, String key, Object value) {
    ((Map<String, Object>) fields.get(field)).put(key, value);
  }

  @SuppressWarnings("unchecked")
  private static void add(Map<String, Object> fields, String field, String name, boolean in) {
    if (in) {
      ((Set<String>) fields.get(field)).add(name);
    }
  }

  private void seen(ClassicGroup group, Map<String, Object> fields) {
    fields.put("kind", "CLASSIC_GROUP");
    fields.put("group", group.stateAsString());
    fields.put("has_protocol", keepsProtocol && group.protocolName().isPresent());
    ids.forEach((name, id) -> add(fields, "issued", name, group.isPendingMember(id)));
    for (ClassicGroupMember member : group.allMembers()) {
      String name = name(member.memberId());
      put(fields, "protocols", name, "CLASSIC");
      put(fields, "assigned", name, Embedded.assignment(member.assignment()));
      add(fields, "parked_join", name, member.isAwaitingJoin());
      add(fields, "parked_sync", name, member.isAwaitingSync());
      if (member.isAwaitingJoin()) {
        var said = Embedded.subscription(member.metadata(Embedded.PROTOCOL));
        int since = said.generationId().orElse(-1);
        put(fields, "claims", name, Embedded.names(said.ownedPartitions()));
        put(fields, "claimed_in", name, said(since));
      }
    }
  }

  private void seen(ConsumerGroup group, Map<String, Object> fields) {
    fields.put("kind", "CONSUMER_GROUP");
    fields.put("group", "Dead");
    fields.put("has_protocol", false);
    fields.put("assignment_epoch", group.assignmentEpoch() + shift);
    group.targetAssignment().forEach(
        (id, of) -> names(of.partitions()).forEach(topic -> put(fields, "target", topic, name(id))));
    group.members().forEach(
        (id, member) -> {
          String name = name(id);
          put(fields, "protocols", name, member.useClassicProtocol() ? "CLASSIC" : "CONSUMER");
          put(fields, "assigned", name, names(member.assignedPartitions()));
          put(fields, "pending", name, names(member.partitionsPendingRevocation()));
          put(fields, "states", name, member.state().name());
          put(fields, "epochs", name, said(member.memberEpoch()));
          add(fields, "away", name, member.memberEpoch() == -2);
        });
  }

  private List<String> names(Map<Uuid, ?> partitions) {
    return partitions.keySet().stream().map(topicNames::get).toList();
  }
}
