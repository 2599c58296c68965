package io.fasterkv.compaction;

import io.fasterkv.api.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.KeepQuestion;
import io.fasterkv.operation.RecordMover;

/**
 * Estimates how much of the log on disk is live, before a pass goes over all of it: some records of
 * {@value #PARTS} pages, one page in each equal part of the log, each time another, are looked up.
 * What was written to keys that nobody had is live, and operations cannot always tell: a key whose
 * chain goes on on disk may be new or not. So a log that was loaded is not copied for nothing. What
 * is not looked at, large values and deltas, counts as dead, or as live for who asks what is live
 * at most: only a pass can tell. So does what is only in memory, but for as much of it as is on
 * disk, which is taken to be like that. For the thread that compacts.
 */
final class LiveSample {
  /** There are too few pages to tell; less than any answer. */
  static final long UNKNOWN = -1;

  private static final int PARTS = 16;
  private static final int RECORDS_A_PAGE = 6;

  /** Steps by the golden ratio spread out evenly, however many there are. */
  private static final double STEP = 0.6180339887498949;

  private final Engine engine;
  private double place;
  private long lookedBytes;
  private long liveBytes;

  /** Bytes of all records that could be looked at, on the pages that were. */
  private long smallBytes;

  /** Bytes of deltas and large values there. */
  private long otherBytes;

  /** Bytes of records there of keys that the store is not there for, which are dead. */
  private long foreignBytes;

  /** Of so much of the log on disk. */
  private long sampledBytes;

  LiveSample(Engine engine) {
    this.engine = engine;
  }

  /** About how many bytes of the log are live at least, or {@link #UNKNOWN}. */
  long look() {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    try {
      long end = log.flushedAddress();
      long part = (end - begin) / PARTS;
      if (part < log.pageBytes()) {
        return UNKNOWN;
      }
      place = (place + STEP) % 1;
      lookedBytes = 0;
      liveBytes = 0;
      smallBytes = 0;
      otherBytes = 0;
      foreignBytes = 0;
      sampledBytes = end - begin;
      KeepRule rule = engine.keepRule();
      try (KeepQuestion question = rule == null ? null : new KeepQuestion(engine, rule);
          RecordMover records = new RecordMover(engine, question)) {
        for (int i = 0; i < PARTS; i++) {
          look(records, begin, end, log.pageStart(begin + i * part + (long) (place * part)));
        }
      }
      return lookedBytes == 0 ? UNKNOWN : (long) (liveShare() * likeSampledBytes());
    } finally {
      log.holds().unpinBrief(begin);
    }
  }

  /** About how many bytes are live at most, by the last look, which has found something. */
  long mostBytes() {
    double share = liveShare() + otherBytes / allBytes();
    return (long) (share * likeSampledBytes()) + engine.log().lengthBytes() - likeSampledBytes();
  }

  private double liveShare() {
    return smallBytes / allBytes() * liveBytes / lookedBytes;
  }

  private double allBytes() {
    return smallBytes + otherBytes + foreignBytes;
  }

  private long likeSampledBytes() {
    return Math.min(engine.log().lengthBytes(), 2 * sampledBytes);
  }

  /** Looks at records that are spread over a page as far as their sizes are alike. */
  private void look(RecordMover records, long begin, long end, long page) {
    long until = engine.log().pageEnd(page);
    long stride = (until - page) / RECORDS_A_PAGE;
    long next = page + (long) (place * stride);
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, page, until))) {
      while (scan.next()) {
        if (scan.isLarge()) {
          continue;
        }
        long bytes = engine.layout().recordBytes(scan.key().length(), scan.value().length());
        otherBytes += scan.isDelta() ? bytes : 0;
        smallBytes += scan.isDelta() ? 0 : bytes;
        if (scan.address() >= next && !scan.isDelta()) {
          next += stride;
          lookedBytes += bytes;
          liveBytes += isLive(records, scan) ? bytes : 0;
        }
      }
      otherBytes += scan.hiddenChunkBytes();
      foreignBytes += scan.foreignBytes();
    }
  }

  private boolean isLive(RecordMover records, ScanCursor scan) {
    return Movers.isWorthALook(scan) && records.wouldMove(scan.address(), scan.key(), scan.value());
  }
}
