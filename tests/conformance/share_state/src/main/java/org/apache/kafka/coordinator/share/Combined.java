package org.apache.kafka.coordinator.share;

import java.util.List;
import org.apache.kafka.server.share.persister.PersisterStateBatch;

/**
 * Says what is kept of a record that was acknowledged in its first delivery when its release is
 * written after that: of the same delivery, and of the next one.
 */
final class Combined {
  private static final byte AVAILABLE = 0;
  private static final byte ACKNOWLEDGED = 2;

  private Combined() {}

  /** Print both. */
  public static void main(String[] arguments) {
    for (short delivery = 1; delivery <= 2; delivery++) {
      var held = List.of(new PersisterStateBatch(0, 0, ACKNOWLEDGED, (short) 1));
      var late = List.of(new PersisterStateBatch(0, 0, AVAILABLE, delivery));
      var kept = new PersisterStateBatchCombiner(held, late, -1).combineStateBatches();
      byte state = kept.get(0).deliveryState();
      System.out.println(state == ACKNOWLEDGED ? "ACKNOWLEDGED" : "AVAILABLE");
    }
  }
}
