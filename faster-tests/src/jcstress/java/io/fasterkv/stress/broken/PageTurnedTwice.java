package io.fasterkv.stress.broken;

import io.fasterkv.stress.CrowdedTail;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A broken tail: a thread that finds the page full turns it even if another has already done so.
 */
public final class PageTurnedTwice extends CrowdedTail {
  private static final int OFFSET_BITS = 32;
  private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
  private static final long BYTES = 1000;

  private final AtomicLong tail = new AtomicLong();
  private final int[] counts = new int[ACTORS];

  public PageTurnedTwice reset() {
    forget();
    tail.set(PAGE_BYTES - BYTES / 2);
    return this;
  }

  public void allocate(int actor) {
    for (int number = 0; number < 2; number++) {
      long before = tail.getAndAdd(BYTES);
      while ((before & OFFSET_MASK) + BYTES > PAGE_BYTES) {
        long page = before >>> OFFSET_BITS;
        if (tail.get() >>> OFFSET_BITS == page) {
          tail.set(page + 1 << OFFSET_BITS);
        }
        before = tail.getAndAdd(BYTES);
      }
      long address = (before >>> OFFSET_BITS) * PAGE_BYTES + (before & OFFSET_MASK);
      allocated(actor, number, address, address + BYTES);
    }
    counts[actor] = 2;
  }

  @Override
  protected int recordsFound() {
    return counts[0] + counts[1];
  }
}
