package io.fasterkv.index;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Allocates overflow buckets, which follow the main buckets in memory. Their number is fixed until
 * {@link #extend} adds some. A bucket that lost the race for its place in a chain is kept for the
 * next caller.
 */
final class OverflowBuckets {
  /** There is no bucket left. */
  static final long NONE = 0;

  /** Buckets are scarce when this part of them is left. */
  private static final long SCARCE_SHARE = 4;

  /** They are nearly gone when this part of them is left. */
  private static final long GONE_SHARE = 16;

  /**
   * Chains have outgrown the main buckets when this part is in use: with four entries in a bucket
   * on average.
   */
  private static final long OUTGROWN_SHARE = 8;

  private final long first;
  private final Runnable onOutgrown;
  private volatile long end;
  private volatile long outgrownAt;
  private volatile long scarceAt;
  private volatile long goneAt;
  private final AtomicLong next;

  /** Buckets that are neither taken nor reserved; reserved ones that were taken count twice. */
  private final AtomicLong free = new AtomicLong();

  private final AtomicLong spare = new AtomicLong(NONE);

  /** Where buckets are reserved for each that is taken here; null if nowhere. */
  private volatile @Nullable Coupling coupling;

  /**
   * Manages buckets {@code first}, which is 1 or more, to {@code end - 1}.
   *
   * @param onOutgrown called repeatedly while chains have outgrown the main buckets, by threads
   *     that take one or try to
   */
  OverflowBuckets(long first, long end, long used, Runnable onOutgrown) {
    this.first = first;
    this.onOutgrown = onOutgrown;
    next = new AtomicLong(first + used);
    this.end = end;
    free.set(end - next.get());
    setLimits(end);
  }

  private void setLimits(long bucket) {
    outgrownAt = first + Math.ceilDiv(bucket - first, OUTGROWN_SHARE);
    scarceAt = bucket - (bucket - first) / SCARCE_SHARE;
    goneAt = bucket - (bucket - first) / GONE_SHARE;
  }

  /** Adds zeroed buckets after the others; one caller at a time. */
  void extend(long buckets) {
    end += buckets;
    free.addAndGet(buckets);
    // Last: few are left until the new ones can be taken.
    setLimits(end);
  }

  /** Number of buckets, including used ones. */
  long count() {
    return end - first;
  }

  /** Whether chains have outgrown the main buckets. */
  boolean areOutgrown() {
    return next.getAcquire() >= outgrownAt;
  }

  /** Whether few are left. */
  boolean areScarce() {
    return next.getAcquire() >= scarceAt;
  }

  /** Whether very few are left. */
  boolean areNearlyGone() {
    return next.getAcquire() >= goneAt;
  }

  /** Takes a zeroed bucket; returns its number or {@link #NONE}. */
  long take() {
    long kept = spare.getAndSet(NONE);
    if (kept != NONE) {
      return kept;
    }
    if (areOutgrown()) {
      onOutgrown.run();
    }
    Coupling other = coupling;
    if (other != null && !other.successor.tryReserve(other.parts)) {
      return NONE;
    }
    if (tryReserve(1)) {
      return next.getAndIncrement();
    }
    if (other != null) {
      other.successor.release(other.parts);
    }
    return NONE;
  }

  private record Coupling(OverflowBuckets successor, int parts) {}

  /**
   * Reserves buckets of a new table for each bucket that is taken here from now on: a bucket is
   * taken only if they are free. The caller ensures that no thread is taking one.
   *
   * @param successor the new table's, or null to end it
   * @param parts how many are reserved for each
   */
  void couple(@Nullable OverflowBuckets successor, int parts) {
    coupling = successor == null ? null : new Coupling(successor, parts);
  }

  private boolean tryReserve(long buckets) {
    for (long now = free.get(); now >= buckets; now = free.get()) {
      if (free.compareAndSet(now, now - buckets)) {
        return true;
      }
    }
    return false;
  }

  /** Reserves unused buckets. */
  void reserve(long buckets) {
    if (!tryReserve(buckets)) {
      throw new IllegalStateException("there are too few free overflow buckets: wanted=" + buckets);
    }
  }

  /** Takes a reserved bucket, before the reservation is released. */
  long takeReserved() {
    free.getAndDecrement();
    return next.getAndIncrement();
  }

  /** Ends the reservation of some buckets, taken or not. */
  void release(long buckets) {
    free.addAndGet(buckets);
  }

  /** Takes back a bucket that no other thread has seen. */
  void putSpare(long bucket) {
    // If a spare is there already, this bucket stays unused: that takes two lost races in a row.
    spare.compareAndSet(NONE, bucket);
  }

  /** Number of buckets taken. */
  long used() {
    return next.getAcquire() - first;
  }
}
