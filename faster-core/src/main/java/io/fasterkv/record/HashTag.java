package io.fasterkv.record;

/**
 * The tag of a hash: the bits that follow those that select one of {@code base} buckets.
 *
 * <p>Bucket {@code b} of {@code n} has the hashes {@code h} with {@code floor(h / 2^64 * n) = b}.
 * The tag has the first bits of the rest. So if each of the {@code base} buckets is split into
 * {@code m}, bucket and tag tell the part: it is {@code floor(tag / 2^14 * m)}, except for the few
 * tags that lie across the border of two parts. No record has to be read for that.
 */
public final class HashTag {
  /** Number of bits of a tag. */
  public static final int BITS = 14;

  private HashTag() {}

  /** The tag of a hash in an index whose tags count from {@code base} buckets. */
  public static long of(long hash, long base) {
    return hash * base >>> (Long.SIZE - BITS);
  }
}
