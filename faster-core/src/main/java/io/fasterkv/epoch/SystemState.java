package io.fasterkv.epoch;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Which version the store is in, and in which phase of a shift to the next: one word, so that the
 * two change together.
 *
 * <pre>
 *   63 .............................. 3   2 ... 0
 *   version of attempts that begin now    phase
 * </pre>
 *
 * An attempt of an operation reads the word once, after its epoch was protected, and is of that
 * version to its end. Who changes the word, and then waits for all epochs before, knows that every
 * attempt that is under way has seen the change. Versions begin at 1 and do not wrap in any
 * lifetime; record headers have six bits of them, which are compared only where two neighbours are
 * the only ones possible.
 */
public final class SystemState {
  private static final int PHASE_BITS = 3;
  private static final long PHASE_MASK = (1L << PHASE_BITS) - 1;

  private final AtomicLong word;

  /** At rest in a version, 1 and above. */
  public SystemState(long version) {
    if (version < 1) {
      throw new IllegalArgumentException(
          "a version is out of range: version=" + version + ", allowed=1 and above");
    }
    word = new AtomicLong(word(Phase.REST, version));
  }

  /** Phase and version; volatile, for a caller that has protected its epoch before. */
  public long word() {
    return word.get();
  }

  /** Moves on; one thread at a time does. */
  public void set(Phase phase, long version) {
    word.set(word(phase, version));
  }

  public static Phase phase(long word) {
    return Phase.of((int) (word & PHASE_MASK));
  }

  public static long version(long word) {
    return word >>> PHASE_BITS;
  }

  private static long word(Phase phase, long version) {
    return version << PHASE_BITS | phase.ordinal();
  }

  @Override
  public String toString() {
    long now = word.get();
    return "phase=" + phase(now) + ", version=" + version(now);
  }
}
