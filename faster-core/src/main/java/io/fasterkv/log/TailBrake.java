package io.fasterkv.log;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds the tail back while the log is longer than compaction wants it: nothing is allocated, so
 * operations that need a new record come again, unprotected, until a piece of the log was dropped.
 * Not even on a page that is there: the mover turns pages, and others would fill them for it. The
 * thread that moves records is never held back, nor is anybody while the index is being resized,
 * since a resize may need the log, and compaction the index.
 */
public final class TailBrake {
  private volatile long mostBytes = Long.MAX_VALUE;
  private volatile @Nullable Thread mover;
  private volatile BooleanSupplier isSuspended = () -> false;
  private volatile LongSupplier limit = () -> Long.MAX_VALUE;

  /** Suspends the brake for as long as a condition holds. */
  public void suspendWhile(BooleanSupplier condition) {
    isSuspended = condition;
  }

  /**
   * Says how long the log may be now; asked, by a protected thread, when the log has become longer
   * than what was allowed before. It answers without waiting for the log.
   */
  public void askForLimit(LongSupplier supplier) {
    limit = supplier;
  }

  /** Lets the log become this long. */
  public void allow(long logBytes) {
    mostBytes = logBytes;
  }

  /** Names the one thread that is not held back; null for none. */
  public void exempt(@Nullable Thread thread) {
    mover = thread;
  }

  /** Whether the calling thread is the one that moves records. */
  @SuppressWarnings("ReferenceEquality") // Threads have no other identity.
  boolean isMover() {
    return Thread.currentThread() == mover;
  }

  /** Whether the calling thread is to allocate nothing on a log of this length. */
  public boolean holds(long logBytes) {
    return logBytes > mostBytes
        && !isMover()
        && !isSuspended.getAsBoolean()
        && logBytes > limit.getAsLong();
  }

  @Override
  public String toString() {
    return mostBytes == Long.MAX_VALUE ? "none" : "beyond " + mostBytes + " bytes of log";
  }
}
