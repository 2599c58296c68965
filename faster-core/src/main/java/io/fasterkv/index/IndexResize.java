package io.fasterkv.index;

import io.fasterkv.memory.StackReserve;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One growth of the index by a whole factor, or shrinkage by two, while operations continue
 * (SIGMOD'18, appendix B).
 *
 * <p>The buckets are divided into chunks. No operation enters before {@link #open()}, which is
 * called after every operation that may have entered the old table has left.
 *
 * <p>In a growth operations then continue in the old table. The thread that resizes {@linkplain
 * #close closes} a few chunks at a time: operations that need them are refused, and all others
 * continue. When every operation that may have entered such a chunk has left, the chunk is
 * {@linkplain #free freed} and moved. In a shrinkage, which must know its forks beforehand, all
 * chunks are free from the start.
 *
 * <p>The thread that claims a free chunk moves it: an operation that needs it, or the thread that
 * resizes. What each side may observe: a chunk's old buckets do not change while they are read. An
 * operation protects itself before it loads the state of a chunk, and the state changes before the
 * epoch is bumped; so an operation that has found the chunk open is waited for. The claim is a
 * compare-and-set. The mark that a chunk has been moved is a volatile store after all stores to its
 * new buckets. An operation loads the mark before it reads a new bucket, so it sees a complete
 * bucket or is refused. Without the waits, an operation could put a record into an entry that has
 * already been copied, and the record would be lost.
 *
 * <p>The paper lets operations continue in its PREPARE phase and counts them in and out of each
 * chunk. Here a session is protected for one operation or batch at a time, so a bump of the epoch
 * does the same for a few chunks; see docs/decisions/0013.
 */
public final class IndexResize {
  /**
   * Number of buckets of the smaller table in a chunk, unless there are more than {@link
   * #MOST_CHUNKS}. An operation waits for one chunk at most.
   */
  private static final int MAX_CHUNK_BUCKETS = 32;

  private static final int MOST_CHUNKS = 1 << 18;

  private static final int MIN_CHUNKS = 64;

  /** States of a chunk are negative; zero and above mean that it is free, with this progress. */
  private static final long CLAIMED = -1;

  private static final long MOVED = -2;

  /** Operations use the chunk in the old table. */
  private static final long IN_USE = -3;

  /** This and smaller numbers mean that the chunk is closed, by attempts of different numbers. */
  private static final long CLOSED = -4;

  private static final BucketMover CANCELLED =
      (bucket, step) -> {
        throw new IllegalStateException("the resize was cancelled");
      };

  private final IndexTable from;
  private final IndexTable to;
  private final Chains chains;
  private final long buckets;
  private final int chunkBuckets;
  private final AtomicLongArray chunks;
  private final AtomicInteger chunksLeft;

  /** State of the chunks that are closed next; each attempt has its own. */
  private long nextClosed = CLOSED;

  /** The mover of buckets once the resize is open, or {@link #CANCELLED}. */
  private final AtomicReference<@Nullable BucketMover> mover = new AtomicReference<>();

  /** Creates a resize to a table with a multiple of the main buckets, or half of them. */
  public IndexResize(IndexTable from, IndexTable to, Chains chains) {
    if (from.tagBase() != to.tagBase()) {
      throw new IllegalArgumentException(
          "tables with different tags: tagBase=" + to.tagBase() + ", allowed=" + from.tagBase());
    }
    this.from = from;
    this.to = to;
    this.chains = chains;
    buckets = Math.min(from.mainBuckets(), to.mainBuckets());
    long most = Math.max(MAX_CHUNK_BUCKETS, buckets / MOST_CHUNKS);
    chunkBuckets = (int) Math.clamp(buckets / MIN_CHUNKS, 1, most);
    chunks = new AtomicLongArray(Math.toIntExact(Math.ceilDiv(buckets, chunkBuckets)));
    chunksLeft = new AtomicInteger(chunks.length());
    if (!needsLog()) {
      for (int chunk = 0; chunk < chunks.length(); chunk++) {
        chunks.setPlain(chunk, IN_USE);
      }
    }
  }

  /** Lets operations in, unless the resize is cancelled. */
  public void open() {
    if (mover.get() == null
        && !mover.compareAndSet(null, needsLog() ? new BucketMerge(from, to, chains) : split())) {
      from.overflow().couple(null, 0);
    }
  }

  private BucketSplit split() {
    BucketSplit split = new BucketSplit(from, to, chains);
    from.overflow().couple(to.overflow(), split.sides());
    return split;
  }

  /** Keeps operations out for good; returns false if the resize is open. */
  boolean cancel() {
    return mover.compareAndSet(null, CANCELLED);
  }

  public boolean isOpen() {
    BucketMover opened = mover.get();
    return opened != null && opened != CANCELLED;
  }

  /** Whether moving a chunk may have to wait for room in the log. */
  public boolean needsLog() {
    return to.mainBuckets() < from.mainBuckets();
  }

  /**
   * Maximum number of forks of a shrinkage; the caller must keep the old table from changing.
   *
   * @param isExact whether to examine all buckets for a closer bound
   */
  public long forksAtMost(boolean isExact) {
    return isExact ? BucketMerge.forksAtMost(from, to) : BucketMerge.guessForksAtMost(from);
  }

  /** Number of chunks. */
  public int chunks() {
    return chunks.length();
  }

  /** Number of chunks that are not moved yet. */
  public int chunksLeft() {
    return chunksLeft.get();
  }

  /**
   * Refuses operations that need the chunks {@code first} to {@code end - 1} from now on, for those
   * that are not moved yet. For the thread that resizes, which then calls {@link #free} when all
   * earlier epochs have ended, or {@link #reopen}. Returns a number for these calls; calls with
   * other numbers do nothing. So an action of an attempt that failed does not free a chunk too
   * early.
   */
  public long close(int first, int end) {
    long closed = nextClosed--;
    for (int chunk = first; chunk < end; chunk++) {
      long state = chunks.get(chunk);
      if (state == IN_USE || state <= CLOSED) {
        chunks.compareAndSet(chunk, state, closed);
      }
    }
    return closed;
  }

  /** Lets chunks be moved; all operations that may have used them in the old table have left. */
  public void free(int first, int end, long closed) {
    replace(first, end, closed, 0);
  }

  /** Lets operations use closed chunks in the old table again. */
  public void reopen(int first, int end, long closed) {
    replace(first, end, closed, IN_USE);
  }

  private void replace(int first, int end, long closed, long state) {
    for (int chunk = first; chunk < end; chunk++) {
      chunks.compareAndSet(chunk, closed, state);
    }
  }

  /**
   * Moves a chunk unless another thread is moving it. Returns whether it has been moved, by this
   * thread or another. The caller must be protected; if this returns false, it must leave its epoch
   * before it asks again.
   */
  public boolean move(int chunk) {
    BucketMover opened = mover.get();
    if (opened == null || opened == CANCELLED) {
      return false;
    }
    // A thread that claims a chunk must finish it: no other thread can repeat a half-moved bucket.
    StackReserve.require();
    long progress = chunks.get(chunk);
    if (progress >= 0 && chunks.compareAndSet(chunk, progress, CLAIMED)) {
      moveClaimed(opened, chunk, progress);
    }
    return chunks.get(chunk) == MOVED;
  }

  /**
   * The table that has the bucket of a hash, the old or the new one; null if there is none now: the
   * caller must leave its epoch and retry. The caller must be protected, and may use the table
   * until it leaves its epoch.
   */
  public @Nullable IndexTable tableFor(long hash) {
    int chunk = (int) (Math.unsignedMultiplyHigh(hash, buckets) / chunkBuckets);
    long state = chunks.get(chunk);
    if (state == IN_USE) {
      return isOpen() ? from : null;
    }
    return state == MOVED || move(chunk) ? to : null;
  }

  IndexTable from() {
    return from;
  }

  IndexTable to() {
    return to;
  }

  /** Moves a claimed chunk. Progress is a bucket of the chunk and the next step in it. */
  private void moveClaimed(BucketMover opened, int chunk, long progress) {
    long first = (long) chunk * chunkBuckets;
    long count = Math.min(chunkBuckets, buckets - first);
    long state = progress;
    try {
      long bucket = progress >>> Integer.SIZE;
      int step = (int) progress;
      while (bucket < count) {
        step = opened.move(first + bucket, step);
        if (step != BucketMover.DONE) {
          state = bucket << Integer.SIZE | step;
          return;
        }
        step = 0;
        bucket++;
        state = bucket << Integer.SIZE;
      }
      chunksLeft.decrementAndGet();
      state = MOVED;
    } finally {
      chunks.set(chunk, state);
    }
  }
}
