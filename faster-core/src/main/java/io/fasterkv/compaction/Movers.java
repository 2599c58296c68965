package io.fasterkv.compaction;

import io.fasterkv.api.KeepRule;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.UpcomingKeys;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.KeepQuestion;
import io.fasterkv.operation.LargeMover;
import io.fasterkv.operation.RecordMover;
import org.jspecify.annotations.Nullable;

/** What moves records, and large values if there are any. */
final class Movers implements AutoCloseable {
  private final Engine engine;
  private final @Nullable KeepQuestion rule;
  private final RecordMover records;
  private @Nullable LargeMover large;
  private long letGoBytes;
  private boolean isFold;
  private final UpcomingKeys upcoming = new UpcomingKeys(RecordMover.GROUP);

  /** Below it, what the scan comes to has been touched. */
  private long touchedUntil;

  Movers(Engine engine) {
    this.engine = engine;
    KeepRule kept = engine.keepRule();
    rule = kept == null ? null : new KeepQuestion(engine, kept);
    records = new RecordMover(engine, rule);
  }

  /** An anchor is not: its value is moved, or not, when its first chunk is come to. */
  static boolean isWorthALook(ScanCursor scan) {
    return scan.isChunk() || (!scan.isLarge() && !scan.isTombstone() && !scan.isOverwritten());
  }

  /** Touches ahead what it takes to look up the record that the scan is at, and those behind it. */
  void touchAhead(ScanCursor scan) {
    if (scan.address() >= touchedUntil) {
      touchedUntil = scan.upcoming(upcoming);
      records.touch(upcoming);
    }
  }

  /**
   * Moves what the scan is at if it is live, which nothing below {@code newerFrom} decides; returns
   * how many bytes that took.
   */
  long moveIfLive(ScanCursor scan, long newerFrom) {
    letGoBytes = 0;
    isFold = false;
    if (scan.isChunk()) {
      if (large == null) {
        large = new LargeMover(engine, rule);
      }
      long moved = large.moveIfLive(scan.address(), scan.key());
      letGoBytes = large.letGoBytes();
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
    if (!isFold && roomBytes > 0 && (isLive || records.isLetGo())) {
      records.leftRoomBehind(roomBytes);
    }
    if (!isLive) {
      letGoBytes = records.isLetGo() ? bytes : 0;
      return 0;
    }
    long moved =
        engine.layout().recordBytes(scan.key().length(), valueBytes - records.trimmedBytes());
    letGoBytes = bytes - moved;
    return Math.max(moved, records.largeBytes());
  }

  /** Whether what was moved last was put together from deltas and what they belong to. */
  boolean isFold() {
    return isFold;
  }

  /** How many bytes of what was looked at last were live and need not be kept. */
  long letGoBytes() {
    return letGoBytes;
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
