package io.fasterkv;

import io.fasterkv.api.CommitPoint;
import io.fasterkv.api.StoreException.OperationFailed;
import java.util.List;

/** The reports of a store about failed operations. */
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

  /** The serial number of the operation that failed. */
  static long serial(Throwable failure) {
    return ((OperationFailed) failure).serial();
  }

  /** Why an operation failed, whether it threw from its own call or while it was pending. */
  static Throwable cause(Throwable failure) {
    return failure instanceof OperationFailed pending ? pending.getCause() : failure;
  }
}
