package org.apache.kafka.coordinator.group;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import kafka.coordinator.group.DelayedHeartbeat;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

/** A timer whose tasks run when they are told to. */
final class Timers implements Timer {
  private final List<TimerTaskEntry> entries = new ArrayList<>();

  @Override
  public void add(TimerTask task) {
    entries.add(new TimerTaskEntry(task, task.delayMs));
  }

  @Override
  public boolean advanceClock(long timeoutMs) {
    return false;
  }

  @Override
  public int size() {
    return entries.size();
  }

  @Override
  public void close() {}

  /** Return the tasks of a class that are armed, the latest last. */
  <T extends TimerTask> List<T> armed(Class<T> kind) {
    entries.removeIf(TimerTaskEntry::cancelled);
    Stream<TimerTask> tasks = entries.stream().map(entry -> entry.timerTask);
    return tasks.filter(kind::isInstance).map(kind::cast).toList();
  }

  /** Return the session timers of a member, pending or not. */
  List<DelayedHeartbeat> of(String member) {
    return armed(DelayedHeartbeat.class).stream()
        .filter(task -> member.equals(field(DelayedHeartbeat.class, task, "memberId")))
        .toList();
  }

  /** Let the one timer of a kind fire. */
  void fire(List<? extends TimerTask> armed) {
    if (armed.size() != 1) {
      throw new IllegalStateException(armed.size() + " timers are armed, not one");
    }
    TimerTask task = armed.get(0);
    entries.removeIf(entry -> entry.timerTask == task);
    task.run();
  }

  /** Read a field that the class has for itself. */
  static Object field(Class<?> owner, Object of, String name) {
    try {
      Field field = owner.getDeclaredField(name);
      field.setAccessible(true);
      return field.get(of);
    } catch (ReflectiveOperationException other) {
      throw new IllegalStateException(other);
    }
  }
}
