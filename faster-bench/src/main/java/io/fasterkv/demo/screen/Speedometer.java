package io.fasterkv.demo.screen;

import java.util.ArrayDeque;

/** The average throughput of the last seconds. */
public final class Speedometer {
  private static final long WINDOW_NANOS = 4_000_000_000L;

  private final ArrayDeque<Sample> samples = new ArrayDeque<>();

  /**
   * Adds a sample and returns the throughput, in units a second, 0 or more.
   *
   * @param nanos the time, in nanoseconds, never falling
   * @param units units so far, never falling
   */
  public double at(long nanos, long units) {
    samples.addLast(new Sample(nanos, units));
    while (samples.size() > 2 && nanos - samples.getFirst().nanos > WINDOW_NANOS) {
      samples.removeFirst();
    }
    Sample first = samples.getFirst();
    return nanos == first.nanos ? 0 : (units - first.units) * 1e9 / (nanos - first.nanos);
  }

  private record Sample(long nanos, long units) {}
}
