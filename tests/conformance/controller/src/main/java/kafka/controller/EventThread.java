package kafka.controller;

import java.util.concurrent.Semaphore;
import org.apache.kafka.common.errors.ControllerMovedException;

/**
 * Runs an event of the controller in a thread of its own, which hands control back where ZooKeeper
 * is about to be written, if that write is a step of the model. Only one of both threads runs at a
 * time.
 */
final class EventThread {
  private final Semaphore goOn = new Semaphore(0);
  private final Semaphore handedBack = new Semaphore(0);
  private Thread thread;
  private boolean waits;
  private boolean abandoned;
  private Throwable failure;

  /** Run an event until it ends, or waits before a write. */
  void run(Runnable event) {
    if (thread != null) {
      throw new IllegalStateException("an event waits before its next write");
    }
    abandoned = false;
    thread =
        new Thread(
            () -> {
              try {
                event.run();
              } catch (ControllerMovedException moved) {
                failure = abandoned ? null : moved;
              } catch (Throwable thrown) {
                failure = thrown;
              }
              waits = false;
              handedBack.release();
            });
    thread.setDaemon(true);
    thread.start();
    await();
  }

  /** Wait before a write, in the event's thread; elsewhere go on. */
  void pause() {
    if (Thread.currentThread() != thread) {
      return;
    }
    waits = true;
    handedBack.release();
    goOn.acquireUninterruptibly();
    check();
  }

  /** In the thread of an event that was given up: nothing is written any more. */
  void check() {
    if (abandoned && Thread.currentThread() == thread) {
      throw new ControllerMovedException("another controller was elected");
    }
  }

  /** Whether an event waits before a write. */
  boolean waits() {
    return waits;
  }

  /** Let the event that waits make its write, and go on to the next one or to its end. */
  void resume() {
    if (!waits) {
      throw new IllegalStateException("no event waits");
    }
    goOn.release();
    await();
  }

  /** End the event that waits, if one does: the controller's process has died. */
  void abandon() {
    if (waits) {
      abandoned = true;
      resume();
    }
  }

  private void await() {
    handedBack.acquireUninterruptibly();
    if (!waits) {
      thread = null;
    }
    if (failure != null) {
      Throwable thrown = failure;
      failure = null;
      throw new IllegalStateException("the event failed: " + thrown, thrown);
    }
  }
}
