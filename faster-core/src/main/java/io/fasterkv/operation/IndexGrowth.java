package io.fasterkv.operation;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OwnThread;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets an index that has begun with a part of its memory take the rest, once, on a thread of its
 * own: when chains outgrow their buckets, or half of the log's memory is used. That is before the
 * first records leave memory: what is on disk cannot be told apart by a growth, so an entry that
 * leads there is made once for each part of its bucket.
 *
 * <p>An index that is no larger than it has to be lies in fewer lines and pages of memory, which is
 * what operations in memory wait for.
 */
public final class IndexGrowth implements AutoCloseable {
  private static final long LOOK_NANOS = 10_000_000;

  /** An eighth of the overflow buckets is in use where buckets have four entries on average. */
  private static final long OVERFLOW_SHARE = 8;

  private static final long LOG_SHARE = 2;

  /** Places in the epoch table that others have come free in a second, or are theirs for good. */
  private static final int MAX_FAILURES = 100;

  private final Engine engine;
  private final IndexResizer resizer;
  private final long indexBytes;
  private final long logBytes;
  private final Thread thread;
  private volatile boolean isClosed;

  /**
   * Starts the thread.
   *
   * @param indexBytes what both tables may have together while the index grows
   * @param logBytes the log's memory
   */
  public IndexGrowth(Engine engine, IndexResizer resizer, long indexBytes, long logBytes) {
    this.engine = engine;
    this.resizer = resizer;
    this.indexBytes = indexBytes;
    this.logBytes = logBytes;
    thread = Thread.ofPlatform().daemon().name("faster-index-growth").start(this::run);
  }

  /** Ends the thread, after the growth if it is at that. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  private void run() {
    int failures = 0;
    while (!isClosed) {
      if (isDue()) {
        try {
          resizer.refine(indexBytes);
          return;
        } catch (OutOfBudget e) {
          if (++failures == MAX_FAILURES) {
            System.getLogger("io.fasterkv")
                .log(Level.WARNING, "the index keeps the size that it began with", e);
            return;
          }
        } catch (RuntimeException | Error e) {
          engine.log().fail(e);
          return;
        }
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private boolean isDue() {
    HybridLog log = engine.log();
    IndexTable table = engine.index().newestTable();
    return table.overflowBucketsUsed() * OVERFLOW_SHARE >= table.geometry().overflowBuckets()
        || (log.tailAddress() - log.beginAddress()) * LOG_SHARE >= logBytes;
  }
}
