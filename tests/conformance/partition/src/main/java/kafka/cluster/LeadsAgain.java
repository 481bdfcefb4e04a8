package kafka.cluster;

import static org.mockito.Mockito.mock;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.LocalReplicaChanges;
import org.apache.kafka.image.TopicsDelta;
import org.apache.kafka.image.TopicsImage;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.partition.AlterPartitionListener;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchParams;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpoints;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogReadInfo;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import scala.Option;

/**
 * Leadership of a partition moves from broker 1 to broker 2 and back. Broker 3 has fetched a record
 * of broker 1, and is told by broker 2 to cut it off.
 *
 * <p>Says whether broker 1 is told of both changes at once, what it then takes broker 3 to have, and
 * its high watermark: where the changes are one delta of the metadata, and where they are two.
 */
final class LeadsAgain {
  private static final String TOPIC = "topic";
  private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
  private static final Uuid ID = new Uuid(1, 1);
  private static final int PRODUCER_MS = 600_000;
  private static final int BYTES = 1 << 20;
  private static final long LAG_MS = 30_000;

  private TopicsImage image = TopicsImage.EMPTY;
  private final Partition first = replica(1);
  private final Partition second = replica(2);

  private LeadsAgain() throws IOException {}

  /** Print what comes of one delta, and of two. */
  public static void main(String[] arguments) throws IOException {
    new LeadsAgain().run(true);
    new LeadsAgain().run(false);
  }

  private void run(boolean together) throws IOException {
    TopicsDelta begin = new TopicsDelta(image);
    begin.replay(new TopicRecord().setName(TOPIC).setTopicId(ID));
    begin.replay(created());
    publish(begin, List.of(first));
    first.appendRecordsToLeader(
        Release.record(),
        AppendOrigin.CLIENT,
        -1,
        RequestLocal.noCaching(),
        VerificationGuard.SENTINEL,
        (short) 0);
    fetch(first, 3, 0, 0, Optional.empty());
    fetch(first, 3, 1, 0, Optional.of(0));

    TopicsDelta away = new TopicsDelta(image);
    away.replay(change().setLeader(2));
    TopicsImage between = away.apply();
    if (together) {
      become(second, away.localChanges(2));
    } else {
      publish(away, List.of(first, second));
    }
    long cut = fetch(second, 3, 1, 1, Optional.of(0)).divergingEpoch().orElseThrow().endOffset();
    TopicsDelta back = together ? away : new TopicsDelta(between);
    // The controller takes broker 2 out of the ISR as it dies.
    back.replay(change().setLeader(1).setIsr(List.of(1, 3)));
    publish(back, List.of(first));
    System.out.printf(
        "%s: broker 3 is cut to %d, broker 1 leads in epoch %d, takes it to end at %d, and commits %d%n",
        together ? "one delta" : "two deltas",
        cut,
        first.getLeaderEpoch(),
        first.getReplica(3).get().stateSnapshot().logEndOffsetMetadata().messageOffset,
        first.localLogOrException().highWatermark());
  }

  private void publish(TopicsDelta delta, List<Partition> replicas) {
    for (Partition replica : replicas) {
      become(replica, delta.localChanges(replica == first ? 1 : 2));
    }
    image = delta.apply();
  }

  /** What ReplicaManager.applyDelta does for one partition. */
  private static void become(Partition replica, LocalReplicaChanges changes) {
    OffsetCheckpoints none = (directory, partition) -> Optional.empty();
    if (changes.leaders().containsKey(PARTITION)) {
      var told = changes.leaders().get(PARTITION).partition();
      replica.makeLeader(told, false, none, Option.apply(ID), Option.empty());
    }
    if (changes.followers().containsKey(PARTITION)) {
      var told = changes.followers().get(PARTITION).partition();
      replica.makeFollower(told, false, none, Option.apply(ID), Option.empty());
    }
  }

  private static LogReadInfo fetch(
      Partition leader, int from, long offset, int epoch, Optional<Integer> last) {
    var params = new FetchParams(from, -1, 0, 1, BYTES, FetchIsolation.LOG_END, Optional.empty());
    var data = new FetchRequest.PartitionData(ID, offset, 0, BYTES, Optional.of(epoch), last);
    return leader.fetchRecords(params, data, Time.SYSTEM.milliseconds(), BYTES, true, true);
  }

  private static PartitionRecord created() {
    return new PartitionRecord()
        .setTopicId(ID)
        .setPartitionId(0)
        .setReplicas(List.of(1, 2, 3))
        .setDirectories(List.of(DirectoryId.MIGRATING, DirectoryId.MIGRATING, DirectoryId.MIGRATING))
        .setIsr(List.of(1, 2, 3))
        .setLeader(1)
        .setLeaderEpoch(0)
        .setPartitionEpoch(0);
  }

  private static PartitionChangeRecord change() {
    return new PartitionChangeRecord().setTopicId(ID).setPartitionId(0);
  }

  private static Partition replica(int broker) throws IOException {
    Partition made =
        new Partition(
            PARTITION,
            LAG_MS,
            broker,
            () -> -1L,
            Time.SYSTEM,
            mock(AlterPartitionListener.class),
            mock(DelayedOperations.class),
            mock(MetadataCache.class),
            mock(), // LogManager and AlterPartitionManager: each release has them in another package
            mock(),
            Option.apply(ID));
    made.setLog(log(), false);
    return made;
  }

  private static UnifiedLog log() throws IOException {
    File directory = Files.createTempDirectory("leads-again").resolve(PARTITION.toString()).toFile();
    return UnifiedLog.create(
        directory,
        new LogConfig(Map.of("min.insync.replicas", "2")),
        0,
        0,
        mock(Scheduler.class),
        new BrokerTopicStats(),
        Time.SYSTEM,
        PRODUCER_MS,
        new ProducerStateManagerConfig(PRODUCER_MS, false),
        PRODUCER_MS,
        new LogDirFailureChannel(1),
        true,
        Optional.of(ID));
  }
}
