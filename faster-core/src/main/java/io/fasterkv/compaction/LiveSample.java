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
 * {@value #MOST_PAGES} pages, one page in each equal part of the log, each time another, or more
 * records of each page if there are fewer, are looked up. What was written to keys that nobody had
 * is live, and operations cannot always tell: a key whose chain goes on on disk may be new or not.
 * So a log that was loaded is not copied for nothing. What is not looked at, large values and
 * deltas, counts as dead, or as live for who asks what is live at most: only a pass can tell. So
 * does what is only in memory, but for as much of it as is on disk, which is taken to be like that.
 * For the thread that compacts.
 */
final class LiveSample {
  private static final int MOST_PAGES = 16;
  private static final int RECORDS = 96;

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

  /** Bytes of records there that a scan does not show, since nobody needs them. */
  private long endedBytes;

  /** Of so much of the log on disk. */
  private long sampledBytes;

  LiveSample(Engine engine) {
    this.engine = engine;
  }

  /** Looks at it; whether there is anything to tell by. */
  boolean look() {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    try {
      long end = log.flushedAddress();
      int pages = (int) Math.min(MOST_PAGES, (end - begin) / log.pageBytes());
      if (pages == 0) {
        return false;
      }
      long part = (end - begin) / pages;
      place = (place + STEP) % 1;
      lookedBytes = 0;
      liveBytes = 0;
      smallBytes = 0;
      otherBytes = 0;
      endedBytes = 0;
      sampledBytes = end - begin;
      KeepRule rule = engine.keepRule();
      try (KeepQuestion question = rule == null ? null : new KeepQuestion(engine, rule);
          RecordMover records = new RecordMover(engine, question)) {
        for (int i = 0; i < pages; i++) {
          long page = log.pageStart(begin + i * part + (long) (place * part));
          look(records, begin, end, page, RECORDS / pages);
        }
      }
      return allBytes() > 0;
    } finally {
      log.holds().unpinBrief(begin);
    }
  }

  /** How much of the log was on disk at the last look. */
  long sampledBytes() {
    return sampledBytes;
  }

  /** About how much of that is live at least. */
  long liveSampledBytes() {
    return (long) (liveShare() * sampledBytes);
  }

  /** About how many bytes of the log are live at least. */
  long leastBytes() {
    return (long) (liveShare() * likeSampledBytes());
  }

  /** About how many bytes of the log are live at most. */
  long mostBytes() {
    double share = liveShare() + otherBytes / allBytes();
    return (long) (share * likeSampledBytes()) + engine.log().lengthBytes() - likeSampledBytes();
  }

  private double liveShare() {
    return lookedBytes == 0 ? 0 : smallBytes / allBytes() * liveBytes / lookedBytes;
  }

  private double allBytes() {
    return smallBytes + otherBytes + endedBytes;
  }

  private long likeSampledBytes() {
    return Math.min(engine.log().lengthBytes(), 2 * sampledBytes);
  }

  /** Looks at records that are spread over a page as far as their sizes are alike. */
  private void look(RecordMover records, long begin, long end, long page, int count) {
    long until = engine.log().pageEnd(page);
    long stride = (until - page) / count;
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
      endedBytes += scan.endedBytes();
    }
  }

  private boolean isLive(RecordMover records, ScanCursor scan) {
    return Movers.isWorthALook(scan) && records.wouldMove(scan.address(), scan.key(), scan.value());
  }
}
