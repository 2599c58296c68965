package io.fasterkv.state;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The store's version and the phase of a version shift, in one word, so that the two change
 * together.
 *
 * <pre>
 *   63 .............................. 3   2 ... 0
 *   version of attempts that begin now    phase
 * </pre>
 *
 * <p>An attempt of an operation reads the word once, after protecting its epoch, and belongs to
 * that version until its end. A thread that changes the word, and then waits for all earlier epochs
 * to end, knows that every running attempt has seen the change. Versions start at 1 and never wrap
 * in practice. Record headers store six bits of the version; these are compared only where at most
 * two adjacent versions are possible.
 */
public final class SystemState {
  private static final int PHASE_BITS = 3;
  private static final long PHASE_MASK = (1L << PHASE_BITS) - 1;

  private final AtomicLong word;

  /**
   * Creates the state of a store at rest.
   *
   * @param version the store's version, 1 or more
   * @throws IllegalArgumentException if the version is less than 1
   */
  public SystemState(long version) {
    if (version < 1) {
      throw new IllegalArgumentException(
          "a version is out of range: version=" + version + ", allowed=1 and above");
    }
    word = new AtomicLong(word(Phase.REST, version));
  }

  /**
   * Loads phase and version with a volatile load. The caller has protected its epoch before.
   *
   * @return the word, for {@link #phase} and {@link #version}
   */
  public long word() {
    return word.get();
  }

  /**
   * Changes phase and version. Only one thread at a time may call this.
   *
   * @param phase the new phase
   * @param version the new version
   */
  public void set(Phase phase, long version) {
    word.set(word(phase, version));
  }

  /**
   * Extracts the phase.
   *
   * @param word a result of {@link #word()}
   * @return the phase
   */
  public static Phase phase(long word) {
    return Phase.of((int) (word & PHASE_MASK));
  }

  /**
   * Extracts the version.
   *
   * @param word a result of {@link #word()}
   * @return the version
   */
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
