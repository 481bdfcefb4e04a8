package kafka.server.share;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.share.fetch.RecordState;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateResult;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateParameters;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateResult;
import org.apache.kafka.server.share.persister.PartitionFactory;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.share.persister.PartitionStateBatchData;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.server.share.persister.ReadShareGroupStateParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateResult;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryResult;
import org.apache.kafka.server.share.persister.TopicData;
import org.apache.kafka.server.share.persister.WriteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.WriteShareGroupStateResult;

/** Answers a read at once with what it was given, and a write when it is told to. */
final class HeldPersister implements Persister {
  private record Held(
      WriteShareGroupStateParameters written,
      CompletableFuture<WriteShareGroupStateResult> answer) {}

  private final Deque<Held> writes = new ArrayDeque<>();
  private final Uuid topic;
  private long start = 0;
  private List<PersisterStateBatch> batches = List.of();

  HeldPersister(Uuid topic) {
    this.topic = topic;
  }

  /** The start offset of each write under way, the oldest first. */
  List<Long> startOffsets() {
    return writes.stream().map(held -> partition(held).startOffset()).toList();
  }

  /** The records of each write under way, each with its state and delivery count. */
  List<Map<Long, Object>> batches() {
    return writes.stream().map(HeldPersister::byOffset).toList();
  }

  private static PartitionStateBatchData partition(Held held) {
    return held.written().groupTopicPartitionData().topicsData().get(0).partitions().get(0);
  }

  private static Map<Long, Object> byOffset(Held held) {
    Map<Long, Object> found = new TreeMap<>();
    for (PersisterStateBatch batch : partition(held).stateBatches()) {
      String state = RecordState.forId(batch.deliveryState()).toString();
      for (long offset = batch.firstOffset(); offset <= batch.lastOffset(); offset++) {
        found.put(offset, Map.of("state", state, "delivery_count", batch.deliveryCount()));
      }
    }
    return found;
  }

  void succeed() {
    var partition = PartitionFactory.newPartitionErrorData(0, (short) 0, "");
    writes
        .remove()
        .answer()
        .complete(
            new WriteShareGroupStateResult.Builder()
                .setTopicsData(List.of(new TopicData<>(topic, List.of(partition))))
                .build());
  }

  void fail() {
    writes.remove().answer().completeExceptionally(new RuntimeException("the write failed"));
  }

  /** The leader that wrote is gone: nobody hears the answer. */
  void drop() {
    writes.remove();
  }

  void answer(long startOffset, List<PersisterStateBatch> stateBatches) {
    start = startOffset;
    batches = stateBatches;
  }

  @Override
  public CompletableFuture<ReadShareGroupStateResult> readState(
      ReadShareGroupStateParameters parameters) {
    var partition =
        PartitionFactory.newPartitionAllData(0, 0, start, (short) 0, "", batches);
    return CompletableFuture.completedFuture(
        new ReadShareGroupStateResult.Builder()
            .setTopicsData(List.of(new TopicData<>(topic, List.of(partition))))
            .build());
  }

  @Override
  public CompletableFuture<WriteShareGroupStateResult> writeState(
      WriteShareGroupStateParameters parameters) {
    var answer = new CompletableFuture<WriteShareGroupStateResult>();
    writes.add(new Held(parameters, answer));
    return answer;
  }

  @Override
  public CompletableFuture<InitializeShareGroupStateResult> initializeState(
      InitializeShareGroupStateParameters parameters) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<DeleteShareGroupStateResult> deleteState(
      DeleteShareGroupStateParameters parameters) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<ReadShareGroupStateSummaryResult> readSummary(
      ReadShareGroupStateSummaryParameters parameters) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void stop() {}
}
