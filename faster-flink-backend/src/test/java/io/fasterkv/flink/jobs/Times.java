package io.fasterkv.flink.jobs;

/** When a number happens. */
final class Times {
  private static final long BLOCK = 1_000;
  private static final long PAUSE_MILLIS = 500;

  private Times() {}

  /** In milliseconds: a number after the other, with a pause after each block of them. */
  static long of(long number) {
    return number + number / BLOCK * PAUSE_MILLIS;
  }
}
