package checker.service;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

/** Time that stands still until it is moved, and the timers that go by it. */
final class Clock implements Time, Timer {
    private final List<TimerTaskEntry> entries = new ArrayList<>();
    private volatile long now;

    @Override
    public long milliseconds() {
        return now;
    }

    @Override
    public long nanoseconds() {
        return TimeUnit.MILLISECONDS.toNanos(now);
    }

    @Override
    public void sleep(long milliseconds) {
        throw new UnsupportedOperationException("nobody waits here");
    }

    @Override
    public synchronized void add(TimerTask task) {
        entries.add(new TimerTaskEntry(task, now + task.delayMs));
    }

    /** Moves on, and runs what is due then. */
    @Override
    public boolean advanceClock(long milliseconds) {
        List<TimerTaskEntry> due;
        synchronized (this) {
            now += milliseconds;
            entries.removeIf(TimerTaskEntry::cancelled);
            due = entries.stream().filter(entry -> entry.expirationMs <= now).toList();
            entries.removeAll(due);
        }
        due.stream().filter(entry -> !entry.cancelled()).forEach(entry -> entry.timerTask.run());
        return !due.isEmpty();
    }

    @Override
    public synchronized int size() {
        return entries.size();
    }

    @Override
    public void close() {
        // There is no thread.
    }
}
