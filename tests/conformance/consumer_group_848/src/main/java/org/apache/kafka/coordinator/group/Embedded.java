package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocolCollection;

/** What classic members say inside of JoinGroup and SyncGroup; a topic's partition 0 is a partition. */
final class Embedded {
  static final String TYPE = ConsumerProtocol.PROTOCOL_TYPE;
  static final String PROTOCOL = "cooperative-sticky";

  private Embedded() {}

  /**
   * What a member subscribes to, owns, and since when. The number makes each differ from the one
   * before, as an assignor's own data do: a follower that says nothing new starts no rebalance.
   */
  static JoinGroupRequestProtocolCollection subscription(
      Collection<String> topics, JsonNode owned, int generation, int number) {
    var said =
        new Subscription(
            List.copyOf(topics),
            ByteBuffer.allocate(Integer.BYTES).putInt(0, number),
            partitions(owned),
            generation,
            Optional.empty());
    var metadata = bytes(ConsumerProtocol.serializeSubscription(said));
    var list = new JoinGroupRequestProtocolCollection();
    list.add(new JoinGroupRequestProtocol().setName(PROTOCOL).setMetadata(metadata));
    return list;
  }

  static Subscription subscription(byte[] metadata) {
    return ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(metadata));
  }

  static byte[] assignment(JsonNode topics) {
    return bytes(ConsumerProtocol.serializeAssignment(new Assignment(partitions(topics))));
  }

  static Set<String> assignment(byte[] said) {
    return said.length == 0
        ? Set.of()
        : names(ConsumerProtocol.deserializeAssignment(ByteBuffer.wrap(said)).partitions());
  }

  static Set<String> names(Collection<TopicPartition> partitions) {
    Set<String> found = new TreeSet<>();
    partitions.forEach(partition -> found.add(partition.topic()));
    return found;
  }

  private static List<TopicPartition> partitions(JsonNode topics) {
    List<TopicPartition> found = new ArrayList<>();
    topics.forEach(topic -> found.add(new TopicPartition(topic.asText(), 0)));
    return found;
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] found = new byte[buffer.remaining()];
    buffer.get(found);
    return found;
  }
}
