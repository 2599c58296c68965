package io.fasterkv.index;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Hands out overflow buckets, which lie behind the main buckets. There are so many, until more come
 * to lie behind them. A bucket that lost the race for its place in a chain is kept for the next who
 * asks.
 */
final class OverflowBuckets {
  /** There is no bucket left. */
  static final long NONE = 0;

  /** They are scarce when one in so many is left. */
  private static final long SCARCE_SHARE = 4;

  private final long first;
  private final Runnable onScarce;
  private volatile long end;
  private volatile long scarceAt;
  private final AtomicLong next;
  private final AtomicLong reserved = new AtomicLong();
  private final AtomicLong spare = new AtomicLong(NONE);

  /**
   * Buckets {@code first} (1 and above) to {@code end - 1}.
   *
   * @param onScarce told again and again while there are few left, by who takes one or wants to
   */
  OverflowBuckets(long first, long end, long used, Runnable onScarce) {
    this.first = first;
    this.onScarce = onScarce;
    next = new AtomicLong(first + used);
    endAt(end);
  }

  private void endAt(long bucket) {
    scarceAt = bucket - (bucket - first) / SCARCE_SHARE;
    end = bucket;
  }

  /** More lie behind the others from now on, zeroed; one caller at a time. */
  void extend(long buckets) {
    endAt(end + buckets);
  }

  /** How many there are, used ones included. */
  long count() {
    return end - first;
  }

  /** Whether few are left. */
  boolean areScarce() {
    return next.getAcquire() >= scarceAt;
  }

  /** The number of a zeroed bucket, or {@link #NONE}. */
  long take() {
    long kept = spare.getAndSet(NONE);
    if (kept != NONE) {
      return kept;
    }
    if (areScarce()) {
      onScarce.run();
    }
    for (long bucket = next.get(); bucket < end - reserved.get(); bucket = next.get()) {
      if (next.compareAndSet(bucket, bucket + 1)) {
        return bucket;
      }
    }
    return NONE;
  }

  /** Keeps buckets back, of those that nobody has. */
  void reserve(long buckets) {
    if (reserved.addAndGet(buckets) > end - next.get()) {
      throw new IllegalStateException("there are not so many overflow buckets: " + buckets);
    }
  }

  /** Takes one of the buckets that were kept back, before they are released. */
  long takeReserved() {
    return next.getAndIncrement();
  }

  /** Ends the reservation of some buckets, whether they were taken or not. */
  void release(long buckets) {
    reserved.addAndGet(-buckets);
  }

  /** Takes back a bucket that nobody has seen. */
  void giveBack(long bucket) {
    // If a spare is there already, this bucket stays unused: that takes two lost races in a row.
    spare.compareAndSet(NONE, bucket);
  }

  /** How many have been handed out. */
  long used() {
    return next.getAcquire() - first;
  }
}
