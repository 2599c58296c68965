package io.fasterkv.compaction;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Keeps compaction to a number of bytes a second, and ends it when the store closes. */
final class Pace {
  private static final long SECOND_NANOS = 1_000_000_000;
  private static final long LONGEST_PAUSE_NANOS = 20_000_000;

  private final long bytesPerSecond;
  private final BooleanSupplier isClosed;
  private final long start = System.nanoTime();
  private double bytes;

  /**
   * @param bytesPerSecond 0 for no limit
   */
  Pace(long bytesPerSecond, BooleanSupplier isClosed) {
    this.bytesPerSecond = bytesPerSecond;
    this.isClosed = isClosed;
  }

  /** As fast as it goes, to the end. */
  static Pace unlimited() {
    return new Pace(0, () -> false);
  }

  /** Waits until {@code more} bytes may be looked at; false if compaction is to end. */
  boolean allows(long more) {
    bytes += more;
    while (bytesPerSecond > 0 && !isClosed.getAsBoolean()) {
      long due = (long) (bytes / bytesPerSecond * SECOND_NANOS);
      long early = due - (System.nanoTime() - start);
      if (early <= 0) {
        break;
      }
      LockSupport.parkNanos(Math.min(early, LONGEST_PAUSE_NANOS));
    }
    return !isClosed.getAsBoolean();
  }
}
