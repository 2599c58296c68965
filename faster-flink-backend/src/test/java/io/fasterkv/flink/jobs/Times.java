package io.fasterkv.flink.jobs;

/** The event times of numbers. */
final class Times {
  private static final long BLOCK = 1_000;
  private static final long PAUSE_MILLIS = 500;

  private Times() {}

  /**
   * A number's time in milliseconds. Times increase by one, with a pause after each block of
   * numbers.
   */
  static long of(long number) {
    return number + number / BLOCK * PAUSE_MILLIS;
  }
}
