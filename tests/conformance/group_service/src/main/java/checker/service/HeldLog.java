package checker.service;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/** The log of one partition in memory. It takes all that is appended, and while it is held it commits none of it. */
final class HeldLog implements PartitionWriter {
    private final TopicPartition partition;
    private Listener listener;
    private long end;
    private boolean held;

    HeldLog(TopicPartition partition) {
        this.partition = partition;
    }

    /** From now on nothing is committed. */
    synchronized void hold() {
        held = true;
    }

    /** All is committed that was appended. */
    synchronized void release() {
        held = false;
        listener.onHighWatermarkUpdated(partition, end);
    }

    @Override
    public synchronized long append(TopicPartition to, VerificationGuard guard, MemoryRecords records, short version) {
        for (Record ignored : records.records()) {
            end++;
        }
        if (!held) {
            listener.onHighWatermarkUpdated(partition, end);
        }
        return end;
    }

    @Override
    public synchronized void registerListener(TopicPartition of, Listener registered) {
        listener = registered;
    }

    @Override
    public void deregisterListener(TopicPartition of, Listener registered) {
        // The partition is never resigned.
    }

    @Override
    public LogConfig config(TopicPartition of) {
        return new LogConfig(Map.of());
    }

    @Override
    public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
            TopicPartition of, String transaction, long producer, short epoch, int version) {
        throw new UnsupportedOperationException("there are no transactions");
    }

    @Override
    public CompletableFuture<Void> deleteRecords(TopicPartition of, long before) {
        return CompletableFuture.completedFuture(null);
    }
}
