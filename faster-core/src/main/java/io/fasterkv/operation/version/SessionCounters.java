package io.fasterkv.operation.version;

import io.fasterkv.api.statistics.RegionHits;
import io.fasterkv.memory.Words;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Counts, over all sessions, the lengths of walks along chains, the regions where they ended, and
 * the changes of the live bytes. Each session counts in its own {@link Stripe} with plain
 * additions; a thread that computes the sums reads them while they change, so they may lag
 * slightly.
 */
public final class SessionCounters {
  /** The record was not examined, or has a large value. */
  public static final long UNKNOWN_BYTES = 0;

  private final List<Stripe> stripes = new ArrayList<>();
  private final Deque<Stripe> free = new ArrayDeque<>();

  /** The counters of one session, in cache lines of their own; one thread at a time. */
  public static final class Stripe {
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

    public void walked(int records) {
      counts[WALKS]++;
      counts[IN_MEMORY] += records;
    }

    /**
     * Counts operations whose walk ended at the first record, in the mutable region unless {@link
     * #hitReadOnly} corrects that.
     */
    public void hit(int operations) {
      counts[HITS] += operations;
    }

    /** Notes how many of the {@link #hit} operations ended in the read-only region. */
    public void hitReadOnly(int operations) {
      counts[MUTABLE] -= operations;
      counts[READ_ONLY] += operations;
    }

    /** Counts the region in which an operation that was not a {@link #hit} has found its key. */
    public void found(Region region) {
      switch (region) {
        case NONE -> {}
        case MUTABLE -> counts[MUTABLE]++;
        case READ_ONLY -> counts[READ_ONLY]++;
        case DISK -> counts[DISK]++;
      }
    }

    /**
     * Counts an operation that was not a {@link #hit} and has taken effect, or is pending and will.
     */
    public void accepted() {
      counts[ACCEPTED]++;
    }

    /**
     * Number of operations. A caller on another thread must have waited for the epochs in which
     * they were counted.
     */
    public long operations() {
      return counts[HITS] + counts[ACCEPTED];
    }

    public void readFromDisk() {
      counts[ON_DISK]++;
    }

    /** Counts a value for a key that had none. */
    public void created(long bytes) {
      counts[MADE_BYTES] += bytes;
      counts[LARGEST_BYTES] = Math.max(counts[LARGEST_BYTES], bytes);
    }

    /**
     * Counts a value that replaced another.
     *
     * @param oldBytes length of the old record, or {@link #UNKNOWN_BYTES}
     */
    public void replaced(long bytes, long oldBytes) {
      created(bytes);
      ended(oldBytes);
    }

    /**
     * Counts a value that was deleted.
     *
     * @param bytes length of its record, or {@link #UNKNOWN_BYTES}
     */
    public void ended(long bytes) {
      if (bytes == UNKNOWN_BYTES) {
        counts[ENDED]++;
      } else {
        counts[LOST_BYTES] += bytes;
      }
    }

    /** The session's counts, read while it continues; retries a limited number of times. */
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
   * The changes of the live bytes since the store was opened.
   *
   * @param madeBytes bytes of records that entered their chains
   * @param lostBytes bytes of records that were live and died, if their sizes were seen
   * @param ended number of other records that were live and died: they were overwritten without
   *     being read, or are large
   * @param largestBytes the largest length of a record among those made
   */
  public record Growth(long madeBytes, long lostBytes, long ended, long largestBytes) {
    /** No changes. */
    public static final Growth NONE = new Growth(0, 0, 0, 0);

    /**
     * Lower bound of the growth of the live bytes since an earlier moment; negative if they may
     * have shrunk.
     */
    public long since(Growth earlier) {
      return madeBytes - earlier.madeBytes - lostSince(earlier);
    }

    /**
     * Lower bound of the growth of the live bytes: like {@link #since}, but assumes that no more
     * bytes died unseen than were made.
     */
    public long leastSince(Growth earlier) {
      long seen = madeBytes - earlier.madeBytes - (lostBytes - earlier.lostBytes);
      return Math.max(since(earlier), Math.min(0, seen));
    }

    /**
     * Upper bound of the bytes that have died since: counts each record of unseen size as if it
     * were the largest. At most half of a long's range, so that sums of two do not overflow.
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
   * @param walks number of walks along a chain
   * @param inMemory records and forks examined in memory
   * @param onDisk records and forks read from disk
   */
  public record Sums(long walks, long inMemory, long onDisk) {}

  /** Opens a stripe for a new session; the counts of its earlier users stay. */
  public synchronized Stripe open() {
    Stripe kept = free.poll();
    if (kept != null) {
      return kept;
    }
    Stripe fresh = new Stripe();
    stripes.add(fresh);
    return fresh;
  }

  /** Takes back the stripe of a session that has ended. */
  public synchronized void close(Stripe stripe) {
    free.add(stripe);
  }

  /**
   * The {@link Growth} of all sessions. The counts of one session are consistent except for the
   * operation in progress: otherwise, if this thread were interrupted between reading the two
   * counts, records replaced meanwhile would look like growth.
   */
  public synchronized Growth growth() {
    Growth sum = Growth.NONE;
    for (Stripe stripe : stripes) {
      sum = sum.plus(stripe.growth());
    }
    return sum;
  }

  /** Number of operations of all sessions since the store was opened; it may lag slightly. */
  public synchronized long operations() {
    long sum = 0;
    for (Stripe stripe : stripes) {
      sum += stripe.operations();
    }
    return sum;
  }

  public synchronized RegionHits regionHits() {
    long mutable = 0;
    long readOnly = 0;
    long disk = 0;
    for (Stripe stripe : stripes) {
      // The two counts are read at different times, so their sum may be negative for one stripe.
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
