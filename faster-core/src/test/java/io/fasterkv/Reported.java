package io.fasterkv;

import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.checkpoint.CommitPoint;
import java.util.List;

/** Collects a store's reports of failed operations. */
final class Reported {
  private Reported() {}

  /** The number of the last operation of a session in a recovered store. */
  static long serial(FasterStore store, String name) {
    return store.checkpoints().recoveredPoints().getOrDefault(name, CommitPoint.NONE).serial();
  }

  /** The operations of a session that a recovered store excludes. */
  static List<Long> excluded(FasterStore store, String name) {
    return store.checkpoints().recoveredPoints().getOrDefault(name, CommitPoint.NONE).excluded();
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
