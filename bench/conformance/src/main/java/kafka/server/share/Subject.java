package kafka.server.share;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import kafka.server.ReplicaManager;
import org.apache.kafka.clients.consumer.internals.ShareAcquireMode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.server.share.acknowledge.ShareAcknowledgementBatch;
import org.apache.kafka.server.share.fetch.InFlightBatch;
import org.apache.kafka.server.share.fetch.InFlightState;
import org.apache.kafka.server.share.fetch.RecordState;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;
import org.mockito.Mockito;

/** A SharePartition with a log of a few records, a persister that waits, and timers that never fire. */
final class Subject {
  static final TopicIdPartition PARTITION =
      new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("topic", 0));

  private final int records;
  private final int inFlightLimit;
  private final int deliveryLimit;
  private final int batchSize;
  private final int logBatch;
  private final Set<Long> compacted = new HashSet<>();
  private final HeldPersister persister = new HeldPersister(PARTITION.topicId());
  private final ReplicaManager replicas = stub(ReplicaManager.class);
  private final GroupConfigManager configuration = stub(GroupConfigManager.class);
  private final SharePartitionManager.SharePartitionListener listener =
      stub(SharePartitionManager.SharePartitionListener.class);
  private long logStart = 0;
  private SharePartition share;

  Subject(String[] words) {
    records = Integer.parseInt(words[1]);
    inFlightLimit = Integer.parseInt(words[2]);
    deliveryLimit = Integer.parseInt(words[3]);
    batchSize = Integer.parseInt(words[4]);
    logBatch = Integer.parseInt(words[5]);
    load();
  }

  private static <T> T stub(Class<T> type) {
    return Mockito.mock(type, Mockito.withSettings().stubOnly());
  }

  /** How many writes of state are under way. */
  int writes() {
    return persister.held();
  }

  /** Make one call; return what the class complained of, or an empty text. */
  String call(String[] words) throws ReflectiveOperationException {
    try {
      switch (words[0]) {
        case "fetch" -> {
          return fetch(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]));
        }
        case "fetch_below_the_log" -> {
          share.nextFetchOffset();
          share.updateCacheAndOffsets(logStart);
        }
        case "fetch_finds_nothing" -> share.nextFetchOffset();
        case "acknowledge" -> share.acknowledge(words[1], batches(words));
        case "session_ends" -> share.releaseAcquiredRecords(words[1]);
        case "lock_times_out" ->
            state(Long.parseLong(words[1])).acquisitionLockTimeoutTask().run();
        case "write_succeeds" -> persister.succeed();
        case "write_fails" -> persister.fail();
        case "write_is_dropped" -> persister.drop();
        case "log_start_moves" -> logStart = Long.parseLong(words[1]);
        case "record_is_compacted" -> compacted.add(Long.parseLong(words[1]));
        case "leader_changes" -> share = null;
        case "state_is_read" -> {
          persister.answer(Long.parseLong(words[1]), persisted(words));
          load();
        }
        default -> throw new IllegalStateException("no call is named " + words[0]);
      }
    } catch (IllegalArgumentException | NullPointerException | NoSuchElementException error) {
      return "throws " + error.getClass().getSimpleName();
    }
    return "";
  }

  private void load() {
    share =
        new SharePartition(
            "group", PARTITION, 0, inFlightLimit, deliveryLimit, 30_000, new IdleTimer(),
            Time.SYSTEM, persister, replicas, configuration, listener);
    share.maybeInitialize().join();
  }

  private String fetch(String member, long last, long expected) {
    long offset = share.nextFetchOffset();
    String complaint = share.canAcquireRecords() ? "" : "no records can be acquired";
    if (offset != expected) {
      complaint = "the next fetch offset is not the model's";
    }
    share.acquire(
        member, ShareAcquireMode.BATCH_OPTIMIZED, batchSize, Integer.MAX_VALUE, offset,
        fetched(offset, last), FetchIsolation.HIGH_WATERMARK);
    return complaint;
  }

  /** Return the batches of the log that lie between two offsets and still exist. */
  private FetchPartitionData fetched(long from, long last) {
    List<MemoryRecords> found = new ArrayList<>();
    int size = 0;
    for (long first = 0; first < records; first += logBatch) {
      long end = Math.min(first + logBatch, records) - 1;
      if (compacted.contains(first) || end < from || end > last || end < logStart) {
        continue;
      }
      SimpleRecord[] content = new SimpleRecord[(int) (end - first + 1)];
      Arrays.fill(content, new SimpleRecord("value".getBytes(StandardCharsets.UTF_8)));
      found.add(MemoryRecords.withRecords(first, Compression.NONE, content));
      size += found.get(found.size() - 1).sizeInBytes();
    }
    ByteBuffer joined = ByteBuffer.allocate(size);
    found.forEach(batch -> joined.put(batch.buffer().duplicate()));
    joined.flip();
    return new FetchPartitionData(
        Errors.NONE, records, logStart, MemoryRecords.readableRecords(joined), Optional.empty(),
        OptionalLong.empty(), Optional.empty(), OptionalInt.empty(), false);
  }

  private static List<ShareAcknowledgementBatch> batches(String[] words) {
    return Arrays.stream(words, 2, words.length)
        .map(word -> word.split(","))
        .map(
            part ->
                new ShareAcknowledgementBatch(
                    Long.parseLong(part[0]),
                    Long.parseLong(part[1]),
                    List.of(Byte.parseByte(part[2]))))
        .toList();
  }

  private static List<PersisterStateBatch> persisted(String[] words) {
    return Arrays.stream(words, 2, words.length)
        .map(word -> word.split(","))
        .map(
            part ->
                new PersisterStateBatch(
                    Long.parseLong(part[0]),
                    Long.parseLong(part[1]),
                    RecordState.valueOf(part[2]).id(),
                    Short.parseShort(part[3])))
        .toList();
  }

  /** Return what the model has variables for: of the partition, and of each cached record. */
  String observe() throws ReflectiveOperationException {
    if (share == null) {
      return "none";
    }
    var gap = share.persisterReadResultGapWindow();
    StringBuilder text = new StringBuilder();
    text.append(share.startOffset()).append(' ').append(share.endOffset());
    text.append(' ').append(share.deliveryCompleteCount());
    text.append(' ').append(share.findNextFetchOffset());
    text.append(' ').append(gap == null ? "-" : gap.gapStartOffset() + "/" + gap.endOffset());
    for (long offset = 0; offset < records; offset++) {
      InFlightState state = state(offset);
      if (state != null) {
        text.append(' ').append(describe(offset, state));
      }
    }
    return text.toString();
  }

  private String describe(long offset, InFlightState state) {
    var entry = share.cachedState().floorEntry(offset).getValue();
    return String.join(
        ",",
        offset + ":" + entry.firstOffset(),
        String.valueOf(entry.offsetState() != null),
        state.state().toString(),
        state.memberId().isEmpty() ? "-" : state.memberId(),
        String.valueOf(state.deliveryCount()),
        String.valueOf(state.hasOngoingStateTransition()),
        String.valueOf(state.acquisitionLockTimeoutTask() != null));
  }

  private InFlightState state(long offset) throws ReflectiveOperationException {
    var entry = share.cachedState().floorEntry(offset);
    if (entry == null || entry.getValue().lastOffset() < offset) {
      return null;
    }
    if (entry.getValue().offsetState() != null) {
      return entry.getValue().offsetState().get(offset);
    }
    var field = InFlightBatch.class.getDeclaredField("batchState");
    field.setAccessible(true);
    return (InFlightState) field.get(entry.getValue());
  }

  /** Never fires; the class takes a task without an entry for cancelled. */
  private static final class IdleTimer implements Timer {
    @Override
    public void add(TimerTask task) {
      new TimerTaskEntry(task, task.delayMs + 1);
    }

    @Override
    public boolean advanceClock(long milliseconds) {
      return false;
    }

    @Override
    public int size() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
