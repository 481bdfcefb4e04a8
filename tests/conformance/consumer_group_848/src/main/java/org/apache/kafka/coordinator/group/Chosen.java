package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.modern.MemberAssignmentImpl;

/** An assignor that gives what the model picked: names of topics, and the member of each. */
final class Chosen implements ConsumerGroupPartitionAssignor {
  private final Map<String, Uuid> topics;
  private final Names names;
  JsonNode target;

  /** Which of these ids a member of the model has. */
  interface Names {
    String id(String member, Set<String> ids);
  }

  Chosen(Map<String, Uuid> topics) {
    this(topics, (member, ids) -> member);
  }

  Chosen(Map<String, Uuid> topics, Names names) {
    this.topics = topics;
    this.names = names;
  }

  @Override
  public String name() {
    return "chosen";
  }

  @Override
  public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber describer) {
    Map<String, Map<Uuid, Set<Integer>>> given = new HashMap<>();
    group.memberIds().forEach(member -> given.put(member, new HashMap<>()));
    Set<String> ids = Set.copyOf(given.keySet());
    target.fields().forEachRemaining(
        entry ->
            given
                .get(names.id(entry.getValue().asText(), ids))
                .put(topics.get(entry.getKey()), Set.of(0)));
    Map<String, MemberAssignment> members = new HashMap<>();
    given.forEach((member, held) -> members.put(member, new MemberAssignmentImpl(held)));
    return new GroupAssignment(members);
  }
}
