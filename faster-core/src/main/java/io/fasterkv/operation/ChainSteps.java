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

  /** What one session counts; one thread at a time. */
  static final class Stripe {
    private long walks;
    private long inMemory;
    private long onDisk;

    void walked(int records) {
      walks++;
      inMemory += records;
    }

    void readFromDisk() {
      onDisk++;
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
      walks += stripe.walks;
      inMemory += stripe.inMemory;
      onDisk += stripe.onDisk;
    }
    return new Sums(walks, inMemory, onDisk);
  }
}
