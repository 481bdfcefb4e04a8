package org.apache.kafka.coordinator.group;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import kafka.cluster.Partition;
import kafka.log.UnifiedLog;
import kafka.server.ReplicaManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.requests.ProduceResponse.PartitionResponse;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;
import org.mockito.stubbing.Answer;
import scala.Function1;
import scala.Option;
import scala.Some;
import scala.Tuple2;
import scala.collection.Map;
import scala.jdk.javaapi.CollectionConverters;

/** A partition of the offsets topic, and the ReplicaManager that has it: group records are kept. */
final class Log {
  private static final int GROUP_KEY = 2; // GroupMetadataKey's version; offsets have 0 and 1

  private final List<SimpleRecord> written = new ArrayList<>();
  private final BiConsumer<Record, Consumer<Errors>> appended;

  /** Tell a listener of each group record that is to be appended, and how to end that. */
  Log(BiConsumer<Record, Consumer<Errors>> appended) {
    this.appended = appended;
  }

  /** A record is in the log. */
  void write(Record record) {
    written.add(new SimpleRecord(record));
  }

  ReplicaManager replicas() {
    return mock(ReplicaManager.class, this::asked);
  }

  private Object asked(InvocationOnMock call) throws Throwable {
    return switch (call.getMethod().getName()) {
      case "getMagic" -> Option.apply(RecordBatch.MAGIC_VALUE_V2);
      case "getLogEndOffset" -> Option.apply((long) written.size());
      case "getLog" -> new Some<>(mock(UnifiedLog.class, this::read));
      case "onlinePartition" -> new Some<>(mock(Partition.class, this::buried));
      case "appendRecords" -> append(call.getArgument(4), call.getArgument(5));
      default -> Mockito.RETURNS_DEFAULTS.answer(call);
    };
  }

  private Object read(InvocationOnMock call) throws Throwable {
    if (!call.getMethod().getName().equals("read")) {
      return Mockito.RETURNS_DEFAULTS.answer(call);
    }
    SimpleRecord[] all = written.toArray(new SimpleRecord[0]);
    MemoryRecords records = MemoryRecords.withRecords(Compression.NONE, all);
    return new FetchDataInfo(new LogOffsetMetadata(0), records);
  }

  /** Tombstones of a deleted group are written at once. */
  private Object buried(InvocationOnMock call) throws Throwable {
    if (!call.getMethod().getName().equals("appendRecordsToLeader")) {
      return Mockito.RETURNS_DEFAULTS.answer(call);
    }
    MemoryRecords records = call.getArgument(0);
    records.records().forEach(record -> {
      if (isOfGroup(record)) {
        write(record);
      }
    });
    return null;
  }

  /** Group records wait until they are ended; offsets are not of this system. */
  private Object append(
      Map<TopicPartition, MemoryRecords> entries,
      Function1<Map<TopicPartition, PartitionResponse>, ?> callback) {
    Tuple2<TopicPartition, MemoryRecords> entry = entries.head();
    Consumer<Errors> end =
        error ->
            callback.apply(
                CollectionConverters.asScala(
                    java.util.Map.of(entry._1(), new PartitionResponse(error))));
    Record record = entry._2().records().iterator().next();
    if (isOfGroup(record)) {
      appended.accept(record, end);
    } else {
      end.accept(Errors.NONE);
    }
    return null;
  }

  private static boolean isOfGroup(Record record) {
    ByteBuffer key = record.key();
    return key.getShort(key.position()) == GROUP_KEY;
  }

  private static <T> T mock(Class<T> kind, Answer<?> answer) {
    return Mockito.mock(kind, Mockito.withSettings().stubOnly().defaultAnswer(answer));
  }
}
