package org.apache.kafka.coordinator.group;

import java.util.List;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.common.runtime.MetadataImageBuilder;

/**
 * A consumer of the new protocol joins a classic group that has not completed its first rebalance.
 *
 * <p>Prints what the heartbeat throws, the error of the JoinGroup that waited, and the type of the group after it.
 */
final class EarlyUpgrade {
  private static final String GROUP = "group";
  private static final String TOPIC = "t";

  private EarlyUpgrade() {}

  public static void main(String[] arguments) throws Exception {
    var image = new MetadataImageBuilder().addTopic(new Uuid(1, 1), TOPIC, 2).buildCoordinatorMetadataImage();
    var context = new GroupMetadataManagerTestContext.Builder().withMetadataImage(image).build();
    var protocols = GroupMetadataManagerTestContext.toConsumerProtocol(List.of(TOPIC), List.of());
    var join =
        new GroupMetadataManagerTestContext.JoinGroupRequestBuilder()
            .withGroupId(GROUP)
            .withMemberId("")
            .withProtocolType("consumer")
            .withProtocols(protocols)
            .build();
    var waiting = context.sendClassicGroupJoin(join, false);
    System.out.println(waiting.joinFuture.isDone());
    var heartbeat =
        new ConsumerGroupHeartbeatRequestData()
            .setGroupId(GROUP)
            .setMemberId("young")
            .setMemberEpoch(0)
            .setRebalanceTimeoutMs(300_000)
            .setSubscribedTopicNames(List.of(TOPIC))
            .setTopicPartitions(List.of());
    try {
      System.out.println(context.consumerGroupHeartbeat(heartbeat).response().memberEpoch());
    } catch (RuntimeException thrown) {
      System.out.println(thrown.getClass().getSimpleName());
    }
    System.out.println(Errors.forCode(waiting.joinFuture.get().errorCode()));
    System.out.println(context.groupMetadataManager.group(GROUP).type());
  }
}
