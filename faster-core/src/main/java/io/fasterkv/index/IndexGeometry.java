package io.fasterkv.index;

import io.fasterkv.api.StoreException.BadConfig;

/**
 * How an index's memory is divided.
 *
 * @param mainBuckets buckets that hashes choose from
 * @param overflowBuckets buckets for chains that outgrow theirs
 */
public record IndexGeometry(long mainBuckets, long overflowBuckets) {
  /** One bucket in four is for overflow. */
  private static final long OVERFLOW_SHARE = 4;

  private static final long FIRST_SHARE = 16;
  private static final long LEAST_FIRST_BYTES = 1 << 20;

  /** The usual division of {@code bytes}. */
  public static IndexGeometry of(long bytes) {
    long buckets = Math.max(1, bytes / BucketLayout.BYTES);
    long overflow = buckets / OVERFLOW_SHARE;
    return new IndexGeometry(buckets - overflow, overflow);
  }

  /**
   * The division that keeps a number of main buckets, some of them with overflow buckets: that of
   * {@code bytes} if it has so many, else the usual one of an index that was resized, within {@code
   * maxBytes} if that can be.
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
   * A division of {@code bytes} in which the main buckets are those of a table with {@code
   * mainBuckets}, or each of them is cut into a whole number: as many as the usual division has, or
   * just more than half of that. What was chained in such a table is chained in this one.
   */
  public static IndexGeometry refined(long mainBuckets, long bytes) {
    IndexGeometry usual = of(bytes);
    long main = mainBuckets * Math.max(1, usual.mainBuckets / mainBuckets);
    return new IndexGeometry(main, Math.max(0, usual.buckets() - main));
  }

  /**
   * What an index begins with that takes the rest of {@code bytes} when it needs that: a sixteenth,
   * or all if a sixteenth would be full before anybody has looked.
   */
  public static IndexGeometry first(long bytes) {
    long part = bytes / FIRST_SHARE;
    return part < LEAST_FIRST_BYTES ? of(bytes) : of(part);
  }

  /** As many buckets in all, so many of them main buckets. */
  public IndexGeometry divided(long wanted) {
    return new IndexGeometry(wanted, Math.max(0, buckets() - wanted));
  }

  /** Twice as large. */
  public IndexGeometry doubled() {
    return new IndexGeometry(2 * mainBuckets, 2 * overflowBuckets);
  }

  /** Half as large. */
  public IndexGeometry halved() {
    if (mainBuckets % 2 != 0) {
      throw new BadConfig(
          "the index cannot be halved: mainBuckets=" + mainBuckets + ", allowed=an even number");
    }
    return new IndexGeometry(mainBuckets / 2, Math.ceilDiv(overflowBuckets, 2));
  }

  /** How much memory the buckets take. */
  public long bytes() {
    return buckets() * BucketLayout.BYTES;
  }

  long buckets() {
    return mainBuckets + overflowBuckets;
  }
}
