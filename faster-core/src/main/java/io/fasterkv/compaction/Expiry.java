package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;

/**
 * Drops the head of the log as expired, live or not (SIGMOD'18, appendix C). First what is dropped
 * is made immutable and flushed, so that nothing is written to storage that was given back; then
 * the begin moves, while no record is being moved to the tail; then the index forgets.
 */
public final class Expiry {
  private final Engine engine;
  private final Compactor compactor;

  public Expiry(Engine engine, Compactor compactor) {
    this.engine = engine;
    this.compactor = compactor;
  }

  /** Drops all records that begin below {@code address}; the caller is not protected. */
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

  /** Without a device as little as possible, since what is immutable is updated by a copy. */
  private void makeImmutable(long address) {
    HybridLog log = engine.log();
    long end = log.pageEnd(address);
    if (log.isInMemory() && end <= log.tailPageStart()) {
      log.freeze(end);
    } else if (address > log.flushedAddress()) {
      log.awaitFlushed(engine.foldOver());
    }
  }

  /** Where the first record at {@code address} or above begins; or the end of the page. */
  private long recordAt(long address) {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    try {
      if (address <= begin) {
        return begin;
      }
      long until = Math.min(log.pageEnd(address), log.flushedAddress());
      ScanRange range = ScanRange.part(begin, log.flushedAddress(), address, until);
      // A large value begins with its first chunk, and is there as long as that is.
      try (ScanCursor scan = engine.scan(range).withFirstChunks()) {
        return scan.next() ? scan.address() : until;
      }
    } finally {
      log.holds().unpinBrief(begin);
    }
  }
}
