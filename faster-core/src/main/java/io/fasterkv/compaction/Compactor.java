package io.fasterkv.compaction;

import io.fasterkv.api.CompactionStats;
import io.fasterkv.index.IndexCleaner;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Reclaims the head of the log by rolling what is live to its tail (SIGMOD'18, appendix C). Dead
 * records and tombstones stay behind: everything older than they are lies in the part that is
 * dropped. So do live records that the store's {@link io.fasterkv.api.KeepRule} does not ask for.
 * Runs beside any number of sessions; a second compaction waits for the first.
 */
public final class Compactor {
  private final Engine engine;
  private final IndexCleaner cleaner;

  /** Held while a record is moved, and while the begin moves by expiry; fair, so that it can. */
  private final ReentrantLock moving = new ReentrantLock(true);

  private volatile boolean isStopped;
  private final RollCosts costs = new RollCosts();
  private final LongAdder passes = new LongAdder();
  private final LongAdder scannedBytes = new LongAdder();
  private final LongAdder movedBytes = new LongAdder();
  private final LongAdder movedRecords = new LongAdder();
  private final LongAdder expiredBytes = new LongAdder();

  public Compactor(Engine engine) {
    this.engine = engine;
    cleaner = new IndexCleaner(engine.index(), engine.epochs());
    // What a resize or a checkpoint waits for must not wait for compaction, which waits for these.
    engine
        .log()
        .brake()
        .suspendWhile(() -> engine.index().stableTable() == null || engine.versions().isShifting());
  }

  /**
   * Compacts from the log's begin up to {@code until}, or as much of that as is on disk, in whole
   * pages, and moves the begin there. Returns how many bytes of the log that was; 0 if it was
   * {@link #stop stopped}.
   */
  public synchronized long compact(long until) {
    return compact(until, new Pace(0, this::isStopped));
  }

  /**
   * Ends passes early that a caller of the store has asked for: the store is going to be closed.
   */
  public void stop() {
    isStopped = true;
  }

  boolean isStopped() {
    return isStopped;
  }

  /** As {@link #compact(long)}, no faster than {@code pace}; 0 if that has ended it. */
  synchronized long compact(long until, Pace pace) {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    log.brake().exempt(Thread.currentThread());
    try {
      long end = Math.min(until, log.compactableUntil()) & -log.pageBytes();
      if (end <= begin || !roll(begin, end, pace)) {
        return 0;
      }
      log.truncate(end);
      passes.increment();
      scannedBytes.add(end - begin);
      return end - begin;
    } finally {
      log.brake().exempt(null);
      log.holds().unpinBrief(begin);
    }
  }

  /**
   * Rolls what is live of the page that the log begins with, and drops it. It ends at {@code end},
   * and is read-only. Nothing happens if a large value is being written there.
   */
  synchronized void compactFrozen(long end, Movers movers) {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    log.brake().exempt(Thread.currentThread());
    try {
      if (log.compactableUntil() < end) {
        return;
      }
      try (ScanCursor scan = engine.scan(ScanRange.whole(begin, end)).withFirstChunks()) {
        while (scan.next()) {
          if (Movers.isWorthALook(scan)) {
            movers.touchAhead(scan);
            move(scan, movers, scan.address() + 1);
          }
        }
      }
      log.truncate(end);
      passes.increment();
      scannedBytes.add(end - begin);
    } finally {
      log.brake().exempt(null);
      log.holds().unpinBrief(begin);
    }
  }

  /** What was done so far. */
  public CompactionStats stats() {
    return new CompactionStats(
        passes.sum(), scannedBytes.sum(), movedBytes.sum(), movedRecords.sum(), expiredBytes.sum());
  }

  /** Frees the index entries of chains of which nothing is left. */
  public void cleanIndex() {
    cleaner.clean(engine.log().removableBelow());
  }

  /** Looks at the log while no pass does: scratch memory may do for one of them only. */
  synchronized <T> T whileNonePasses(Supplier<T> look) {
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
   * How much slower than measured it is taken to be to follow chains, when the cheaper way to find
   * out what is live is chosen: 0 to always follow them, infinity to never do. For tests.
   */
  public void weighChains(double weight) {
    costs.weighChains(weight);
  }

  private boolean roll(long begin, long end, Pace pace) {
    ScanRange piece = ScanRange.whole(begin, end);
    try (Roll roll = new Roll(engine, piece, pace, this::move, costs)) {
      return roll.run();
    }
  }

  private void move(ScanCursor scan, Movers movers, long newerFrom) {
    moving.lock();
    try {
      // What has expired meanwhile must not come back.
      if (scan.address() >= engine.log().beginAddress()) {
        long bytes = movers.moveIfLive(scan, newerFrom);
        movedRecords.add(bytes > 0 ? 1 : 0);
        movedBytes.add(bytes);
        expiredBytes.add(movers.letGoBytes());
      }
    } finally {
      moving.unlock();
    }
  }
}
