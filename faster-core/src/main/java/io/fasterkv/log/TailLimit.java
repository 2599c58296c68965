package io.fasterkv.log;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Stops allocation at the tail while the log is longer than compaction wants it. Operations that
 * need a new record retry, unprotected, until a part of the log was dropped. Nothing is allocated
 * even on the current page: the mover turns pages, and other threads would fill them. The limit
 * never stops the thread that moves records. It stops no thread while the index is shrinking, since
 * that may need the log, and compaction the index.
 */
public final class TailLimit {
  private volatile long mostBytes = Long.MAX_VALUE;
  private volatile @Nullable Thread mover;
  private volatile BooleanSupplier isSuspended = () -> false;
  private volatile LongSupplier limit = () -> Long.MAX_VALUE;

  /** Suspends the limit while a condition holds. */
  public void suspendWhile(BooleanSupplier condition) {
    isSuspended = condition;
  }

  /**
   * Sets the supplier of the current limit. A protected thread calls it when the log has exceeded
   * the last limit; it must not wait for the log.
   */
  public void setLimit(LongSupplier supplier) {
    limit = supplier;
  }

  /** Sets the limit of the log's length. */
  public void allow(long logBytes) {
    mostBytes = logBytes;
  }

  /** Exempts one thread from the limit; null exempts none. */
  public void exempt(@Nullable Thread thread) {
    mover = thread;
  }

  /** Whether the calling thread is the one that moves records. */
  @SuppressWarnings("ReferenceEquality") // A thread is identified by its object.
  boolean isMover() {
    return Thread.currentThread() == mover;
  }

  /** Whether the calling thread may allocate nothing on a log of this length. */
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
