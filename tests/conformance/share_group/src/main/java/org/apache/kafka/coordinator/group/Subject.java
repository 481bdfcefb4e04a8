package org.apache.kafka.coordinator.group;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.FencedMemberEpochException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatResponseData;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.MetadataImageBuilder;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup.InitMapValue;
import org.apache.kafka.server.common.TopicIdPartition;

/** A GroupMetadataManager with one share group. What it asks of the share coordinator is dropped. */
final class Subject implements Protocol.Subject {
  private static final String GROUP = "group";
  private static final int AGES = 86_400_000;

  private final int topics;
  private final int partitions;
  private final int present;
  private final List<Uuid> ids = new ArrayList<>();
  private final List<CoordinatorRecord> log = new ArrayList<>();
  private GroupMetadataManagerTestContext context;

  Subject(JsonNode with) {
    topics = with.get("topics").asInt();
    partitions = with.get("partitions").asInt();
    present = with.get("first_partitions").asInt();
    if (topics * partitions > 16) {
      throw new IllegalArgumentException("at most 16 partitions");
    }
    for (int number = 0; number < topics; number++) {
      ids.add(ordered(number));
    }
    context = open();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws Exception {
    var one = JsonNodeFactory.instance.objectNode();
    one.put("topics", 1).put("partitions", 1).put("first_partitions", 1);
    new Subject(one).heartbeat("m1", 0, Set.of(0)); // loading Kafka's classes takes seconds
    Protocol.serve("GroupMetadataManager", Protocol.kafka(), Subject::new);
  }

  private static String name(int number) {
    return "topic" + number;
  }

  /**
   * Return an id for a topic with which hash maps of Kafka's assignor meet partitions in the order
   * of the model's numbers.
   */
  private Uuid ordered(int number) {
    for (long candidate = 1; ; candidate++) {
      Uuid id = new Uuid(0, candidate);
      boolean fits = true;
      for (int partition = 0; partition < partitions; partition++) {
        int hash = new TopicIdPartition(id, partition).hashCode();
        fits &= ((hash ^ (hash >>> 16)) & 15) == number * partitions + partition;
      }
      if (fits) {
        return id;
      }
    }
  }

  private GroupMetadataManagerTestContext open() {
    MetadataImageBuilder image = new MetadataImageBuilder();
    for (int number = 0; number < topics; number++) {
      image.addTopic(ids.get(number), name(number), present);
    }
    return Release.assigningAtOnce(new GroupMetadataManagerTestContext.Builder())
        .withShareGroupAssignor(new SimpleAssignor())
        .withMetadataImage(image.buildCoordinatorMetadataImage())
        .build();
  }

  @Override
  public Object call(String called, JsonNode with) {
    switch (called) {
      case "heartbeat":
        Set<Integer> told = null;
        if (!with.get("topics").isNull()) {
          told = new TreeSet<>();
          for (JsonNode number : with.get("topics")) {
            told.add(number.asInt());
          }
        }
        return heartbeat(with.get("member").asText(), with.get("epoch").asInt(), told);
      case "leave":
        return heartbeat(with.get("member").asText(), -1, null).containsKey("epoch");
      case "session":
        expire(with.get("member").asText());
        return null;
      case "initialised":
        initialised(with.get("partition").asInt());
        return null;
      case "uninitialised":
        replay(
            context.groupMetadataManager.uninitializeShareGroupState(
                GROUP, one(with.get("partition").asInt())));
        return null;
      case "initialisation":
        context.time.sleep(AGES); // fires no timer: nobody polls
        return null;
      case "delete_group":
        List<CoordinatorRecord> records = new ArrayList<>();
        context.groupMetadataManager.shareGroupBuildPartitionDeleteRequest(GROUP, records);
        replay(records);
        return null;
      case "end_deletion":
        endDeletion(with.get("failed").asBoolean());
        return null;
      case "move":
        context = open();
        log.forEach(context::replay);
        context.groupMetadataManager.onLoaded();
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  private Map<String, Object> heartbeat(String member, int epoch, Set<Integer> told) {
    var request =
        new ShareGroupHeartbeatRequestData()
            .setGroupId(GROUP)
            .setMemberId(member)
            .setMemberEpoch(epoch);
    if (told != null) {
      request.setSubscribedTopicNames(told.stream().map(Subject::name).toList());
    }
    try {
      var result = context.shareGroupHeartbeat(request); // it replays its records
      log.addAll(result.records());
      return answer(result.response().getKey());
    } catch (UnknownMemberIdException | GroupIdNotFoundException refused) {
      return Map.of("error", "UNKNOWN_MEMBER_ID");
    } catch (FencedMemberEpochException refused) {
      return Map.of("error", "FENCED_MEMBER_EPOCH");
    }
  }

  private Map<String, Object> answer(ShareGroupHeartbeatResponseData said) {
    Map<String, Object> found = new HashMap<>();
    found.put("epoch", said.memberEpoch());
    found.put("assignment", null);
    if (said.assignment() != null) {
      Map<Uuid, Set<Integer>> assigned = new HashMap<>();
      said.assignment().topicPartitions().forEach(
          topic -> assigned.put(topic.topicId(), new HashSet<>(topic.partitions())));
      found.put("assignment", numbers(assigned));
    }
    return found;
  }

  private void expire(String member) {
    String key = GroupMetadataManager.groupSessionTimeoutKey(GROUP, member);
    var timer = context.timer.timeout(key);
    context.timer.cancel(key);
    replay(timer.operation().generateRecords());
  }

  private void initialised(int partition) {
    if (group() == null) {
      return; // the class fails with a NullPointerException, which its caller logs
    }
    replay(context.groupMetadataManager.initializeShareGroupState(GROUP, one(partition)));
  }

  /** What GroupCoordinatorShard.deleteGroups does with the group when its partitions are deleted. */
  private void endDeletion(boolean failed) {
    ShareGroup group = group();
    if (failed || group == null || !group.isEmpty()) {
      return;
    }
    group.validateDeleteGroup();
    List<CoordinatorRecord> records = new ArrayList<>();
    context.groupMetadataManager.createGroupTombstoneRecordsAndCancelTimers(GROUP, records);
    replay(records);
  }

  private Map<Uuid, Set<Integer>> one(int partition) {
    return Map.of(ids.get(partition / partitions), Set.of(partition % partitions));
  }

  private void replay(CoordinatorResult<Void, CoordinatorRecord> result) {
    replay(result.records());
  }

  private void replay(List<CoordinatorRecord> records) {
    records.forEach(context::replay);
    log.addAll(records);
  }

  private ShareGroup group() {
    try {
      return (ShareGroup) context.groupMetadataManager.group(GROUP);
    } catch (GroupIdNotFoundException none) {
      return null;
    }
  }

  /** Return partitions as the model numbers them. */
  private Set<Integer> numbers(Map<Uuid, Set<Integer>> held) {
    Set<Integer> found = new TreeSet<>();
    held.forEach(
        (topic, numbers) -> numbers.forEach(number -> found.add(first(topic) + number)));
    return found;
  }

  private int first(Uuid topic) {
    return ids.indexOf(topic) * partitions;
  }

  @Override
  public Map<String, Object> observe() {
    Map<String, Object> fields = new HashMap<>();
    ShareGroup group = group();
    Map<String, Object> members = new TreeMap<>();
    Map<String, Object> target = new TreeMap<>();
    Set<String> sessions = new TreeSet<>();
    fields.put(
        "group", group == null ? "DEAD" : group.stateAsString().toUpperCase(Locale.ROOT));
    fields.put("epoch", group == null ? 0 : group.groupEpoch());
    fields.put("assignment_epoch", group == null ? 0 : group.assignmentEpoch());
    fields.put("members", members);
    fields.put("target", target);
    fields.put("sessions", sessions);
    if (group != null) {
      group.members().forEach(
          (id, member) -> {
            Set<Integer> topicsOf = new TreeSet<>();
            member.subscribedTopicNames().forEach(
                name -> topicsOf.add(Integer.parseInt(name.substring("topic".length()))));
            members.put(
                id,
                Map.of(
                    "epoch", member.memberEpoch(), "previous_epoch", member.previousMemberEpoch(),
                    "topics", topicsOf, "assigned", numbers(member.assignedPartitions())));
            target.put(id, numbers(group.targetAssignment(id).partitions()));
            if (context.timer.contains(GroupMetadataManager.groupSessionTimeoutKey(GROUP, id))) {
              sessions.add(id);
            }
          });
    }
    var held = context.groupMetadataManager.shareGroupStatePartitionMetadata().get(GROUP);
    Set<Integer> deleting = new TreeSet<>();
    fields.put("initialising", held == null ? Set.of() : partitions(held.initializingTopics()));
    fields.put("initialised", held == null ? Set.of() : partitions(held.initializedTopics()));
    if (held != null) {
      held.deletingTopics().forEach(topic -> deleting.add(first(topic) / partitions));
    }
    fields.put("deleting", deleting);
    return fields;
  }

  private Set<Integer> partitions(Map<Uuid, InitMapValue> of) {
    Map<Uuid, Set<Integer>> found = new HashMap<>();
    of.forEach((topic, value) -> found.put(topic, value.partitions()));
    return numbers(found);
  }
}
