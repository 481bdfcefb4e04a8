package kafka.server.share;

import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** The dead letters that are being written, by the first of their records. */
final class DeadLetters {
  private record Letter(long last, CompletableFuture<Void> answer) {}

  private final TreeMap<Long, Letter> underWay = new TreeMap<>();
  final boolean enabled;

  DeadLetters(boolean enabled) {
    this.enabled = enabled;
  }

  CompletableFuture<Void> begin(long first, long last) {
    var letter = new Letter(last, new CompletableFuture<>());
    if (underWay.put(first, letter) != null) {
      throw new AssertionError("a second dead letter is written from offset " + first + " on");
    }
    return letter.answer();
  }

  boolean has(long offset) {
    var letter = underWay.floorEntry(offset);
    return letter != null && letter.getValue().last() >= offset;
  }

  /** The queue has the records from an offset on. */
  void end(long first) {
    underWay.remove(first).answer().complete(null);
  }

  /** The leader that wrote is gone: nobody hears the answers. */
  void forget() {
    underWay.clear();
  }
}
