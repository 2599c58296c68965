package io.fasterkv.compaction;

import io.fasterkv.api.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.KeepQuestion;
import io.fasterkv.operation.RecordMover;
import java.util.SplittableRandom;

/**
 * Estimates how much of the log on disk is live, before a pass goes over all of it: the records at
 * some places of {@link SampledPages}, at more of each page if there are fewer pages, are looked
 * up. What was written to keys that nobody had is live, and operations cannot always tell: a key
 * whose chain goes on on disk may be new or not. So a log that was loaded is not copied for
 * nothing. What cannot be looked up, large values, deltas and what lies under them, counts as dead,
 * or as live for who asks what is live at most: only a pass can tell. So does what is only in
 * memory, but for as much of it as is on disk, which is taken to be like that. For the thread that
 * compacts.
 */
final class LiveSample {
  private static final int PLACES = 96;

  private final Engine engine;
  private final SplittableRandom random = new SplittableRandom(1);
  private final SampledPages pages;

  /** Bytes of all records that could be looked up, on the pages that were looked at. */
  private long smallBytes;

  /** Bytes of deltas and large values there. */
  private long otherBytes;

  /** Bytes of records there that a scan does not show, since nobody needs them. */
  private long endedBytes;

  /** How many places lay in records that could be looked up, */
  private int lookedPlaces;

  /** in those that are live, */
  private int livePlaces;

  /** and in those that are, or were, under deltas. */
  private int openPlaces;

  /** Of so much of the log on disk. */
  private long sampledBytes;

  LiveSample(Engine engine) {
    this.engine = engine;
    pages = new SampledPages(engine.log());
  }

  /** Looks at it; whether there is anything to tell by. */
  boolean look() {
    HybridLog log = engine.log();
    long begin = log.holds().pinBriefly();
    try {
      long end = log.flushedAddress();
      int count = pages.choose(begin, end);
      if (count == 0) {
        return false;
      }
      beginsAnew();
      sampledBytes = end - begin;
      KeepRule rule = engine.keepRule();
      try (KeepQuestion question = rule == null ? null : new KeepQuestion(engine, rule);
          RecordMover records = new RecordMover(engine, question)) {
        for (int i = 0; i < count; i++) {
          look(records, begin, end, pages.page(i), PLACES / count);
        }
      }
      return allBytes() > 0;
    } finally {
      log.holds().unpinBrief(begin);
    }
  }

  private void beginsAnew() {
    smallBytes = 0;
    otherBytes = 0;
    endedBytes = 0;
    lookedPlaces = 0;
    livePlaces = 0;
    openPlaces = 0;
  }

  /** How much of the log was on disk at the last look. */
  long sampledBytes() {
    return sampledBytes;
  }

  /** About how much of that is live at least. */
  long liveSampledBytes() {
    return (long) (shareOf(livePlaces) * sampledBytes);
  }

  /** About how many bytes of the log are live at least. */
  long leastBytes() {
    return (long) (shareOf(livePlaces) * likeSampledBytes());
  }

  /** About how many bytes of the log are live at most. */
  long mostBytes() {
    // If no place lay in a record that could be looked up, nothing is known of any.
    int places = lookedPlaces == 0 ? 1 : livePlaces + openPlaces;
    double share = shareOf(places) + otherBytes / allBytes();
    return (long) (share * likeSampledBytes()) + engine.log().lengthBytes() - likeSampledBytes();
  }

  /** Which part of the pages that were looked at records are like those at so many places. */
  private double shareOf(int places) {
    return smallBytes / allBytes() * places / Math.max(1, lookedPlaces);
  }

  private double allBytes() {
    return smallBytes + otherBytes + endedBytes;
  }

  private long likeSampledBytes() {
    return Math.min(engine.log().lengthBytes(), 2 * sampledBytes);
  }

  private void look(RecordMover records, long begin, long end, long page, int count) {
    HybridLog log = engine.log();
    PagePlaces places = new PagePlaces(random, page, log.pageBytes(), count);
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, page, log.pageEnd(page)))) {
      while (scan.next()) {
        int found = places.in(scan.address(), scan.endAddress());
        if (!scan.isLarge()) {
          look(records, scan, found);
        }
      }
      otherBytes += scan.hiddenChunkBytes();
      endedBytes += scan.endedBytes();
    }
  }

  private void look(RecordMover records, ScanCursor scan, int places) {
    long bytes = engine.layout().recordBytes(scan.key().length(), scan.value().length());
    if (scan.isDelta()) {
      otherBytes += bytes;
      return;
    }
    smallBytes += bytes;
    if (places == 0) {
      return;
    }
    lookedPlaces += places;
    if (Movers.isWorthALook(scan)) {
      switch (records.look(scan.address(), scan.key(), scan.value())) {
        case LIVE -> livePlaces += places;
        case UNDER_DELTAS -> openPlaces += places;
        case DEAD -> {}
      }
    }
  }
}
