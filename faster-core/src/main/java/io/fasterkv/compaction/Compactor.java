package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.RecordMover;

/**
 * Reclaims the head of the log by rolling what is live to its tail (SIGMOD'18, appendix C). Dead
 * records and tombstones stay behind: everything older than they are lies in the part that is
 * dropped. Runs beside any number of sessions; a second compaction waits for the first.
 */
public final class Compactor {
  private final Engine engine;

  public Compactor(Engine engine) {
    this.engine = engine;
  }

  /**
   * Compacts from the log's begin up to {@code until}, or as much of that as is on disk, in whole
   * pages, and moves the begin there. Returns how many bytes of the log that was.
   */
  public synchronized long compact(long until) {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    long end = Math.min(until, log.flushedAddress()) & -log.pageBytes();
    if (end <= begin) {
      return 0;
    }
    try (ScanCursor scan = engine.scan(ScanRange.whole(begin, end));
        RecordMover mover = new RecordMover(engine)) {
      while (scan.next()) {
        if (!scan.isTombstone()) {
          mover.moveIfLive(scan.address(), scan.key(), scan.value());
        }
      }
    }
    log.truncate(end);
    return end - begin;
  }
}
