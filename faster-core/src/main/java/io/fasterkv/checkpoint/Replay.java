package io.fasterkv.checkpoint;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.record.KeyBytes;
import java.lang.foreign.MemorySegment;

/**
 * Puts the records of a part of the log into an index that nobody uses yet (CPR, section 6 and
 * algorithm 3). For each tag of a bucket the index ends up with the highest address among its
 * records. That is the newest record of their chain: chains lead down, and no record ever changes
 * what it leads to.
 *
 * <p>Left out are records that never got into a chain, chunks of large values, what an earlier
 * recovery has undone, and tombstones at the end of their chains: an entry that such a tombstone
 * has freed may have been taken by a record that was allocated before it.
 */
final class Replay {
  private final Engine engine;
  private final IndexTable table;
  private final IndexEntry entry = new IndexEntry();
  private final KeyBytes key = new KeyBytes();

  private final boolean hasImage;

  /**
   * @param hasImage whether the index was loaded before, from an image of a table that was not
   *     resized since: all forks are in it
   */
  Replay(Engine engine, boolean hasImage) {
    this.engine = engine;
    this.hasImage = hasImage;
    table = engine.index().soleTable();
  }

  /** Goes over the log from {@code from} to {@code end}; it begins at {@code begin}. */
  void run(long begin, long from, long end, Progress progress) {
    MemorySegment keyBuffer = engine.buffers().take((int) engine.log().pageBytes());
    ScanRange range = new ScanRange(begin, begin, Math.max(begin, from), end, end);
    try (ScanCursor scan = engine.scan(range).withForks()) {
      long at = range.from();
      while (scan.next()) {
        if (!scan.isFork()) {
          raise(scan, keyBuffer);
        } else if (!hasImage) {
          throw ReplayRefusals.forked(engine.log().device().place(scan.address()));
        }
        progress.add(scan.address() - at);
        at = scan.address();
      }
    } finally {
      engine.buffers().give(keyBuffer);
    }
  }

  private void raise(ScanCursor scan, MemorySegment keyBuffer) {
    ByteSpan found = scan.key();
    key.copy(found.memory(), found.offset(), found.length(), keyBuffer);
    long hash = engine.hash(key);
    if (!table.raise(hash, scan.address(), entry)) {
      throw ReplayRefusals.noRoom(table, engine.log().device().place(scan.address()));
    }
  }
}
