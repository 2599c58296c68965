package io.fasterkv;

import io.fasterkv.api.CommitPoint;
import io.fasterkv.api.StoreException.OperationFailed;
import java.util.List;

/** What a store has reported of operations that failed. */
final class Reported {
  private Reported() {}

  /** The number of the last operation of a session that a store was recovered with. */
  static long serial(FasterStore store, String name) {
    return store.recoveredPoints().getOrDefault(name, CommitPoint.NONE).serial();
  }

  /** The operations of a session that a store was recovered without. */
  static List<Long> excluded(FasterStore store, String name) {
    return store.recoveredPoints().getOrDefault(name, CommitPoint.NONE).excluded();
  }

  /** Which operation has failed. */
  static long serial(Throwable failure) {
    return ((OperationFailed) failure).serial();
  }
}
