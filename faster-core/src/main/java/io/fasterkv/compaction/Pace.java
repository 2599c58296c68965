package io.fasterkv.compaction;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/** Limits compaction to a number of bytes a second, and ends it when the store closes. */
final class Pace {
  private static final long SECOND_NANOS = 1_000_000_000;
  private static final long LONGEST_PAUSE_NANOS = 20_000_000;

  private final long bytesPerSecond;
  private final BooleanSupplier isClosed;
  private final LongSupplier nanoTime;
  private final LongConsumer park;
  private final long start;
  private double bytes;

  /**
   * @param bytesPerSecond 0 for no limit
   */
  Pace(long bytesPerSecond, BooleanSupplier isClosed) {
    this(bytesPerSecond, isClosed, System::nanoTime, LockSupport::parkNanos);
  }

  /** With another clock and another way to pause, in nanoseconds. */
  Pace(long bytesPerSecond, BooleanSupplier isClosed, LongSupplier nanoTime, LongConsumer park) {
    this.bytesPerSecond = bytesPerSecond;
    this.isClosed = isClosed;
    this.nanoTime = nanoTime;
    this.park = park;
    start = nanoTime.getAsLong();
  }

  /** Waits until {@code more} bytes may be read; returns false if compaction must end. */
  boolean allows(long more) {
    bytes += more;
    while (bytesPerSecond > 0 && !isClosed.getAsBoolean()) {
      long due = (long) (bytes / bytesPerSecond * SECOND_NANOS);
      long early = due - (nanoTime.getAsLong() - start);
      if (early <= 0) {
        break;
      }
      park.accept(Math.min(early, LONGEST_PAUSE_NANOS));
    }
    return !isClosed.getAsBoolean();
  }
}
