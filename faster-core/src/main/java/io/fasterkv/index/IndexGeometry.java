package io.fasterkv.index;

import io.fasterkv.api.StoreException.BadConfig;

/**
 * The division of an index's memory.
 *
 * @param mainBuckets buckets that hashes select
 * @param overflowBuckets buckets for chains that outgrow their main bucket
 */
public record IndexGeometry(long mainBuckets, long overflowBuckets) {
  /** One bucket in four is an overflow bucket. */
  private static final long OVERFLOW_SHARE = 4;

  private static final long FIRST_SHARE = 16;
  private static final long LEAST_FIRST_BYTES = 1 << 20;

  /** The default division of {@code bytes}. */
  public static IndexGeometry of(long bytes) {
    long buckets = Math.max(1, bytes / BucketLayout.BYTES);
    long overflow = buckets / OVERFLOW_SHARE;
    return new IndexGeometry(buckets - overflow, overflow);
  }

  /**
   * A division with a given number of main buckets, some of them with overflow buckets: the default
   * division of {@code bytes} if it has that number, otherwise the default one of a resized index,
   * within {@code maxBytes} if possible.
   */
  public static IndexGeometry withMain(
      long mainBuckets, long overflowUsed, long bytes, long maxBytes) {
    IndexGeometry configured = of(bytes);
    long overflow =
        configured.mainBuckets == mainBuckets
            ? configured.overflowBuckets
            : Math.min(
                Math.ceilDiv(mainBuckets, OVERFLOW_SHARE - 1),
                maxBytes / BucketLayout.BYTES - mainBuckets);
    return new IndexGeometry(mainBuckets, Math.max(overflow, overflowUsed));
  }

  /**
   * A division of {@code bytes} whose main buckets are those of a table with {@code mainBuckets},
   * or whole fractions of them: as many as the default division has, or at least more than half of
   * that. So the chains of such a table remain valid in this one.
   */
  public static IndexGeometry refined(long mainBuckets, long bytes) {
    IndexGeometry usual = of(bytes);
    long main = mainBuckets * Math.max(1, usual.mainBuckets / mainBuckets);
    return new IndexGeometry(main, Math.max(0, usual.buckets() - main));
  }

  /**
   * The initial division of an index that takes the rest of {@code bytes} on demand: a sixteenth,
   * or everything if a sixteenth would fill up before the index can grow.
   */
  public static IndexGeometry first(long bytes) {
    long part = bytes / FIRST_SHARE;
    return part < LEAST_FIRST_BYTES ? of(bytes) : of(part);
  }

  /** The same total number of buckets, with this many main buckets. */
  public IndexGeometry divided(long wanted) {
    return new IndexGeometry(wanted, Math.max(0, buckets() - wanted));
  }

  /** The division with twice the buckets. */
  public IndexGeometry doubled() {
    return new IndexGeometry(2 * mainBuckets, 2 * overflowBuckets);
  }

  /** The division with half the buckets. */
  public IndexGeometry halved() {
    if (mainBuckets % 2 != 0) {
      throw new BadConfig(
          "the index cannot be halved: mainBuckets=" + mainBuckets + ", allowed=an even number");
    }
    return new IndexGeometry(mainBuckets / 2, Math.ceilDiv(overflowBuckets, 2));
  }

  /** Memory of all buckets. */
  public long bytes() {
    return buckets() * BucketLayout.BYTES;
  }

  long buckets() {
    return mainBuckets + overflowBuckets;
  }
}
