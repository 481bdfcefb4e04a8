package kafka.server.share;

import checker.conformance.Protocol;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.internals.ShareAcquireMode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.share.acknowledge.ShareAcknowledgementBatch;
import org.apache.kafka.server.share.fetch.AcquisitionLockTimerTask;
import org.apache.kafka.server.share.fetch.InFlightBatch;
import org.apache.kafka.server.share.fetch.InFlightState;
import org.apache.kafka.server.share.fetch.RecordState;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

/** A SharePartition with a log of a few records, a persister that waits, and timers that never fire. */
final class Subject implements Protocol.Subject {
  private static final Map<String, Byte> KINDS =
      Map.of("GAP", (byte) 0, "ACCEPT", (byte) 1, "RELEASE", (byte) 2, "REJECT", (byte) 3,
          "RENEW", (byte) 4);
  private static final List<String> OF_THE_WINDOW =
      List.of("start_offset", "end_offset", "delivery_complete_count", "find_next_fetch_offset",
          "gap");
  private static final List<String> PER_RECORD =
      List.of("entry", "split", "state", "owner", "delivery_count", "transition", "timer",
          "expired", "dead_letter");
  static final TopicIdPartition PARTITION =
      new TopicIdPartition(Uuid.randomUuid(), new TopicPartition("topic", 0));

  private final int records;
  private final int inFlightLimit;
  private final int deliveryLimit;
  private final int batchSize;
  private final int logBatch;
  private final Set<Long> compacted = new HashSet<>();
  private final HeldPersister persister = new HeldPersister(PARTITION.topicId());
  private final DeadLetters deadLetters;
  private long logStart = 0;
  private SharePartition share;

  Subject(JsonNode with) {
    records = with.get("records").asInt();
    inFlightLimit = with.get("in_flight_limit").asInt();
    deliveryLimit = with.get("delivery_limit").asInt();
    batchSize = with.get("batch_size").asInt();
    logBatch = with.get("log_batch").asInt();
    deadLetters = new DeadLetters(with.get("dead_letter_queue").asBoolean());
    load();
  }

  /** Speak for the class until standard input ends. */
  public static void main(String[] arguments) throws IOException {
    ObjectNode small = JsonNodeFactory.instance.objectNode();
    for (String size : List.of(
        "records", "in_flight_limit", "delivery_limit", "batch_size", "log_batch")) {
      small.put(size, 1);
    }
    small.put("dead_letter_queue", false);
    new Subject(small); // loading Kafka's classes takes seconds, and no request is to wait for it
    Protocol.serve("SharePartition", Protocol.kafka(), Subject::new);
  }

  @Override
  public Object call(String called, JsonNode with) throws Exception {
    switch (called) {
      case "fetch":
        return fetch(with.get("member").asText(), with.get("last").asLong());
      case "fetch_below_the_log":
        share.nextFetchOffset();
        share.updateCacheAndOffsets(logStart);
        return null;
      case "next_fetch_offset":
        return share.nextFetchOffset();
      case "acknowledge":
        return refused(share.acknowledge(with.get("member").asText(), batches(with.get("kinds"))));
      case "session_ends":
        return refused(share.releaseAcquiredRecords(with.get("member").asText()));
      case "lock":
        state(with.get("offset").asLong()).acquisitionLockTimeoutTask().run();
        return null;
      case "log_start_moves":
        logStart = with.get("offset").asLong();
        return null;
      case "record_is_compacted":
        compacted.add(with.get("offset").asLong());
        return null;
      case "leader_changes":
        share = null;
        deadLetters.forget();
        return null;
      case "state_is_read":
        persister.answer(with.get("start_offset").asLong(), persisted(with.get("batches")));
        load();
        return null;
      default:
        throw new IllegalArgumentException("no call is named " + called);
    }
  }

  @Override
  public Object complete(String operation, String outcome, JsonNode with) {
    if (operation.equals("dead_letter")) {
      deadLetters.end(with.get("offset").asLong());
      return null;
    }
    switch (outcome) {
      case "done" -> persister.succeed();
      case "failed" -> persister.fail();
      case "dropped" -> persister.drop();
      default -> throw new IllegalArgumentException("no outcome is named " + outcome);
    }
    return null;
  }

  /** Whether a request was answered with an error at once. */
  private static boolean refused(CompletableFuture<?> answer) {
    return answer.isCompletedExceptionally() || answer.isDone() && answer.join() != null;
  }

  private void load() {
    share =
        Release.open(
            PARTITION, inFlightLimit, deliveryLimit, new IdleTimer(), persister, deadLetters);
    share.maybeInitialize().join();
  }

  /** Fetch; return the offset that was fetched from, or null where nothing may be acquired. */
  private Long fetch(String member, long last) {
    long offset = share.nextFetchOffset();
    boolean allowed = share.canAcquireRecords();
    share.acquire(
        member, ShareAcquireMode.BATCH_OPTIMIZED, batchSize, Integer.MAX_VALUE, offset,
        fetched(offset, last), FetchIsolation.HIGH_WATERMARK);
    return allowed ? offset : null;
  }

  /** Return the batches of the log that lie between two offsets and still exist. */
  private FetchPartitionData fetched(long from, long last) {
    TreeMap<Long, Long> found = new TreeMap<>();
    for (long first = 0; first < records; first += logBatch) {
      long end = Math.min(first + logBatch, records) - 1;
      if (!compacted.contains(first) && end >= from && end <= last && end >= logStart) {
        found.put(first, end);
      }
    }
    return Release.fetched(found, logStart, records);
  }

  /**
   * Return what a client sends that answers these records: one batch for an entry of the cache of
   * which all is said alike, and one for each other record.
   */
  private List<ShareAcknowledgementBatch> batches(JsonNode kinds) {
    TreeMap<Long, Byte> said = new TreeMap<>();
    kinds.fields().forEachRemaining(
        entry -> said.put(Long.parseLong(entry.getKey()), KINDS.get(entry.getValue().asText())));
    List<ShareAcknowledgementBatch> found = new ArrayList<>();
    long done = -1;
    for (long offset : said.keySet()) {
      if (offset <= done) {
        continue;
      }
      done = isForAll(said, offset) ? share.cachedState().get(offset).lastOffset() : offset;
      found.add(new ShareAcknowledgementBatch(offset, done, List.of(said.get(offset))));
    }
    return found;
  }

  private boolean isForAll(TreeMap<Long, Byte> said, long first) {
    var entry = share.cachedState().get(first);
    if (entry == null || entry.offsetState() != null || entry.lastOffset() == first) {
      return false;
    }
    if (first < share.startOffset() && entry.lastOffset() >= share.startOffset()) {
      return false;
    }
    return LongStream.rangeClosed(first, entry.lastOffset())
        .allMatch(offset -> said.get(first).equals(said.get(offset)));
  }

  /** Return the state that is read, neighbours joined as the share coordinator does. */
  private List<PersisterStateBatch> persisted(JsonNode batches) {
    TreeMap<Long, JsonNode> sorted = new TreeMap<>();
    batches.fields().forEachRemaining(
        entry -> sorted.put(Long.parseLong(entry.getKey()), entry.getValue()));
    List<PersisterStateBatch> found = new ArrayList<>();
    sorted.forEach(
        (offset, said) -> {
          byte id = RecordState.valueOf(said.get("state").asText()).id();
          short count = (short) said.get("delivery_count").asInt();
          long first = offset;
          PersisterStateBatch before = found.isEmpty() ? null : found.get(found.size() - 1);
          if (batchSize > 1 && before != null && before.lastOffset() == offset - 1
              && before.deliveryState() == id && before.deliveryCount() == count) {
            first = before.firstOffset();
            found.remove(found.size() - 1);
          }
          found.add(new PersisterStateBatch(first, offset, id, count));
        });
    return found;
  }

  @Override
  public Map<String, Object> observe() throws ReflectiveOperationException {
    Map<String, Object> fields = new HashMap<>();
    fields.put("write_start_offsets", persister.startOffsets());
    fields.put("write_batches", persister.batches());
    fields.put("active", share != null);
    for (String name : PER_RECORD) {
      fields.put(name, new TreeMap<Long, Object>());
    }
    if (share == null) {
      OF_THE_WINDOW.forEach(name -> fields.put(name, null));
      return fields;
    }
    var gap = share.persisterReadResultGapWindow();
    fields.put("start_offset", share.startOffset());
    fields.put("end_offset", share.endOffset());
    fields.put("delivery_complete_count", share.deliveryCompleteCount());
    fields.put("find_next_fetch_offset", share.findNextFetchOffset());
    fields.put(
        "gap",
        gap == null ? null : Map.of("start", gap.gapStartOffset(), "end", gap.endOffset()));
    for (long offset = 0; offset < records; offset++) {
      InFlightState state = state(offset);
      if (state != null) {
        describe(fields, offset, state);
      }
    }
    return fields;
  }

  private void describe(Map<String, Object> fields, long offset, InFlightState state)
      throws ReflectiveOperationException {
    var entry = share.cachedState().floorEntry(offset).getValue();
    var timer = state.acquisitionLockTimeoutTask();
    Object[] values = {
      entry.firstOffset(),
      entry.offsetState() != null,
      state.state().toString(),
      state.memberId().isEmpty() ? null : state.memberId(),
      state.deliveryCount(),
      state.hasOngoingStateTransition(),
      timer == null || timer.hasExpired() ? List.of() : Collections.singletonList(owner(timer)),
      timer != null && timer.hasExpired(),
      deadLetters.has(offset)
    };
    for (int place = 0; place < values.length; place++) {
      @SuppressWarnings("unchecked")
      var column = (Map<Long, Object>) fields.get(PER_RECORD.get(place));
      column.put(offset, values[place]);
    }
  }

  private static Object owner(AcquisitionLockTimerTask timer) throws ReflectiveOperationException {
    var field = AcquisitionLockTimerTask.class.getDeclaredField("memberId");
    field.setAccessible(true);
    String member = (String) field.get(timer);
    return member.isEmpty() ? null : member;
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
