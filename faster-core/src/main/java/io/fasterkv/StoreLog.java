package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.compaction.Compactor;
import io.fasterkv.compaction.Expiry;
import io.fasterkv.compaction.LogUpkeep;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;

/**
 * A store's log: reads its records, and shortens it. {@link StoreStatistics} says how long it is
 * and what compaction has done. Safe for all threads.
 */
public final class StoreLog {
  private final StoreParts parts;
  private final Engine engine;
  private final ClosingGate gate;
  private final Expiry expiry;
  private final LogUpkeep upkeep;

  StoreLog(StoreParts parts, ClosingGate gate, Compactor compactor, LogUpkeep upkeep) {
    this.parts = parts;
    this.gate = gate;
    this.upkeep = upkeep;
    engine = parts.engine();
    expiry = new Expiry(engine, compactor);
  }

  /**
   * Creates a cut: everything written so far becomes immutable, and later updates create new
   * records. This takes a few memory accesses and does not wait. All operations that ended before
   * the call are in the cut; an update in place that runs concurrently on another thread may be.
   *
   * @return the cut
   */
  public LogCut cut() {
    gate.requireOpen();
    Engine.Cut cut = engine.cut();
    return new LogCut(engine, cut.begin(), cut.end());
  }

  /**
   * Scans the current content of the log without making anything read-only (SIGMOD'18, appendix F).
   * Waits until running operations have ended, so it must not be called from inside one.
   *
   * @param versions which records to return
   * @return the scan
   */
  public LogScan scan(Versions versions) {
    return scan(0, Long.MAX_VALUE, versions);
  }

  /**
   * Like {@link #scan(Versions)}, for the records in a range of addresses. Both ends may be any
   * addresses from {@link LogScan#address()} or {@link #tailAddress()}. A reader that reads the log
   * in parts, each up to the end of a {@link #cut()}, sees the deletes of keys in older parts, even
   * if those parts have been removed by then.
   *
   * @param from the first address
   * @param until the first address after the range
   * @param versions which records to return
   * @return the scan
   */
  public LogScan scan(long from, long until, Versions versions) {
    gate.requireOpen();
    long begin = engine.log().pins().pin();
    try {
      long end = engine.log().tailAddress();
      engine.awaitEarlierOperations();
      ScanRange range = ScanRange.since(begin, end, from, until);
      return new LogScan(engine, range, versions, () -> engine.log().pins().unpin(begin));
    } catch (Throwable e) {
      engine.log().pins().unpin(begin);
      throw e;
    }
  }

  /**
   * Returns the records of a key that are still in the log, newest first.
   *
   * @param key the key
   * @return the records
   */
  public KeyHistory history(ByteSpan key) {
    requireKind(RecordKind.SPANS);
    return KeyHistory.of(engine, key);
  }

  /**
   * Returns the records of a {@code long} key that are still in the log, newest first.
   *
   * @param key the key
   * @return the records
   */
  public KeyHistory history(long key) {
    requireKind(RecordKind.LONGS);
    return KeyHistory.of(engine, key);
  }

  /**
   * Follows the log from an address on, as it becomes read-only.
   *
   * @param from the first address
   * @return the follower
   */
  public LogFollower follow(long from) {
    gate.requireOpen();
    return new LogFollower(engine, from);
  }

  /**
   * Compacts the part of the log that is on disk, on this thread, concurrently with any number of
   * sessions. It copies live records to the tail and moves the begin address (SIGMOD'18, appendix
   * C). Storage is freed once no cut and no checkpoint needs it. To shrink a store with
   * checkpoints, compact it, take a checkpoint, and remove the older ones. A store in memory
   * compacts all full pages and reuses their memory for new records; it does nothing while a cut, a
   * scan or a history is open.
   *
   * @return how many bytes the log has shrunk
   */
  public long compact() {
    return gate.whileOpen(upkeep::compact);
  }

  /**
   * Like {@link #compact()}, for the log below an address. Compacting the whole log leaves copies
   * beside the data that the last checkpoint needs, until that checkpoint is removed. A store that
   * takes checkpoints often needs less storage if it compacts a part of the log between two of
   * them: for example a fifth, when the log is larger than one and a half times its live bytes.
   * Background compaction does this by itself. The new begin address is the end of a page, or of a
   * cut, a checkpoint or an export.
   *
   * @param until an address between {@link #beginAddress()} and {@link #tailAddress()}
   * @return how many bytes the log has shrunk
   * @throws io.fasterkv.api.StoreException.BadConfig if the store is in memory, which compacts page
   *     by page
   */
  public long compact(long until) {
    return gate.whileOpen(() -> upkeep.compact(until));
  }

  /**
   * Drops all records below an address, live or not (SIGMOD'18, appendix C). Use it for records
   * that expire by age. After it returns, no operation finds them. Checkpoints and cuts that were
   * taken before still contain them, and keep their storage until they are removed or closed.
   *
   * <p>A record gets a new address when an update or a compaction copies it, so do not compact a
   * store whose records expire by address. A value larger than a page is stored in pieces below the
   * address of its record, and expires as a whole with the first piece. Records of operations that
   * began when {@link #tailAddress()} was {@code address} or more stay. {@link
   * LogScan#lowestAddress()} tells where an existing value begins.
   *
   * <p>If the address is in the part of the log that is in memory, the call first makes the log
   * read-only up to it and waits until it is flushed. It must therefore not be called from inside
   * an operation.
   *
   * @param address up to {@link #tailAddress()}; below {@link #beginAddress()} nothing happens
   */
  public void truncate(long address) {
    gate.whileOpen(() -> {
      expiry.truncate(address);
      upkeep.truncated();
      return address;
    });
  }

  /** {@return the begin address: everything below was compacted or truncated} */
  public long beginAddress() {
    gate.requireOpen();
    return engine.log().beginAddress();
  }

  /**
   * {@return the tail address, where the next record is appended; all records so far are below it.
   * It only grows}
   */
  public long tailAddress() {
    gate.requireOpen();
    return engine.log().tailAddress();
  }

  /**
   * Returns how many bytes of log are on the device: from the oldest that a checkpoint, a cut, or
   * the store needs, to the newest flushed one. Segments below are removed as a whole.
   *
   * @return the number of bytes; 0 for a store in memory
   */
  public long storedBytes() {
    gate.requireOpen();
    return engine.log().room().storedBytes();
  }

  private void requireKind(RecordKind kind) {
    gate.requireOpen();
    parts.requireRecordKind(kind);
  }
}
