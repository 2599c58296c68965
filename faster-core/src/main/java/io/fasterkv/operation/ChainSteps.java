package io.fasterkv.operation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * How long the walks along chains were, of all sessions together. Each session counts for itself in
 * a {@link Stripe}, with plain additions; who asks for the sums reads them while they change, so
 * they may lag behind by a little.
 */
public final class ChainSteps {
  private final List<Stripe> stripes = new ArrayList<>();
  private final Deque<Stripe> free = new ArrayDeque<>();

  /** What one session counts, in cache lines of its own; one thread at a time. */
  static final class Stripe {
    private static final int PADDING = 128 / Long.BYTES;
    private static final int WALKS = PADDING;
    private static final int IN_MEMORY = PADDING + 1;
    private static final int ON_DISK = PADDING + 2;

    private final long[] counts = new long[3 * PADDING];

    void walked(int records) {
      counts[WALKS]++;
      counts[IN_MEMORY] += records;
    }

    /** So many walks that each ended at the first record they looked at. */
    void hit(int walks) {
      counts[WALKS] += walks;
      counts[IN_MEMORY] += walks;
    }

    void readFromDisk() {
      counts[ON_DISK]++;
    }
  }

  /**
   * Sums over all sessions since the store was opened.
   *
   * @param walks how many walks along a chain there were
   * @param inMemory records, and forks, that they looked at in memory
   * @param onDisk records, and forks, that were read from disk for them
   */
  public record Sums(long walks, long inMemory, long onDisk) {}

  /** A stripe for a new session; what others have counted in it before stays. */
  synchronized Stripe open() {
    Stripe kept = free.poll();
    if (kept != null) {
      return kept;
    }
    Stripe fresh = new Stripe();
    stripes.add(fresh);
    return fresh;
  }

  /** Takes back the stripe of a session that has ended. */
  synchronized void close(Stripe stripe) {
    free.add(stripe);
  }

  public synchronized Sums sums() {
    long walks = 0;
    long inMemory = 0;
    long onDisk = 0;
    for (Stripe stripe : stripes) {
      walks += stripe.counts[Stripe.WALKS];
      inMemory += stripe.counts[Stripe.IN_MEMORY];
      onDisk += stripe.counts[Stripe.ON_DISK];
    }
    return new Sums(walks, inMemory, onDisk);
  }
}
