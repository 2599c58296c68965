package io.fasterkv.index;

/**
 * How an index's memory is divided.
 *
 * @param mainBuckets buckets that hashes choose from
 * @param overflowBuckets buckets for chains that outgrow theirs
 */
public record IndexGeometry(long mainBuckets, long overflowBuckets) {
  /** One bucket in four is for overflow. */
  private static final long OVERFLOW_SHARE = 4;

  /** The usual division of {@code bytes}. */
  public static IndexGeometry of(long bytes) {
    long buckets = Math.max(1, bytes / BucketLayout.BYTES);
    long overflow = buckets / OVERFLOW_SHARE;
    return new IndexGeometry(buckets - overflow, overflow);
  }

  /** The division of {@code bytes} that keeps a number of main buckets. */
  public static IndexGeometry withMain(long mainBuckets, long bytes) {
    return new IndexGeometry(mainBuckets, bytes / BucketLayout.BYTES - mainBuckets);
  }

  long buckets() {
    return mainBuckets + overflowBuckets;
  }
}
