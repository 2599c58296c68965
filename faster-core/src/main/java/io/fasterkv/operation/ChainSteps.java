package io.fasterkv.operation;

import io.fasterkv.api.RegionHits;
import io.fasterkv.memory.Words;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * How long the walks along chains were, where they ended, and what became of the live bytes, of all
 * sessions together. Each session counts for itself in a {@link Stripe}, with plain additions; who
 * asks for the sums reads them while they change, so they may lag behind by a little.
 */
public final class ChainSteps {
  private final List<Stripe> stripes = new ArrayList<>();
  private final Deque<Stripe> free = new ArrayDeque<>();

  /** What one session counts, in cache lines of its own; one thread at a time. */
  static final class Stripe {
    private static final int MOST_LOOKS = 1000;
    private static final int PADDING = 128 / Long.BYTES;
    private static final int WALKS = PADDING;
    private static final int IN_MEMORY = PADDING + 1;
    private static final int ON_DISK = PADDING + 2;
    private static final int MADE_BYTES = PADDING + 3;
    private static final int ENDED = PADDING + 4;
    private static final int LARGEST_BYTES = PADDING + 5;
    private static final int HITS = PADDING + 6;
    private static final int ACCEPTED = PADDING + 7;
    private static final int MUTABLE = PADDING + 8;
    private static final int READ_ONLY = PADDING + 9;
    private static final int DISK = PADDING + 10;
    private static final int LOST_BYTES = PADDING + 11;

    private final long[] counts = new long[3 * PADDING];

    void walked(int records) {
      counts[WALKS]++;
      counts[IN_MEMORY] += records;
    }

    /**
     * So many operations, each with a walk that ended at the first record it looked at, in the
     * mutable region unless {@link #hitReadOnly} says otherwise.
     */
    void hit(int operations) {
      counts[HITS] += operations;
    }

    /** Of those that are a {@link #hit}, so many ended in the read-only region. */
    void hitReadOnly(int operations) {
      counts[MUTABLE] -= operations;
      counts[READ_ONLY] += operations;
    }

    /** Where an operation that was no {@link #hit} has found its key. */
    void found(Region region) {
      switch (region) {
        case NONE -> {}
        case MUTABLE -> counts[MUTABLE]++;
        case READ_ONLY -> counts[READ_ONLY]++;
        case DISK -> counts[DISK]++;
      }
    }

    /** An operation that was no {@link #hit} has taken effect, or is pending and will. */
    void accepted() {
      counts[ACCEPTED]++;
    }

    /**
     * How many operations there were. Who asks on another thread has waited for the epochs in which
     * they were counted.
     */
    long operations() {
      return counts[HITS] + counts[ACCEPTED];
    }

    void readFromDisk() {
      counts[ON_DISK]++;
    }

    /** A key that had no value has got one. */
    void created(long bytes) {
      counts[MADE_BYTES] += bytes;
      counts[LARGEST_BYTES] = Math.max(counts[LARGEST_BYTES], bytes);
    }

    /**
     * A value has taken the place of another.
     *
     * @param oldBytes how large that was, or {@link Operation#UNKNOWN_BYTES}
     */
    void replaced(long bytes, long oldBytes) {
      created(bytes);
      ended(oldBytes);
    }

    /**
     * A key has lost its value.
     *
     * @param bytes how large that was, or {@link Operation#UNKNOWN_BYTES}
     */
    void ended(long bytes) {
      if (bytes == Operation.UNKNOWN_BYTES) {
        counts[ENDED]++;
      } else {
        counts[LOST_BYTES] += bytes;
      }
    }

    /** What the session did, read while it goes on; not for ever. */
    private Growth growth() {
      long made = 0;
      long lost = 0;
      long ended = 0;
      boolean isOfOneMoment = false;
      for (int look = 0; look < MOST_LOOKS && !isOfOneMoment; look++) {
        made = counts[MADE_BYTES];
        Words.acquireFence();
        lost = counts[LOST_BYTES];
        ended = counts[ENDED];
        Words.acquireFence();
        isOfOneMoment = counts[MADE_BYTES] == made;
      }
      return new Growth(made, lost, ended, counts[LARGEST_BYTES]);
    }
  }

  /**
   * What operations did to the live bytes, since the store was opened.
   *
   * @param madeBytes of records that got into their chains
   * @param lostBytes of records that were live and are not any more, where their sizes were seen
   * @param ended how many more were live and are not any more: what is written without a look at
   *     what was there, or is large
   * @param largestBytes of one of those that were made
   */
  public record Growth(long madeBytes, long lostBytes, long ended, long largestBytes) {
    /** What has happened before anything has. */
    public static final Growth NONE = new Growth(0, 0, 0, 0);

    /**
     * By how many bytes at least what is live has grown since an earlier moment; below zero if it
     * may have shrunk.
     */
    public long since(Growth earlier) {
      return madeBytes - earlier.madeBytes - lostSince(earlier);
    }

    /**
     * By how many bytes at least what is live has grown: {@link #since}, but what ended unseen is
     * not taken to be more than what was made.
     */
    public long leastSince(Growth earlier) {
      long seen = madeBytes - earlier.madeBytes - (lostBytes - earlier.lostBytes);
      return Math.max(since(earlier), Math.min(0, seen));
    }

    /**
     * How many bytes at most have ended since: each record whose size nobody saw as if it were the
     * largest. No more than half of what a long holds, so that sums of two do not overflow.
     */
    public long lostSince(Growth earlier) {
      long seen = lostBytes - earlier.lostBytes;
      long records = ended - earlier.ended;
      long most = Long.MAX_VALUE / 2 - seen;
      return seen + (records > 0 && largestBytes > most / records ? most : records * largestBytes);
    }

    private Growth plus(Growth other) {
      return new Growth(
          madeBytes + other.madeBytes,
          lostBytes + other.lostBytes,
          ended + other.ended,
          Math.max(largestBytes, other.largestBytes));
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

  /**
   * See {@link Growth}. What one session has made and ended is of one moment, but for the operation
   * it is at: else who is interrupted between the two would take what was replaced meanwhile for
   * growth.
   */
  public synchronized Growth growth() {
    Growth sum = Growth.NONE;
    for (Stripe stripe : stripes) {
      sum = sum.plus(stripe.growth());
    }
    return sum;
  }

  public synchronized RegionHits regionHits() {
    long mutable = 0;
    long readOnly = 0;
    long disk = 0;
    for (Stripe stripe : stripes) {
      // Read at two moments, the sum may be below zero for one.
      mutable += Math.max(0, stripe.counts[Stripe.HITS] + stripe.counts[Stripe.MUTABLE]);
      readOnly += stripe.counts[Stripe.READ_ONLY];
      disk += stripe.counts[Stripe.DISK];
    }
    return new RegionHits(mutable, readOnly, disk);
  }

  public synchronized Sums sums() {
    long walks = 0;
    long inMemory = 0;
    long onDisk = 0;
    for (Stripe stripe : stripes) {
      walks += stripe.counts[Stripe.WALKS] + stripe.counts[Stripe.HITS];
      inMemory += stripe.counts[Stripe.IN_MEMORY] + stripe.counts[Stripe.HITS];
      onDisk += stripe.counts[Stripe.ON_DISK];
    }
    return new Sums(walks, inMemory, onDisk);
  }
}
