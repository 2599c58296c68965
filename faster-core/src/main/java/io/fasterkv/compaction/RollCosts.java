package io.fasterkv.compaction;

/**
 * What it has taken to find out what is live, in each of the two ways of {@link Roll}. Used by the
 * one compaction that is under way.
 */
final class RollCosts {
  private static final double FIRST_GUESS_NANOS_PER_BYTE = 2;

  private static final double SAMPLED_SHARE = 4;

  private volatile double chainWeight = 1;
  private double nanosPerSweptByte = FIRST_GUESS_NANOS_PER_BYTE;

  void weighChains(double weight) {
    chainWeight = weight;
  }

  boolean isEverAlongChains() {
    return chainWeight < Double.POSITIVE_INFINITY;
  }

  boolean isEverInSequence() {
    return chainWeight > 0;
  }

  /** Notes how long it took to read on in sequence. */
  void swept(long bytes, long nanos) {
    double measured = (double) nanos / bytes;
    nanosPerSweptByte += (measured - nanosPerSweptByte) / 4;
  }

  /**
   * Whether chains were followed for long enough to compare that with a sweep over {@code bytes}: a
   * quarter of what that takes. If the sweep then is the cheaper way, no more than that was lost.
   */
  boolean isEnough(double chainNanos, double bytes) {
    return chainNanos * chainWeight * SAMPLED_SHARE >= bytes * nanosPerSweptByte;
  }

  /**
   * Whether it is cheaper to read {@code sweptBytes} in sequence than to follow the chains of
   * records, which takes {@code chainNanos}.
   */
  boolean isSequenceCheaper(double sweptBytes, double chainNanos) {
    return chainNanos * chainWeight > sweptBytes * nanosPerSweptByte;
  }
}
