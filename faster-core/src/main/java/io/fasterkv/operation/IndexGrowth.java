package io.fasterkv.operation;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.ChainSteps.Growth;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets an index that has begun with a part of its memory take the rest, once, on a thread of its
 * own: when chains outgrow their buckets. An index that is no larger than it has to be lies in
 * fewer lines and pages of memory, which is what operations in memory wait for.
 *
 * <p>What is on disk cannot be told apart by a growth: an entry that leads there is made once for
 * each part of its bucket, and stays until compaction has come by. So where the log fills with
 * records of new keys, the index grows before the first of them leave memory.
 */
public final class IndexGrowth implements AutoCloseable {
  private static final long LOOK_NANOS = 10_000_000;

  /** An eighth of the overflow buckets is in use where buckets have four entries on average. */
  private static final long OVERFLOW_SHARE = 8;

  /** Records are about to leave memory when half of it is used. */
  private static final long LOG_SHARE = 2;

  /** New keys fill a log of which a quarter is live, not updates of the same ones. */
  private static final long LIVE_SHARE = 4;

  /** Places in the epoch table that others have come free in a second, or are theirs for good. */
  private static final int MAX_FAILURES = 100;

  private final Engine engine;
  private final IndexResizer resizer;
  private final long indexBytes;
  private final long logBytes;

  /** What the log was opened with; nobody knows how much of it is live. */
  private final long recoveredBytes;

  private final Thread thread;
  private volatile boolean isClosed;
  private volatile boolean isOver;

  /**
   * Creates a thread that {@link #start} starts.
   *
   * @param indexBytes what both tables may have together while the index grows
   * @param logBytes the log's memory
   */
  public IndexGrowth(Engine engine, IndexResizer resizer, long indexBytes, long logBytes) {
    this.engine = engine;
    this.resizer = resizer;
    this.indexBytes = indexBytes;
    this.logBytes = logBytes;
    recoveredBytes = usedBytes(engine.log());
    thread = engine.log().failure().thread("faster-index-growth", this::run);
  }

  public void start() {
    thread.start();
  }

  /** Ends the thread, after the growth if it is at that. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  /** Whether the index has all its memory, or will not get it. */
  public boolean isOver() {
    return isOver;
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
      if (areBucketsOutgrown() || isLogFilling()) {
        try {
          resizer.refine(indexBytes);
          return;
        } catch (OutOfBudget e) {
          if (++failures == MAX_FAILURES) {
            System.getLogger("io.fasterkv")
                .log(Level.WARNING, "the index keeps the size that it began with", e);
            return;
          }
        }
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private boolean isLogFilling() {
    HybridLog log = engine.log();
    long used = usedBytes(log);
    return !log.isInMemory() && used * LOG_SHARE >= logBytes && liveBytes() >= used / LIVE_SHARE;
  }

  /** What may be live of what was there, and what is of all that came. */
  private long liveBytes() {
    return recoveredBytes + engine.chainSteps().growth().since(Growth.NONE);
  }

  private static long usedBytes(HybridLog log) {
    return log.tailAddress() - log.beginAddress();
  }

  private boolean areBucketsOutgrown() {
    IndexTable table = engine.index().newestTable();
    return table.overflowBucketsUsed() * OVERFLOW_SHARE >= table.geometry().overflowBuckets();
  }
}
