package io.fasterkv.compaction;

/**
 * The measured costs of the two ways of {@link LogCompaction} to find live records. Used by the one
 * compaction in progress.
 */
final class CompactionCosts {
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

  /** Notes the time of a sequential read. */
  void swept(long bytes, long nanos) {
    double measured = (double) nanos / bytes;
    nanosPerSweptByte += (measured - nanosPerSweptByte) / 4;
  }

  /**
   * Whether chains were followed for long enough to compare with a sweep over {@code bytes}: a
   * quarter of the time that takes. If the sweep is cheaper, no more than that was lost.
   */
  boolean isEnough(double chainNanos, double bytes) {
    return chainNanos * chainWeight * SAMPLED_SHARE >= bytes * nanosPerSweptByte;
  }

  /**
   * Whether reading {@code sweptBytes} in sequence is cheaper than following the chains of the
   * records, which takes {@code chainNanos}.
   */
  boolean isSequenceCheaper(double sweptBytes, double chainNanos) {
    return chainNanos * chainWeight > sweptBytes * nanosPerSweptByte;
  }
}
