package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;

/**
 * Drops the head of the log as expired, whether live or not (SIGMOD'18, appendix C). It first makes
 * that part immutable and flushes it, so that nothing is written to released storage; then it moves
 * the begin address, while no record is being moved to the tail; then it cleans the index.
 */
public final class Expiry {
  private final Engine engine;
  private final Compactor compactor;

  public Expiry(Engine engine, Compactor compactor) {
    this.engine = engine;
    this.compactor = compactor;
  }

  /** Drops all records that begin below {@code address}; the caller must not be protected. */
  public void truncate(long address) {
    HybridLog log = engine.log();
    if (address < 0 || address > log.tailAddress()) {
      throw new IllegalArgumentException(
          "an address is outside the log: address="
              + address
              + ", allowed=0 to "
              + log.tailAddress()
              + "; take one from tailAddress or from a scan");
    }
    makeImmutable(address);
    compactor.whileNothingMoves(() -> log.truncate(recordAt(address)));
    compactor.cleanIndex();
  }

  /** Makes as little as possible immutable, since immutable records are updated by a copy. */
  private void makeImmutable(long address) {
    HybridLog log = engine.log();
    long end = log.pageEnd(address);
    if (address > log.flushedAddress()) {
      if (end <= log.tailPageStart()) {
        log.cuts().freeze(end);
      } else {
        log.room().awaitFlushed(engine.foldOver());
      }
    }
  }

  /** Start of the first record at or above {@code address}, or the end of the page. */
  private long recordAt(long address) {
    HybridLog log = engine.log();
    long begin = log.pins().pinBriefly();
    try {
      if (address <= begin) {
        return begin;
      }
      long until = Math.min(log.pageEnd(address), log.flushedAddress());
      ScanRange range = ScanRange.part(begin, log.flushedAddress(), address, until);
      // A large value begins with its first chunk and exists as long as that chunk.
      try (ScanCursor scan = engine.scan(range).withFirstChunks()) {
        return scan.next() ? scan.address() : until;
      }
    } finally {
      log.pins().unpinBrief(begin);
    }
  }
}
