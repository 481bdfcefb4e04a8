package org.apache.kafka.coordinator.group;

import checker.conformance.GroupRecord;
import checker.conformance.GroupSubject;
import checker.conformance.Numbers;
import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.NotCoordinatorException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocolCollection;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.JoinGroupResponseData.JoinGroupResponseMember;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupRequestData.SyncGroupRequestAssignment;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;

/** A GroupMetadataManager with one classic group. */
final class Subject extends GroupSubject {
  private static final String TYPE = "conformance"; // no embedded consumer protocol to parse
  private static final byte[] ASSIGNED = {1};

  private List<CoordinatorRecord> log = new ArrayList<>();
  private final Set<String> issued = new HashSet<>();
  private GroupMetadataManagerTestContext context;

  Subject(JsonNode with) {
    super(with);
    log = new ArrayList<>();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    Numbers.install();
    var one = JsonNodeFactory.instance.objectNode();
    one.put("empty_is_appended", false).put("creation_is_appended", false);
    one.put("append_outlives_session", false).put("max_size", 0).putArray("clients");
    new Subject(one).observe(); // loading Kafka's classes takes seconds
    Protocol.serve("GroupMetadataManager", Protocol.kafka(), Subject::new);
  }

  @Override
  protected void open(int maxSize) {
    var builder =
        new GroupMetadataManagerTestContext.Builder()
            .withConfig(GroupCoordinatorConfig.GROUP_MAX_SIZE_CONFIG, maxSize);
    if (extensions > 0) {
      builder.withConfig(
          GroupCoordinatorConfig.GROUP_INITIAL_REBALANCE_DELAY_MS_CONFIG,
          REBALANCE_MS / (1 + extensions));
    }
    context = builder.build();
  }

  private ClassicGroup group() {
    try {
      return (ClassicGroup) context.groupMetadataManager.group(GROUP);
    } catch (GroupIdNotFoundException none) {
      return null;
    }
  }

  // ------------------------------------------------------------------------------- requests

  @Override
  protected void join(Call call, boolean old, String instance, String member, int subscription)
      throws Exception {
    byte[] said = GroupRecord.subscription(subscription);
    var list = new JoinGroupRequestProtocolCollection();
    for (String protocol : listed(subscription)) {
      list.add(new JoinGroupRequestProtocol().setName(protocol).setMetadata(said));
    }
    var result =
        context.sendClassicGroupJoin(
            new JoinGroupRequestData()
                .setGroupId(GROUP)
                .setMemberId(member)
                .setGroupInstanceId(instance)
                .setProtocolType(TYPE)
                .setSessionTimeoutMs(SESSION_MS)
                .setRebalanceTimeoutMs(REBALANCE_MS)
                .setProtocols(list),
            !old,
            !old);
    took(result.records, result.appendFuture);
    result.joinFuture.thenAccept(
        response -> {
          if (response.errorCode() == Errors.MEMBER_ID_REQUIRED.code()) {
            issued.add(response.memberId());
          }
          answer(call, () -> joined(response));
        });
  }

  private Map<String, Object> joined(JoinGroupResponseData response) {
    Errors error = Errors.forCode(response.errorCode());
    boolean good = error == Errors.NONE;
    Map<String, Object> found = message("JoinResponse", error.name());
    boolean named = good || error == Errors.MEMBER_ID_REQUIRED;
    found.put("member", named ? name(response.memberId()) : null);
    found.put("generation", good ? response.generationId() : 0);
    found.put("leader", good ? name(response.leader()) : null);
    found.put(
        "members",
        names(response.members().stream().map(JoinGroupResponseMember::memberId).toList()));
    found.put("skip_assignment", response.skipAssignment());
    return found;
  }

  @Override
  protected void sync(Call call, String instance, String member, int generation, String owner)
      throws Exception {
    var request =
        new SyncGroupRequestData()
            .setGroupId(GROUP)
            .setMemberId(member)
            .setGroupInstanceId(instance)
            .setGenerationId(generation);
    if (!owner.isEmpty()) {
      request.setAssignments(
          List.of(new SyncGroupRequestAssignment().setMemberId(owner).setAssignment(ASSIGNED)));
    }
    var result = context.sendClassicGroupSync(request);
    took(result.records, result.appendFuture);
    result.syncFuture.thenAccept(
        response -> {
          Map<String, Object> found =
              message("SyncResponse", Errors.forCode(response.errorCode()).name());
          found.put("assigned", response.assignment().length > 0);
          answer(call, () -> found);
        });
  }

  @Override
  protected void heartbeat(Call call, String instance, String member, int generation) {
    Errors error;
    try {
      var result =
          context.sendClassicGroupHeartbeat(
              new HeartbeatRequestData()
                  .setGroupId(GROUP)
                  .setMemberId(member)
                  .setGroupInstanceId(instance)
                  .setGenerationId(generation));
      error = Errors.forCode(result.response().errorCode());
    } catch (ApiException refused) {
      error = Errors.forException(refused);
    }
    Map<String, Object> found = message("HeartbeatResponse", error.name());
    found.put("member", name(member));
    found.put("generation", generation);
    answer(call, () -> found);
  }

  @Override
  protected void leave(String instance, String member) throws Exception {
    try {
      var identity = new MemberIdentity().setMemberId(member).setGroupInstanceId(instance);
      var result =
          context.sendClassicGroupLeave(
              new LeaveGroupRequestData().setGroupId(GROUP).setMembers(List.of(identity)));
      took(result.records(), result.appendFuture());
    } catch (UnknownMemberIdException none) {
      // no such group; the service answers for each member
    }
  }

  @Override
  protected void remove(String member) throws Exception {
    String instance = group().member(member).groupInstanceId().orElse(null);
    leave(instance, instance == null ? member : "");
  }

  /** What OffsetMetadataManager.validateOffsetCommit does; the offsets are not of this system. */
  @Override
  protected void commit(Call call, String instance, String member, int generation) {
    Errors error = Errors.NONE;
    ClassicGroup group = group();
    try {
      if (group == null) {
        throw Errors.ILLEGAL_GENERATION.exception();
      }
      group.validateOffsetCommit(member, instance, generation, false, 8);
      if (group.isInState(ClassicGroupState.STABLE)
          || group.isInState(ClassicGroupState.PREPARING_REBALANCE)) {
        context.groupMetadataManager.rescheduleClassicGroupMemberHeartbeat(
            group, group.member(member));
      }
    } catch (ApiException refused) {
      error = Errors.forException(refused);
    }
    Map<String, Object> found = message("CommitResponse", error.name());
    answer(call, () -> found);
  }

  // --------------------------------------------------------------------------------- timers

  @Override
  protected boolean fireJoin() throws Exception {
    ClassicGroup group = group();
    boolean again = group.previousState() == ClassicGroupState.EMPTY && group.newMemberAdded();
    fire(GroupMetadataManager.classicGroupJoinKey(GROUP));
    return again && group.isInState(ClassicGroupState.PREPARING_REBALANCE);
  }

  @Override
  protected void fireMember(String member) throws Exception {
    fire(GroupMetadataManager.classicGroupHeartbeatKey(GROUP, member));
  }

  @Override
  protected void fireSync() throws Exception {
    fire(GroupMetadataManager.classicGroupSyncKey(GROUP));
  }

  private void fire(String key) throws Exception {
    var result = Release.fire(context, key);
    took(result.records(), result.appendFuture());
  }

  @Override
  protected void fireWaiting() throws Exception {
    ClassicGroup group = group();
    if (group == null || group.isInState(ClassicGroupState.STABLE) && !appendOutlivesSession) {
      return;
    }
    for (ClassicGroupMember member : group.allMembers()) {
      if (!member.isNew() && waits(member) && watched(member)) {
        String key = GroupMetadataManager.classicGroupHeartbeatKey(GROUP, member.memberId());
        CoordinatorResult<Void, CoordinatorRecord> result = Release.fire(context, key);
        if (!result.records().isEmpty()) {
          throw new IllegalStateException("the timer of a member that waits had an effect");
        }
      }
    }
  }

  private static boolean waits(ClassicGroupMember member) {
    return member.isAwaitingJoin() || member.isAwaitingSync();
  }

  private boolean watched(ClassicGroupMember member) {
    return context.timer.contains(
        GroupMetadataManager.classicGroupHeartbeatKey(GROUP, member.memberId()));
  }

  // ------------------------------------------------------------------------ log and failover

  private void took(List<CoordinatorRecord> records, CompletableFuture<Void> future)
      throws Exception {
    if (!records.isEmpty()) {
      begin(new Appended(records, future));
    }
  }

  /** As the runtime does it: commit or go back to the last snapshot, then tell. */
  private final class Appended implements Append {
    private final List<CoordinatorRecord> records;
    private final CompletableFuture<Void> future;
    private final GroupMetadataValue value;

    private Appended(List<CoordinatorRecord> records, CompletableFuture<Void> future) {
      this.records = records;
      this.future = future;
      value = (GroupMetadataValue) records.get(records.size() - 1).value().message();
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

    /** As the runtime does it before it tells the coordinator; what is in memory stays. */
    @Override
    public void abandon() {
      future.completeExceptionally(new NotCoordinatorException("the coordinator has moved"));
    }

    @Override
    public void end(String outcome, boolean written) {
      if (written) {
        log.addAll(records);
      }
      if (outcome.equals("ok")) {
        commit();
        future.complete(null);
        return;
      }
      if (outcome.equals("lost")) {
        return; // abandoned before
      }
      if (outcome.equals("timeout")) { // the record is written and may yet be replicated
        future.completeExceptionally(new TimeoutException());
        return;
      }
      context.rollback();
      future.completeExceptionally(
          outcome.equals("error")
              ? new NotEnoughReplicasException()
              : new RecordTooLargeException());
    }
  }

  private void commit() {
    context.lastWrittenOffset++;
    context.snapshotRegistry.idempotentCreateSnapshot(context.lastWrittenOffset);
    context.commit();
  }

  @Override
  protected void deleteGroup() {
    ClassicGroup group = group();
    group.validateDeleteGroup();
    List<CoordinatorRecord> records = new ArrayList<>();
    group.createGroupTombstoneRecords(records);
    records.forEach(context::replay);
    context.commit();
    log.addAll(records);
  }

  @Override
  protected void unload() {
    context.onUnloaded();
  }

  @Override
  protected void load(int maxSize) {
    open(maxSize);
    log.forEach(context::replay);
    context.commit();
    context.onLoaded();
  }

  // ---------------------------------------------------------------------------- what is seen

  @Override
  protected Collection<String> known() {
    Set<String> found = new TreeSet<>(pending());
    if (group() != null) {
      found.addAll(group().allMemberIds());
    }
    return found;
  }

  private Set<String> pending() {
    ClassicGroup group = group();
    Set<String> found = new TreeSet<>(issued);
    found.removeIf(id -> group == null || !group.isPendingMember(id));
    if (group != null && found.size() != group.numPendingJoinMembers()) {
      throw new IllegalStateException("pending ids that nobody was told");
    }
    return found;
  }

  @Override
  protected Map<String, Object> seen() {
    Map<String, Object> fields = new HashMap<>();
    ClassicGroup group = group();
    if (group == null) {
      return fields;
    }
    boolean preparing = group.isInState(ClassicGroupState.PREPARING_REBALANCE);
    boolean stable = group.isInState(ClassicGroupState.STABLE);
    boolean settling = stable || group.isInState(ClassicGroupState.COMPLETING_REBALANCE);
    fields.put("group", group.stateAsString());
    fields.put("exists", true);
    fields.put("generation", group.generationId());
    fields.put("leader", name(group.leaderOrNull()));
    fields.put("pending", names(pending()));
    fields.put("pending_sync", names(group.allPendingSyncMembers()));
    fields.put(
        "initial_delay", preparing && group.previousState() == ClassicGroupState.EMPTY);
    fields.put(
        "join_timer",
        preparing && context.timer.contains(GroupMetadataManager.classicGroupJoinKey(GROUP)));
    fields.put(
        "sync_timer",
        settling && !group.hasReceivedSyncFromAllMembers()
            && context.timer.contains(GroupMetadataManager.classicGroupSyncKey(GROUP)));
    if (settling && protocols > 1) {
      fields.put("protocol", listed(0).contains(group.protocolName().orElseThrow()) ? 0 : 1);
    }
    fields.put("new_member_added", extensions > 0 && group.newMemberAdded());
    fields.putAll(members(group, stable));
    return fields;
  }

  private Map<String, Object> members(ClassicGroup group, boolean stable) {
    Map<String, Object> fields = new HashMap<>();
    Map<String, Object> members = new TreeMap<>();
    Map<String, Object> instances = new TreeMap<>();
    Map<String, Set<String>> sets = new HashMap<>();
    for (String set : List.of("new", "timers", "parked_join", "parked_sync")) {
      sets.put(set, new TreeSet<>());
    }
    for (ClassicGroupMember member : group.allMembers()) {
      String name = name(member.memberId());
      members.put(name, GroupRecord.number(member.supportedProtocols().iterator().next().metadata()));
      put(sets, "new", name, member.isNew());
      put(sets, "timers", name, watched(member) && (member.isNew() || !waits(member)));
      put(sets, "parked_join", name, member.isAwaitingJoin());
      put(sets, "parked_sync", name, member.isAwaitingSync());
      member.groupInstanceId().ifPresent(
          instance -> instances.put(instance, name(group.staticMemberId(instance))));
      if (stable && member.assignment().length > 0) {
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
