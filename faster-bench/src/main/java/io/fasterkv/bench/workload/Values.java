package io.fasterkv.bench.workload;

/**
 * The values in the stores: a value identifies its key, so that every result can be checked.
 *
 * <pre>
 *   63   62 ............. 32   31 .......... 0
 *   0    fingerprint of key    count
 * </pre>
 *
 * A load writes the count 0, an RMW adds 1 to it, an upsert writes any.
 */
public final class Values {
  /** No value is negative. */
  public static final long MISSING = -1;

  private static final long COUNT_MASK = 0xFFFF_FFFFL;

  private Values() {}

  /** The value of a key with a count. */
  public static long of(long key, long count) {
    return fingerprint(key) << 32 | count & COUNT_MASK;
  }

  /** The part of a value that identifies its key, 31 bits. */
  public static long fingerprint(long key) {
    return Mix.mix(key ^ 0x5DEECE66DL) >>> 33;
  }

  /** The fingerprint in a value. */
  public static long fingerprintIn(long value) {
    return value >>> 32;
  }

  /** The count in a value. */
  public static long countIn(long value) {
    return value & COUNT_MASK;
  }
}
