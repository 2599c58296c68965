package io.fasterkv.compaction;

import io.fasterkv.api.config.KeepRule;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.UpcomingKeys;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.move.KeepQuestion;
import io.fasterkv.operation.move.LargeMover;
import io.fasterkv.operation.move.RecordMover;
import org.jspecify.annotations.Nullable;

/** Moves records, and large values if there are any. */
final class Movers implements AutoCloseable {
  private final Engine engine;
  private final @Nullable KeepQuestion rule;
  private final RecordMover records;
  private @Nullable LargeMover large;
  private long droppedBytes;
  private boolean isFold;
  private final UpcomingKeys upcoming = new UpcomingKeys(RecordMover.GROUP);

  /** Records below this address have been prefetched. */
  private long prefetchedUntil;

  Movers(Engine engine) {
    this.engine = engine;
    KeepRule kept = engine.keepRule();
    rule = kept == null ? null : new KeepQuestion(engine, kept);
    records = new RecordMover(engine, rule);
  }

  /**
   * Whether a record may have to be moved. An anchor does not count: its value is moved when the
   * scan reaches its first chunk.
   */
  static boolean mayMove(ScanCursor scan) {
    return scan.isChunk() || (!scan.isLarge() && !scan.isTombstone() && !scan.isOverwritten());
  }

  /** Prefetches what is needed to look up the current record of the scan and those after it. */
  void prefetch(ScanCursor scan) {
    if (scan.address() >= prefetchedUntil) {
      prefetchedUntil = scan.upcoming(upcoming);
      records.prefetch(upcoming);
    }
  }

  /**
   * Moves the current record of the scan if it is live; there is no newer record of its key below
   * {@code newerFrom}. Returns the number of bytes moved.
   */
  long moveIfLive(ScanCursor scan, long newerFrom) {
    droppedBytes = 0;
    isFold = false;
    if (scan.isChunk()) {
      if (large == null) {
        large = new LargeMover(engine, rule);
      }
      long moved = large.moveIfLive(scan.address(), scan.key());
      droppedBytes = large.droppedBytes();
      if (moved != LargeMover.UNDER_DELTAS) {
        return moved;
      }
      isFold = records.moveFold(scan.address(), scan.key());
      return isFold ? Math.max(1, records.largeBytes()) : 0;
    }
    boolean isLive =
        records.moveIfLive(scan.address(), scan.key(), scan.value(), newerFrom, scan.isDelta());
    int valueBytes = scan.value().length();
    long bytes = engine.layout().recordBytes(scan.key().length(), valueBytes);
    isFold = records.isFold();
    long roomBytes = scan.endAddress() - scan.address() - bytes;
    if (!isFold && roomBytes > 0 && (isLive || records.isDropped())) {
      records.leftRoomBehind(roomBytes);
    }
    if (!isLive) {
      droppedBytes = records.isDropped() ? bytes : 0;
      return 0;
    }
    long moved =
        engine.layout().recordBytes(scan.key().length(), valueBytes - records.trimmedBytes());
    droppedBytes = bytes - moved;
    return Math.max(moved, records.largeBytes());
  }

  /** Whether the last record moved was merged from deltas and their base. */
  boolean isFold() {
    return isFold;
  }

  /** Live bytes of the last record that the keep rule has dropped. */
  long droppedBytes() {
    return droppedBytes;
  }

  @Override
  public void close() {
    records.close();
    if (large != null) {
      large.close();
    }
    if (rule != null) {
      rule.close();
    }
  }
}
