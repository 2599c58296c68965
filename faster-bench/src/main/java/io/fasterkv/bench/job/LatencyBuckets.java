package io.fasterkv.bench.job;

/**
 * Buckets for latencies, each as wide as a thousandth of its values or narrower: one for each value
 * below 2,048, then 1,024 for each power of two.
 */
final class LatencyBuckets {
  /** Any higher latency is counted as this one: an hour, in microseconds. */
  static final long MOST = 3_600_000_000L;

  private static final int BITS = 10;

  /** How many there are. */
  static final int COUNT = of(MOST) + 1;

  private LatencyBuckets() {}

  /** The bucket of a latency. */
  static int of(long micros) {
    long counted = Math.clamp(micros, 0, MOST);
    int shift = Math.max(0, Long.SIZE - 1 - BITS - Long.numberOfLeadingZeros(counted));
    return (shift << BITS) + (int) (counted >>> shift);
  }

  /** The lowest latency of a bucket. */
  static long lowest(int bucket) {
    int shift = Math.max(0, (bucket >>> BITS) - 1);
    return (long) (bucket - (shift << BITS)) << shift;
  }
}
