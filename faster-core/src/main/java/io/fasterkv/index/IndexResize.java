package io.fasterkv.index;

import io.fasterkv.memory.StackReserve;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One growth of the index by a whole factor, or shrinkage by two, while operations go on
 * (SIGMOD'18, appendix B).
 *
 * <p>The buckets are divided into chunks. A chunk is moved by whoever claims it: an operation that
 * needs it, or the thread that resizes. What each side may observe: until {@link #open()} nobody is
 * let in, and it is called when everybody who may have entered the old table has left; so nobody
 * changes the old table while it is read. The claim is a compare-and-set, and the mark that a chunk
 * has been moved is a volatile store after all stores to its new buckets; an operation loads the
 * mark before it reads a new bucket, so it sees the bucket whole or is turned away. Without the
 * wait before {@code open}, an operation could put a record into an entry that has been copied
 * already, and the record would be lost.
 *
 * <p>The paper lets operations run on in its PREPARE phase and counts them in and out of each
 * chunk. Here a session is protected for one operation or batch at a time, so operations are turned
 * away for as long as the slowest of those takes; see docs/decisions/0013.
 */
public final class IndexResize {
  /** Buckets of the larger table. */
  private static final int MAX_CHUNK_BUCKETS = 512;

  private static final int MIN_CHUNKS = 64;

  /** States of a chunk below zero; at zero and above, it is free and this is its progress. */
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

  /** A resize of a table of which {@code to} has a multiple of the main buckets, or half. */
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

  /** Whether chunks may have to wait for room in the log. */
  public boolean needsLog() {
    return to.mainBuckets() < from.mainBuckets();
  }

  /**
   * How many forks a shrinkage makes at most; for who keeps the old table from being changed.
   *
   * @param isExact whether to look at all buckets, which is more often the truth
   */
  public long forksAtMost(boolean isExact) {
    return isExact ? BucketMerge.forksAtMost(from, to) : BucketMerge.guessForksAtMost(from);
  }

  /** How many chunks there are. */
  public int chunks() {
    return chunks.length();
  }

  /** How many chunks have yet to be moved. */
  public int chunksLeft() {
    return chunksLeft.get();
  }

  /**
   * Moves a chunk if nobody is at it. Returns whether it has been moved, by this thread or another.
   * The caller is protected; if this returns false, it leaves its epoch before it asks again.
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

  /** The new table, when it has the bucket of a hash; else null: leave the epoch and come again. */
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

  /** Progress is a bucket of the chunk and the step that is next there. */
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
