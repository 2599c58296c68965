package io.fasterkv.operation.resize;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.index.IndexTable;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gives an index that started with a part of its memory the rest, once, on a thread of its own,
 * when its chains outgrow their buckets. An index that is no larger than necessary occupies fewer
 * cache lines and pages, which determine the speed of operations in memory.
 *
 * <p>The thread looks at the index every 10 ms, and at once when overflow buckets become scarce.
 */
public final class IndexGrowth implements AutoCloseable {
  private static final long LOOK_NANOS = 10_000_000;

  /** With four entries in a bucket on average, an eighth of the overflow buckets is in use. */
  private static final long OVERFLOW_SHARE = 8;

  /** A growth is worth it if the index then has this many times its memory. */
  private static final long WORTHWHILE = 4;

  /** Epoch slots in use by others either become free within a second or are in use for long. */
  private static final int MAX_FAILURES = 100;

  private final Engine engine;
  private final IndexResizer resizer;

  /** Falls when memory that the index has not taken yet is released; under the size lock. */
  private volatile long indexBytes;

  private final Thread thread;
  private volatile boolean isClosed;
  private volatile boolean isOver;

  /**
   * Creates a thread that {@link #start} starts.
   *
   * @param indexBytes maximum memory of both tables while the index grows
   */
  public IndexGrowth(Engine engine, IndexResizer resizer, long indexBytes) {
    this.engine = engine;
    this.resizer = resizer;
    this.indexBytes = indexBytes;
    thread = engine.log().failure().thread("faster-index-growth", this::run);
  }

  public void start() {
    engine
        .index()
        .onScarce(() -> {
          if (!isOver) {
            LockSupport.unpark(thread);
          }
        });
    thread.start();
  }

  /** Ends the thread, after a growth that is in progress. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  /** Whether the index has all its memory or will not get it. */
  public boolean isOver() {
    return isOver;
  }

  /** Bytes that the index may take and has not. */
  long spareBytes() {
    return isOver ? 0 : Math.max(0, indexBytes - engine.index().newestTable().geometry().bytes());
  }

  /** The part of {@link #spareBytes} that a worthwhile growth leaves; 0 during a growth. */
  long unneededBytes() {
    long now = engine.index().newestTable().geometry().bytes();
    boolean isBusy = engine.index().sizeLock().isLocked();
    return isBusy ? 0 : Math.max(0, spareBytes() - WORTHWHILE * now);
  }

  /**
   * Releases at most so many bytes that the index has not taken yet: it will grow by less, or not
   * at all. Returns the number of bytes, by which the budget was lowered; 0 during a resize.
   */
  long releaseSpare(long most, MemoryBudget budget) {
    ReentrantLock size = engine.index().sizeLock();
    if (!size.tryLock()) {
      return 0;
    }
    try {
      long given = Math.min(most, spareBytes());
      if (given <= 0 || !budget.tryLowerLimit(given)) {
        return 0;
      }
      indexBytes -= given;
      return given;
    } finally {
      size.unlock();
    }
  }

  private void run() {
    try {
      growOnce();
    } finally {
      isOver = true;
    }
  }

  private void growOnce() {
    int failures = 0;
    while (!isClosed) {
      if (areBucketsOutgrown()) {
        try {
          resizer.refine(indexBytes);
          return;
        } catch (OutOfBudget e) {
          if (++failures == MAX_FAILURES) {
            giveUp(e);
            return;
          }
          pause();
        }
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  /** Waits for a look's time, however often the thread is woken. */
  private void pause() {
    long until = System.nanoTime() + LOOK_NANOS;
    for (long left = LOOK_NANOS; left > 0 && !isClosed; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private void giveUp(OutOfBudget cause) {
    String line =
        "the index cannot grow and keeps its size: attempts="
            + MAX_FAILURES
            + ", indexBytes="
            + engine.index().newestTable().geometry().bytes();
    engine.log().failure().logger().log(Level.WARNING, line, cause);
  }

  private boolean areBucketsOutgrown() {
    IndexTable table = engine.index().newestTable();
    return table.overflowBucketsUsed() * OVERFLOW_SHARE >= table.geometry().overflowBuckets();
  }
}
