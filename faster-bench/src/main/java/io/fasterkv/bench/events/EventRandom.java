package io.fasterkv.bench.events;

/**
 * The random numbers of one event: they depend on the seed and the event's number only, so a reader
 * can resume at any event.
 */
final class EventRandom {
  private static final long STEP = 0x9E3779B97F4A7C15L;
  private static final double UNIT = 0x1.0p-53;

  private final long seed;
  private long state;

  EventRandom(long seed) {
    this.seed = mix(seed * STEP + 1);
  }

  /** Restarts the sequence for an event. */
  void begin(long number) {
    state = mix(seed + number * STEP);
  }

  /** The next 64 random bits. */
  long nextBits() {
    state += STEP;
    return mix(state);
  }

  /** A number below {@code bound}, which is 1 or more; each is as probable as the next. */
  long below(long bound) {
    return Math.unsignedMultiplyHigh(nextBits(), bound);
  }

  /** A number from 0 (included) to 1 (excluded). */
  double unit() {
    return (nextBits() >>> 11) * UNIT;
  }

  private static long mix(long bits) {
    long mixed = bits;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
