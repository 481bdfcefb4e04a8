package org.apache.kafka.coordinator.group;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.MetadataImageBuilder;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

/** A GroupMetadataManager with one consumer group, each topic with one partition that matters. */
final class Subject implements Protocol.Subject {
  private static final String GROUP = "group";
  private static final int REBALANCE_TIMEOUT = 300_000;
  private static final int INTERVAL = 1_000;

  private final Map<String, Uuid> topics = new TreeMap<>();
  private final Map<Uuid, String> names = new HashMap<>();
  private final List<CoordinatorRecord> log = new ArrayList<>();
  private final Chosen assignor = new Chosen(topics);
  private final int interval;
  private final boolean tellsSince;
  private final Regexes regexes = new Regexes();
  private final int maxSize;
  private final int firstEpoch;
  private int partitions = 1;
  private GroupMetadataManagerTestContext context;

  Subject(JsonNode with) {
    for (JsonNode name : with.get("partitions")) {
      create(name.asText(), regexes.matching(with.get("matches"), name.asText()));
    }
    maxSize = with.get("max_size").asInt();
    interval = with.get("interval").asBoolean() ? INTERVAL : 0;
    tellsSince = with.get("commits").asBoolean();
    firstEpoch = with.get("first_epoch").asInt();
    context = open();
    with.get("classic").fields()
        .forEachRemaining(entry -> upgrade(entry.getKey(), entry.getValue().asText()));
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode();
    one.put("interval", false).put("commits", false).putObject("classic");
    one.put("max_size", 1).put("first_epoch", 1).putObject("matches");
    one.putArray("partitions").add("p1");
    var join = JsonNodeFactory.instance.objectNode();
    join.put("member", "m1").put("epoch", 0).putNull("instance").putNull("regex").put("drops", false);
    join.putObject("target").put("p1", "m1");
    join.putArray("topics").add("p1");
    join.putArray("owned");
    new Subject(one).call("heartbeat", join); // loading Kafka's classes takes seconds
    Protocol.serve("GroupMetadataManager", Protocol.kafka(), Subject::new);
  }

  /** A topic, whose name says which of the model's regular expressions match it. */
  private Uuid create(String name, Collection<String> matching) {
    Uuid id = new Uuid(1, topics.size() + 1);
    topics.put(name, id);
    names.put(id, name);
    regexes.create(name, matching);
    return id;
  }

  private CoordinatorMetadataImage image() {
    MetadataImageBuilder image = new MetadataImageBuilder();
    topics.forEach((name, id) -> image.addTopic(id, regexes.topic(name), partitions));
    return image.buildCoordinatorMetadataImage(regexes.version);
  }

  private GroupMetadataManagerTestContext open() {
    var builder =
        new GroupMetadataManagerTestContext.Builder()
            .withConfig(GroupCoordinatorConfig.CONSUMER_GROUP_ASSIGNORS_CONFIG, List.of(assignor))
            .withConfig(GroupCoordinatorConfig.CONSUMER_GROUP_MAX_SIZE_CONFIG, maxSize)
            .withMetadataImage(image());
    regexes.resolveIn(builder);
    return Release.assigning(builder, interval).build();
  }

  /** A static member of the classic protocol that holds everything, as an upgrade leaves it. */
  private void upgrade(String member, String instance) {
    var protocol =
        new ConsumerGroupMemberMetadataValue.ClassicProtocol().setName("range").setMetadata(new byte[0]);
    var classic =
        new ConsumerGroupMemberMetadataValue.ClassicMemberMetadata()
            .setSessionTimeoutMs(45_000)
            .setSupportedProtocols(List.of(protocol));
    Map<Uuid, Integer> held = new HashMap<>();
    Map<Uuid, Set<Integer>> target = new HashMap<>();
    topics.values().forEach(id -> held.put(id, 1));
    topics.values().forEach(id -> target.put(id, Set.of(0)));
    var gone =
        new ConsumerGroupMember.Builder(member)
            .setInstanceId(instance)
            .setClientId("client")
            .setClientHost("/127.0.0.1")
            .setRebalanceTimeoutMs(REBALANCE_TIMEOUT)
            .setSubscribedTopicNames(topics.keySet().stream().map(regexes::topic).toList())
            .setState(MemberState.STABLE)
            .setMemberEpoch(1)
            .setPreviousMemberEpoch(1)
            .setClassicMemberMetadata(classic);
    replay(
        new ConsumerGroupBuilder(GROUP, 1)
            .withMember(Release.holding(gone, held).build())
            .withAssignment(member, target)
            .withAssignmentEpoch(1)
            .withMetadataHash(hash())
            .build());
    context.groupMetadataManager.onLoaded();
  }

  private long hash() {
    Map<String, Long> hashes = new HashMap<>();
    topics.keySet().stream()
        .map(regexes::topic)
        .forEach(name -> hashes.put(name, Utils.computeTopicHash(name, image())));
    return Utils.computeGroupHash(hashes);
  }

  @Override
  public Object call(String called, JsonNode with) {
    switch (called) {
      case "heartbeat":
        return heartbeat(with);
      case "leave":
        return leave(with);
      case "commit":
        return commit(with);
      case "session":
        fire(GroupMetadataManager.groupSessionTimeoutKey(GROUP, with.get("member").asText()));
        return null;
      case "rebalance":
        fire(GroupMetadataManager.groupRebalanceTimeoutKey(GROUP, with.get("member").asText()));
        return null;
      case "interval":
        context.time.sleep(INTERVAL); // fires no timer: nobody polls
        return null;
      case "metadata":
        partitions++; // of every topic one more, which no target ever has
        change(Set.of());
        return null;
      case "creation":
        List<String> matching = new ArrayList<>();
        with.get("matching").forEach(regex -> matching.add(regex.asText()));
        regexes.version++;
        change(Set.of(create(with.get("partition").asText(), matching)));
        return null;
      case "resolve":
        regexes.resolve();
        return null;
      case "write":
        context.processTasks().forEach(done -> log.addAll(done.result().records()));
        return null;
      case "fail":
        regexes.fail();
        context.processTasks();
        return null;
      case "ten_seconds":
        context.time.sleep(GroupMetadataManager.REGEX_BATCH_REFRESH_MIN_INTERVAL_MS + 1);
        return null;
      case "delete":
        return delete();
      case "expire":
        List<CoordinatorRecord> records = new ArrayList<>();
        context.groupMetadataManager.maybeDeleteGroup(GROUP, records);
        replay(records);
        return null;
      case "newer_record":
        replay(List.of(newer(with.get("member").asText())));
        return null;
      case "move":
        var time = context.time.milliseconds();
        context = open();
        context.time.sleep(time - context.time.milliseconds());
        change(Set.of()); // a coordinator is given the image before it loads
        log.forEach(context::replay);
        context.groupMetadataManager.onLoaded();
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  private static ConsumerGroupHeartbeatRequestData request(JsonNode with) {
    return new ConsumerGroupHeartbeatRequestData()
        .setGroupId(GROUP)
        .setMemberId(with.get("member").asText())
        .setMemberEpoch(with.get("epoch").asInt())
        .setInstanceId(with.get("instance").isNull() ? null : with.get("instance").asText());
  }

  private ConsumerGroupHeartbeatResponseData send(ConsumerGroupHeartbeatRequestData request) {
    var result = context.consumerGroupHeartbeat(request); // it replays its records
    log.addAll(result.records());
    return result.response();
  }

  private static String error(ApiException refused) {
    return Errors.forException(refused).name();
  }

  /** What GroupCoordinatorShard does of DeleteGroups; there are no offsets. */
  private String delete() {
    List<CoordinatorRecord> records = new ArrayList<>();
    try {
      context.groupMetadataManager.validateDeleteGroup(GROUP);
      context.groupMetadataManager.createGroupTombstoneRecordsAndCancelTimers(GROUP, records);
    } catch (ApiException refused) {
      return error(refused);
    }
    replay(records);
    return null;
  }

  private String leave(JsonNode with) {
    try {
      send(request(with));
      return null;
    } catch (ApiException refused) {
      return error(refused);
    }
  }

  private Map<String, Object> heartbeat(JsonNode with) {
    assignor.target = with.get("target");
    var request = request(with);
    JsonNode told = with.get("topics");
    JsonNode owned = with.get("owned");
    if (!told.isNull()) {
      List<String> subscribed = new ArrayList<>();
      told.forEach(name -> subscribed.add(regexes.topic(name.asText())));
      request.setSubscribedTopicNames(subscribed);
    }
    if (with.get("drops").asBoolean()) {
      request.setSubscribedTopicRegex("");
    } else if (!with.get("regex").isNull()) {
      request.setSubscribedTopicRegex(Regexes.pattern(with.get("regex").asText()));
    }
    if (!owned.isNull()) {
      List<ConsumerGroupHeartbeatRequestData.TopicPartitions> reported = new ArrayList<>();
      owned.forEach(
          name ->
              reported.add(
                  new ConsumerGroupHeartbeatRequestData.TopicPartitions()
                      .setTopicId(topics.get(name.asText()))
                      .setPartitions(List.of(0))));
      request.setTopicPartitions(reported);
    }
    if (!told.isNull() && !owned.isNull()) {
      request.setRebalanceTimeoutMs(REBALANCE_TIMEOUT);
    }
    try {
      return answer(send(request));
    } catch (ApiException refused) {
      return Map.of("error", error(refused));
    }
  }

  private Map<String, Object> answer(ConsumerGroupHeartbeatResponseData said) {
    Map<String, Object> found = new HashMap<>();
    found.put("epoch", said.memberEpoch());
    found.put("assignment", null);
    if (said.assignment() != null) {
      Set<String> assigned = new TreeSet<>();
      said.assignment().topicPartitions().forEach(topic -> assigned.add(names.get(topic.topicId())));
      found.put("assignment", assigned);
    }
    return found;
  }

  private Object commit(JsonNode with) {
    String topic = with.get("partition").asText();
    try {
      context
          .groupMetadataManager
          .group(GROUP)
          .validateOffsetCommit(
              with.get("member").asText(), null, with.get("epoch").asInt(), false, (short) 10)
          .validate(regexes.topic(topic), topics.get(topic), 0);
      return null;
    } catch (UnknownMemberIdException refused) {
      return "UNKNOWN_COMMITTER"; // the model's name, as members have the other one
    } catch (ApiException refused) {
      return Errors.forException(refused).name();
    }
  }

  private void fire(String key) {
    var timer = context.timer.timeout(key);
    context.timer.cancel(key);
    replay(timer.operation().generateRecords().records());
  }

  private void change(Set<Uuid> created) {
    CoordinatorMetadataImage changed = image();
    Release.update(
        context.groupMetadataManager,
        new CoordinatorMetadataDelta() {
          @Override
          public Collection<Uuid> createdTopicIds() {
            return created;
          }

          @Override
          public Collection<Uuid> changedTopicIds() {
            return created.isEmpty() ? topics.values() : created;
          }

          @Override
          public Set<Uuid> deletedTopicIds() {
            return Set.of();
          }

          @Override
          public CoordinatorMetadataImage image() {
            return changed;
          }
        });
  }

  /** The record of the member's assignment, with a state that this release does not know. */
  private CoordinatorRecord newer(String id) {
    ConsumerGroupMember member = group().members().get(id);
    var record = GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentRecord(GROUP, member);
    ((ConsumerGroupCurrentMemberAssignmentValue) record.value().message()).setState((byte) 99);
    return record;
  }

  private void replay(List<CoordinatorRecord> records) {
    records.forEach(context::replay);
    log.addAll(records);
  }

  private ConsumerGroup group() {
    try {
      return (ConsumerGroup) context.groupMetadataManager.group(GROUP);
    } catch (GroupIdNotFoundException none) {
      return null;
    }
  }

  private Set<String> partitions(Map<Uuid, ?> held) {
    Set<String> found = new TreeSet<>();
    held.keySet().forEach(id -> found.add(names.get(id)));
    return found;
  }

  @Override
  public Map<String, Object> observe() {
    ConsumerGroup group = group();
    Map<String, Object> fields = new HashMap<>();
    Map<String, Object> target = new TreeMap<>();
    Map<String, Object> epochs = new TreeMap<>();
    fields.put("exists", group != null);
    fields.put("resolved", regexes.resolved(group));
    fields.put("asked", context.executor.isScheduled(GROUP + "-regex"));
    fields.put("group", group == null ? "EMPTY" : group.stateAsString().toUpperCase(Locale.ROOT));
    fields.put("epoch", group == null ? firstEpoch : group.groupEpoch());
    fields.put("assignment_epoch", group == null ? firstEpoch : group.assignmentEpoch());
    fields.put("instances", group == null ? Map.of() : new TreeMap<>(group.staticMembers()));
    fields.put("target", target);
    fields.put("partition_epochs", epochs);
    if (group != null) {
      group.targetAssignment().forEach(
          (id, of) -> partitions(of.partitions()).forEach(name -> target.put(name, id)));
      topics.forEach(
          (name, id) -> {
            int epoch = group.currentPartitionEpoch(id, 0);
            if (epoch != -1) {
              epochs.put(name, epoch);
            }
          });
    }
    observe(group == null ? Map.of() : group.members(), fields);
    return fields;
  }

  private void observe(Map<String, ConsumerGroupMember> members, Map<String, Object> fields) {
    Map<String, Map<String, Object>> found = new HashMap<>();
    List<String> names = List.of("states", "epochs", "previous_epochs", "topics", "regexes", "assigned", "pending", "since");
    names.forEach(name -> found.put(name, new TreeMap<>()));
    Set<String> classic = new TreeSet<>();
    Set<String> sessions = new TreeSet<>();
    Set<String> rebalances = new TreeSet<>();
    members.forEach(
        (id, member) -> {
          found.get("states").put(id, member.state().name());
          found.get("epochs").put(id, member.memberEpoch());
          found.get("previous_epochs").put(id, member.previousMemberEpoch());
          found.get("topics").put(id, regexes.names(member.subscribedTopicNames()));
          found.get("regexes").put(id, Regexes.regex(member.subscribedTopicRegex()));
          found.get("assigned").put(id, partitions(member.assignedPartitions()));
          found.get("pending").put(id, partitions(member.partitionsPendingRevocation()));
          if (tellsSince) {
            found.get("since").put(id, since(member));
          }
          if (member.useClassicProtocol()) {
            classic.add(id);
          }
          if (context.timer.contains(GroupMetadataManager.groupSessionTimeoutKey(GROUP, id))) {
            sessions.add(id);
          }
          if (context.timer.contains(GroupMetadataManager.groupRebalanceTimeoutKey(GROUP, id))) {
            rebalances.add(id);
          }
        });
    fields.putAll(found);
    fields.put("classic", classic);
    fields.put("sessions", sessions);
    fields.put("rebalances", rebalances);
  }

  private Map<String, Integer> since(ConsumerGroupMember member) {
    Map<String, Integer> found = new TreeMap<>();
    Release.since(member).forEach((id, epoch) -> found.put(names.get(id), epoch));
    return found;
  }
}
