package io.fasterkv.index;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.record.HashTag;

/**
 * The division of an index's memory.
 *
 * @param mainBuckets buckets that hashes select
 * @param overflowBuckets buckets for chains that outgrow their main bucket
 * @param tagBase number of main buckets from which tags count; see {@link HashTag}. It stays when
 *     the index is resized
 */
public record IndexGeometry(long mainBuckets, long overflowBuckets, long tagBase) {
  /** One bucket in four is an overflow bucket. */
  private static final long OVERFLOW_SHARE = 4;

  private static final long FIRST_SHARE = 16;
  private static final long LEAST_FIRST_BYTES = 64 << 10;

  /** A division for a new index, whose tags count from its main buckets. */
  public IndexGeometry(long mainBuckets, long overflowBuckets) {
    this(mainBuckets, overflowBuckets, mainBuckets);
  }

  /** The default division of {@code bytes}. */
  public static IndexGeometry of(long bytes) {
    long buckets = Math.max(1, bytes / BucketLayout.BYTES);
    long overflow = buckets / OVERFLOW_SHARE;
    return new IndexGeometry(buckets - overflow, overflow);
  }

  /**
   * A division with the main buckets and tags of this one: the default division of {@code bytes} if
   * it has that number, otherwise the default one of a resized index, within {@code maxBytes} if
   * possible. It has at least {@code overflowUsed} overflow buckets.
   */
  public IndexGeometry withOverflow(long overflowUsed, long bytes, long maxBytes) {
    IndexGeometry configured = of(bytes);
    long overflow =
        configured.mainBuckets == mainBuckets
            ? configured.overflowBuckets
            : Math.min(
                Math.ceilDiv(mainBuckets, OVERFLOW_SHARE - 1),
                maxBytes / BucketLayout.BYTES - mainBuckets);
    return new IndexGeometry(mainBuckets, Math.max(overflow, overflowUsed), tagBase);
  }

  /**
   * A division of {@code bytes} whose main buckets are those of this one, or whole fractions of
   * them: as many as the default division has, or at least more than half of that. So the chains of
   * this one remain valid in it.
   */
  public IndexGeometry refined(long bytes) {
    IndexGeometry usual = of(bytes);
    long main = mainBuckets * Math.max(1, usual.mainBuckets / mainBuckets);
    return new IndexGeometry(main, Math.max(0, usual.buckets() - main), tagBase);
  }

  /**
   * The memory that {@link #refined} needs for twice the main buckets, each half with as many
   * overflow buckets as the whole has.
   */
  public long bytesToDouble() {
    long forMain = Math.ceilDiv(2 * mainBuckets * OVERFLOW_SHARE, OVERFLOW_SHARE - 1);
    return Math.max(forMain, 2 * buckets()) * BucketLayout.BYTES;
  }

  /**
   * The initial division of an index that takes the rest of {@code bytes} on demand: a sixteenth,
   * but at least 64 KiB, so that it can grow before it is full; everything if the rest has no room
   * to double.
   */
  public static IndexGeometry first(long bytes) {
    IndexGeometry part = of(Math.max(bytes / FIRST_SHARE, LEAST_FIRST_BYTES));
    return bytes - part.bytes() < part.bytesToDouble() ? of(bytes) : part;
  }

  /** The same total number of buckets, with this many main buckets. */
  public IndexGeometry divided(long wanted) {
    return new IndexGeometry(wanted, Math.max(0, buckets() - wanted), tagBase);
  }

  /** The division with twice the buckets. */
  public IndexGeometry doubled() {
    return new IndexGeometry(2 * mainBuckets, 2 * overflowBuckets, tagBase);
  }

  /** The division with half the buckets. */
  public IndexGeometry halved() {
    if (mainBuckets % 2 != 0) {
      throw new BadConfig(
          "the index cannot be halved: mainBuckets=" + mainBuckets + ", allowed=an even number");
    }
    return new IndexGeometry(mainBuckets / 2, Math.ceilDiv(overflowBuckets, 2), tagBase);
  }

  /** Memory of all buckets. */
  public long bytes() {
    return buckets() * BucketLayout.BYTES;
  }

  long buckets() {
    return mainBuckets + overflowBuckets;
  }
}
