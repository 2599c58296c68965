package io.fasterkv.stress;

import java.util.Arrays;

/**
 * Pages that two threads fill as frames become free, and the detector of a frame that was cleared
 * after a page had started to use it.
 */
public abstract class WrittenPages {
  public static final String SOUND = "sound";
  public static final String WIPED = "wiped";

  protected static final int ACTORS = 2;
  protected static final int EACH = 3;
  protected static final int PAGE_BYTES = SmallStore.PAGE_BYTES;

  private static final long NOWHERE = -1;

  private final long[] addresses = new long[ACTORS * EACH];

  protected final void forget() {
    Arrays.fill(addresses, NOWHERE);
  }

  /** Records the address of an actor's {@code number}th page. */
  protected final void written(int actor, int number, long address) {
    addresses[actor * EACH + number] = address;
  }

  /** What is wrong with the pages, all of which are still in memory. */
  public final String defect() {
    long[] written = Arrays.stream(addresses).filter(each -> each != NOWHERE).toArray();
    boolean areOwn = Arrays.stream(written).distinct().count() == written.length;
    return areOwn && Arrays.stream(written).allMatch(this::holds) ? SOUND : WIPED;
  }

  /** Whether memory still has the bytes that were written at an address. */
  protected abstract boolean holds(long address);
}
