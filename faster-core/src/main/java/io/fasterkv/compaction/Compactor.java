package io.fasterkv.compaction;

import io.fasterkv.api.CompactionStats;
import io.fasterkv.index.IndexCleaner;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.LargeMover;
import io.fasterkv.operation.RecordMover;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Reclaims the head of the log by rolling what is live to its tail (SIGMOD'18, appendix C). Dead
 * records and tombstones stay behind: everything older than they are lies in the part that is
 * dropped. Runs beside any number of sessions; a second compaction waits for the first.
 */
public final class Compactor {
  private final Engine engine;
  private final IndexCleaner cleaner;

  /** Held while a record is moved, and while the begin moves by expiry; fair, so that it can. */
  private final ReentrantLock moving = new ReentrantLock(true);

  private final LongAdder passes = new LongAdder();
  private final LongAdder scannedBytes = new LongAdder();
  private final LongAdder movedBytes = new LongAdder();
  private final LongAdder movedRecords = new LongAdder();

  public Compactor(Engine engine) {
    this.engine = engine;
    cleaner = new IndexCleaner(engine.index(), engine.epochs());
  }

  /**
   * Compacts from the log's begin up to {@code until}, or as much of that as is on disk, in whole
   * pages, and moves the begin there. Returns how many bytes of the log that was.
   */
  public synchronized long compact(long until) {
    return compact(until, Pace.unlimited());
  }

  /** As {@link #compact(long)}, no faster than {@code pace}; 0 if that has ended it. */
  synchronized long compact(long until, Pace pace) {
    HybridLog log = engine.log();
    long begin = log.pin();
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
      log.unpin(begin);
    }
  }

  /** What was done so far. */
  public CompactionStats stats() {
    return new CompactionStats(
        passes.sum(), scannedBytes.sum(), movedBytes.sum(), movedRecords.sum());
  }

  /** Frees the index entries of chains of which nothing is left. */
  public void cleanIndex() {
    cleaner.clean(engine.log().removableBelow());
  }

  void whileNothingMoves(Runnable action) {
    moving.lock();
    try {
      action.run();
    } finally {
      moving.unlock();
    }
  }

  private boolean roll(long begin, long end, Pace pace) {
    long paidUntil = begin;
    try (Movers movers = new Movers(engine);
        ScanCursor scan = engine.scan(ScanRange.whole(begin, end)).withFirstChunks()) {
      while (scan.next()) {
        if (scan.address() >= paidUntil) {
          long until = engine.log().pageEnd(scan.address());
          if (!pace.allows(until - paidUntil)) {
            return false;
          }
          paidUntil = until;
        }
        if (movers.isWorthALook(scan)) {
          roll(scan, movers);
        }
      }
    }
    return true;
  }

  private void roll(ScanCursor scan, Movers movers) {
    moving.lock();
    try {
      // What has expired meanwhile must not come back.
      if (scan.address() >= engine.log().beginAddress()) {
        long bytes = movers.moveIfLive(scan);
        movedRecords.add(bytes > 0 ? 1 : 0);
        movedBytes.add(bytes);
      }
    } finally {
      moving.unlock();
    }
  }

  /** What moves records, and large values if there are any. */
  private static final class Movers implements AutoCloseable {
    private final Engine engine;
    private final RecordMover records;
    private @Nullable LargeMover large;

    Movers(Engine engine) {
      this.engine = engine;
      records = new RecordMover(engine);
    }

    /** An anchor is not: its value is moved, or not, when its first chunk is come to. */
    boolean isWorthALook(ScanCursor scan) {
      return scan.isChunk() || (!scan.isLarge() && !scan.isTombstone() && !scan.isOverwritten());
    }

    /** Moves what the scan is at if it is live; returns how many bytes that took. */
    long moveIfLive(ScanCursor scan) {
      if (scan.isChunk()) {
        if (large == null) {
          large = new LargeMover(engine);
        }
        return large.moveIfLive(scan.address(), scan.key());
      }
      boolean isLive = records.moveIfLive(scan.address(), scan.key(), scan.value());
      return isLive ? engine.layout().recordBytes(scan.key().length(), scan.value().length()) : 0;
    }

    @Override
    public void close() {
      records.close();
      if (large != null) {
        large.close();
      }
    }
  }
}
