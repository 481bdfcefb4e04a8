package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.MockCoordinatorExecutor;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;

/**
 * The model's regular expressions. Which of them match a topic is in its name: r1 is a pattern for
 * all names with "-r1" in them. What resolves them runs when the model says, and its result is an
 * event of its own.
 */
final class Regexes {
  private final Map<String, String> topics = new TreeMap<>();
  private final Map<String, String> names = new HashMap<>();
  private Task<?> task;
  int version;

  /** Runs once, when it is told to. */
  private static final class Task<R> {
    private final CoordinatorExecutor.TaskRunnable<R> what;
    private R found;
    private boolean done;
    private boolean fails;

    Task(CoordinatorExecutor.TaskRunnable<R> what) {
      this.what = what;
    }

    R run() throws Throwable {
      if (fails) {
        throw new IllegalStateException("the model says so");
      }
      if (!done) {
        found = what.run();
        done = true;
      }
      return found;
    }
  }

  private final class Executor extends MockCoordinatorExecutor<CoordinatorRecord> {
    @Override
    public <R> boolean schedule(
        String key, TaskRunnable<R> what, TaskOperation<CoordinatorRecord, R> then) {
      Task<R> made = new Task<>(what);
      boolean scheduled = super.schedule(key, made::run, then);
      if (scheduled) {
        task = made;
      }
      return scheduled;
    }
  }

  void resolveIn(GroupMetadataManagerTestContext.Builder builder) {
    try {
      var field = GroupMetadataManagerTestContext.Builder.class.getDeclaredField("executor");
      field.setAccessible(true);
      field.set(builder, new Executor());
    } catch (ReflectiveOperationException changed) {
      throw new IllegalStateException(changed);
    }
  }

  void resolve() {
    try {
      task.run();
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  void fail() {
    task.fails = true;
  }

  List<String> matching(JsonNode matches, String name) {
    List<String> found = new ArrayList<>();
    matches.fields().forEachRemaining(
        entry ->
            entry.getValue().forEach(
                matched -> {
                  if (matched.asText().equals(name)) {
                    found.add(entry.getKey());
                  }
                }));
    return found;
  }

  void create(String name, Collection<String> matching) {
    var topic = new StringBuilder(name);
    matching.stream().sorted().forEach(regex -> topic.append('-').append(regex));
    topics.put(name, topic.toString());
    names.put(topic.toString(), name);
  }

  String topic(String name) {
    return topics.get(name);
  }

  Set<String> names(Collection<String> of) {
    Set<String> found = new TreeSet<>();
    of.forEach(topic -> found.add(names.get(topic)));
    return found;
  }

  static String pattern(String regex) {
    return ".*-" + regex + ".*";
  }

  static String regex(String pattern) {
    return pattern.isEmpty() ? null : pattern.substring(3, pattern.length() - 2);
  }

  Map<String, Object> resolved(ConsumerGroup group) {
    Map<String, Object> found = new TreeMap<>();
    if (group != null) {
      group.resolvedRegularExpressions()
          .forEach((pattern, of) -> found.put(regex(pattern), names(of.topics())));
    }
    return found;
  }
}
