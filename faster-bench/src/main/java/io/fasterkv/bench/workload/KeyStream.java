package io.fasterkv.bench.workload;

import java.util.SplittableRandom;

/**
 * The keys of one thread, generated before any clock starts and used repeatedly.
 *
 * <p>In a mix, a key whose sign bit is set is written, the others are read.
 */
public final class KeyStream {
  private static final long WRITE = Long.MIN_VALUE;

  private final long[] keys;
  private final long[] values;
  private final Workload workload;

  private KeyStream(long[] keys, long[] values, Workload workload) {
    this.keys = keys;
    this.values = values;
    this.workload = workload;
  }

  /**
   * Generates a stream that depends only on its arguments.
   *
   * @param length number of keys in the stream
   * @param keyCount keys are from 0 to this, exclusive
   */
  public static KeyStream make(
      Workload workload, Distribution distribution, long keyCount, int length, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] keys = distribution.choose(keyCount, length, random);
    long[] values = new long[workload.overwrites() ? length : 0];
    for (int i = 0; i < values.length; i++) {
      values[i] = Values.of(keys[i], i);
      if (workload.kind() == Workload.Kind.MIX && random.nextInt(100) >= workload.readPercent()) {
        keys[i] |= WRITE;
      }
    }
    return new KeyStream(keys, values, workload);
  }

  /** Number of keys before it repeats. */
  public int length() {
    return keys.length;
  }

  public Workload workload() {
    return workload;
  }

  /** The keys; not to be changed. For a mix, see {@link #key} and {@link #isWrite}. */
  public long[] keys() {
    return keys;
  }

  /**
   * The value that an upsert of the key at the same index writes; empty if the workload has none.
   */
  public long[] values() {
    return values;
  }

  /** Whether an element of a mix is a write. */
  public static boolean isWrite(long element) {
    return element < 0;
  }

  /** The key of an element of a mix. */
  public static long key(long element) {
    return element & ~WRITE;
  }

  /** The sum of the fingerprints that reads of the stream find from an index on. */
  public long expectedFingerprints(int from, long operations) {
    long rounds = operations / keys.length;
    int rest = (int) (operations % keys.length);
    int tail = Math.min(rest, keys.length - from);
    long sum = rounds == 0 ? 0 : rounds * sum(0, keys.length);
    return sum + sum(from, from + tail) + sum(0, rest - tail);
  }

  private long sum(int from, int to) {
    long sum = 0;
    if (workload.kind() == Workload.Kind.READ || workload.kind() == Workload.Kind.MIX) {
      for (int i = from; i < to; i++) {
        sum += isWrite(keys[i]) ? 0 : Values.fingerprint(keys[i]);
      }
    }
    return sum;
  }
}
