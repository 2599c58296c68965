package io.fasterkv.compaction;

import io.fasterkv.api.statistics.CompactionStats;
import io.fasterkv.index.IndexCleaner;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Reclaims the head of the log by copying live records to its tail (SIGMOD'18, appendix C). Dead
 * records and tombstones are not copied: everything older than they are is in the part that is
 * dropped. The same goes for live records that the store's {@link io.fasterkv.api.config.KeepRule}
 * does not keep. Runs while sessions continue; a second compaction waits for the first.
 */
public final class Compactor {
  private final Engine engine;
  private final IndexCleaner cleaner;

  /**
   * Held while a record is moved, and while expiry moves the begin address; fair, so that expiry is
   * not starved.
   */
  private final ReentrantLock moving = new ReentrantLock(true);

  private volatile boolean isStopped;
  private final CompactionCosts costs = new CompactionCosts();
  private final LongAdder passes = new LongAdder();
  private final LongAdder scannedBytes = new LongAdder();
  private final LongAdder movedBytes = new LongAdder();
  private final LongAdder movedRecords = new LongAdder();
  private final LongAdder expiredBytes = new LongAdder();

  public Compactor(Engine engine) {
    this.engine = engine;
    cleaner = new IndexCleaner(engine.index(), engine.epochs());
    // Shrinkages and checkpoints wait for such operations, so they must not depend on compaction,
    // which waits for them.
    engine
        .log()
        .tailLimit()
        .suspendWhile(() -> engine.index().isHeldUp() || engine.versions().isShifting());
  }

  /**
   * Compacts from the log's begin address up to {@code until}, or as much of that as is on disk,
   * and moves the begin address there. It ends at the end of a page unless a cut ends at {@code
   * until}. Returns the number of bytes of the compacted part; 0 if it was {@link #stop stopped}.
   */
  public synchronized long compact(long until) {
    return compact(until, new Pace(0, this::isStopped));
  }

  /** Ends runs early that the store's caller has requested, because the store is closing. */
  public void stop() {
    isStopped = true;
  }

  boolean isStopped() {
    return isStopped;
  }

  /**
   * Like {@link #compact(long)}, no faster than {@code pace}; returns 0 if the pace has ended it.
   */
  synchronized long compact(long until, Pace pace) {
    HybridLog log = engine.log();
    long begin = log.pins().pinBriefly();
    log.tailLimit().exempt(Thread.currentThread());
    try {
      long end = endFor(Math.min(until, log.compactableUntil()));
      if (end <= begin || !compact(begin, end, pace)) {
        return 0;
      }
      log.truncate(end);
      passes.increment();
      scannedBytes.add(end - begin);
      return end - begin;
    } finally {
      log.tailLimit().exempt(null);
      log.pins().unpinBrief(begin);
    }
  }

  /** The last end of a page at or below {@code until}, or {@code until} if a cut ends there. */
  private long endFor(long until) {
    HybridLog log = engine.log();
    return log.extents().boundaryUntil(until) == until ? until : until & -log.pageBytes();
  }

  /**
   * Copies the live records of the log's first page to the tail and drops the page. The page must
   * end at {@code end} and be read-only. Does nothing if a large value is being written there.
   */
  synchronized void compactFrozen(long end, Movers movers) {
    HybridLog log = engine.log();
    long begin = log.pins().pinBriefly();
    log.tailLimit().exempt(Thread.currentThread());
    try {
      if (log.compactableUntil() < end) {
        return;
      }
      try (ScanCursor scan = engine.scan(ScanRange.whole(begin, end)).withFirstChunks()) {
        while (scan.next()) {
          if (Movers.mayMove(scan)) {
            movers.prefetch(scan);
            move(scan, movers, scan.address() + 1);
          }
        }
      }
      log.truncate(end);
      passes.increment();
      scannedBytes.add(end - begin);
    } finally {
      log.tailLimit().exempt(null);
      log.pins().unpinBrief(begin);
    }
  }

  /** Totals so far. */
  public CompactionStats stats() {
    return new CompactionStats(
        passes.sum(), scannedBytes.sum(), movedBytes.sum(), movedRecords.sum(), expiredBytes.sum());
  }

  /** Frees the index entries of chains that were dropped completely. */
  public void cleanIndex() {
    cleaner.clean(engine.log().removableBelow());
  }

  /**
   * Runs a sample while no run is in progress: there may be scratch memory for only one of them.
   */
  synchronized <T> T whileNoneRuns(Supplier<T> look) {
    return look.get();
  }

  void whileNothingMoves(Runnable action) {
    moving.lock();
    try {
      action.run();
    } finally {
      moving.unlock();
    }
  }

  /**
   * Sets a factor for the measured cost of following chains, which decides between the two ways to
   * find live records: 0 always follows them, infinity never does. For tests.
   */
  public void weighChains(double weight) {
    costs.weighChains(weight);
  }

  private boolean compact(long begin, long end, Pace pace) {
    ScanRange piece = ScanRange.whole(begin, end);
    try (LogCompaction compaction = new LogCompaction(engine, piece, pace, this::move, costs)) {
      return compaction.run();
    }
  }

  private void move(ScanCursor scan, Movers movers, long newerFrom) {
    moving.lock();
    try {
      // A record that has expired meanwhile must not be copied.
      if (scan.address() >= engine.log().beginAddress()) {
        long bytes = movers.moveIfLive(scan, newerFrom);
        movedRecords.add(bytes > 0 ? 1 : 0);
        movedBytes.add(bytes);
        expiredBytes.add(movers.droppedBytes());
      }
    } finally {
      moving.unlock();
    }
  }
}
