package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.index.IndexFill;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.KeyBytes;
import java.lang.foreign.MemorySegment;

/**
 * Adds the records of a part of the log to an index that no thread uses yet (CPR, section 6 and
 * algorithm 3). For each tag of a bucket, the index ends up with the highest address among its
 * records. That is the newest record of their chain, since chains lead down and a record's link
 * never changes.
 *
 * <p>It skips records that never entered a chain, chunks of large values, records that an earlier
 * recovery has undone, and tombstones at the end of their chains: an entry freed by such a
 * tombstone may have been taken by a record that was allocated before it.
 */
final class Replay {
  private final Engine engine;
  private final IndexFill index;
  private final KeyBytes key = new KeyBytes();

  private final boolean hasImage;

  /**
   * @param hasImage whether the index was loaded from an image of a table that was not resized
   *     since, so that it has all forks
   */
  Replay(Engine engine, boolean hasImage) {
    this.engine = engine;
    this.hasImage = hasImage;
    IndexTable table = engine.index().soleTable();
    index =
        new IndexFill(
            table, address -> ReplayRefusals.noRoom(table, engine.log().device().place(address)));
  }

  /** Replays the log from {@code from} to {@code end}; the log begins at {@code begin}. */
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
      index.finish();
    } finally {
      engine.buffers().give(keyBuffer);
    }
  }

  private void raise(ScanCursor scan, MemorySegment keyBuffer) {
    ByteSpan found = scan.key();
    key.copy(found.memory(), found.offset(), found.length(), keyBuffer);
    index.add(engine.hash(key), scan.address());
  }
}
