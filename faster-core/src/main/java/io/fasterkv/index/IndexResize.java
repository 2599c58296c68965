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
 * <p>The buckets are divided into chunks. The thread that claims a chunk moves it: an operation
 * that needs it, or the thread that resizes. What each side may observe: no operation enters before
 * {@link #open()}, which is called after every operation that may have entered the old table has
 * left; so the old table does not change while it is read. The claim is a compare-and-set. The mark
 * that a chunk has been moved is a volatile store after all stores to its new buckets. An operation
 * loads the mark before it reads a new bucket, so it sees a complete bucket or is refused. Without
 * the wait before {@code open}, an operation could put a record into an entry that has already been
 * copied, and the record would be lost.
 *
 * <p>The paper lets operations continue in its PREPARE phase and counts them in and out of each
 * chunk. Here a session is protected for one operation or batch at a time, so operations are
 * refused for as long as the slowest of those takes; see docs/decisions/0013.
 */
public final class IndexResize {
  /** Number of buckets of the larger table in a chunk. */
  private static final int MAX_CHUNK_BUCKETS = 512;

  private static final int MIN_CHUNKS = 64;

  /** States of a chunk are negative; zero and above mean that it is free, with this progress. */
  private static final long CLAIMED = -1;

  private static final long MOVED = -2;

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

  /** The mover of buckets once the resize is open, or {@link #CANCELLED}. */
  private final AtomicReference<@Nullable BucketMover> mover = new AtomicReference<>();

  /** Creates a resize to a table with a multiple of the main buckets, or half of them. */
  public IndexResize(IndexTable from, IndexTable to, Chains chains) {
    this.from = from;
    this.to = to;
    this.chains = chains;
    buckets = Math.min(from.mainBuckets(), to.mainBuckets());
    long factor = Math.max(from.mainBuckets(), to.mainBuckets()) / buckets;
    int most = (int) Math.max(1, MAX_CHUNK_BUCKETS / factor);
    chunkBuckets = Math.clamp(buckets / MIN_CHUNKS, 1, most);
    chunks = new AtomicLongArray(Math.toIntExact(Math.ceilDiv(buckets, chunkBuckets)));
    chunksLeft = new AtomicInteger(chunks.length());
  }

  /**
   * Lets operations in, unless the resize is cancelled. From here on no thread uses the old table.
   */
  public void open() {
    if (mover.get() == null) {
      mover.compareAndSet(
          null, needsLog() ? new BucketMerge(from, to, chains) : new BucketSplit(from, to, chains));
    }
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
   * The new table if it has the bucket of a hash; otherwise null: the caller must leave its epoch
   * and retry.
   */
  public @Nullable IndexTable tableFor(long hash) {
    int chunk = (int) (Math.unsignedMultiplyHigh(hash, buckets) / chunkBuckets);
    return chunks.get(chunk) == MOVED || move(chunk) ? to : null;
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
