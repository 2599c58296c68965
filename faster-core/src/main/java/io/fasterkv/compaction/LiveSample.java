package io.fasterkv.compaction;

import io.fasterkv.api.config.KeepRule;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.move.KeepQuestion;
import io.fasterkv.operation.move.RecordMover;
import java.util.SplittableRandom;

/**
 * Estimates how much of the log on disk is live, before a run reads all of it. It looks up the
 * records at random places of {@link SampledPages}, more places on each page if there are fewer
 * pages. Values written to new keys are live, and operations cannot always tell: a key whose chain
 * continues on disk may be new or not. So the sample avoids copying a freshly loaded log for
 * nothing.
 *
 * <p>Some records cannot be looked up: large values, deltas, and records under deltas. They count
 * as dead in the lower bound and as live in the upper bound; only a run can tell. The same goes for
 * the part that is only in memory, except that as much of it as there is on disk is assumed to be
 * like that. For the compacting thread.
 */
final class LiveSample {
  private static final int PLACES = 96;

  private final Engine engine;
  private final SplittableRandom random = new SplittableRandom(1);
  private final SampledPages pages;

  /** Bytes of all records on the sampled pages that can be looked up. */
  private long smallBytes;

  /** Bytes of deltas and large values on the sampled pages. */
  private long otherBytes;

  /** Bytes of dead records on the sampled pages that a scan does not return. */
  private long endedBytes;

  /** Number of places in records that can be looked up, */
  private int sampledPlaces;

  /** of these, in live records, */
  private int livePlaces;

  /** and in records that are or were under deltas. */
  private int openPlaces;

  /** Length of the log on disk at the last sample. */
  private long sampledBytes;

  LiveSample(Engine engine) {
    this.engine = engine;
    pages = new SampledPages(engine.log());
  }

  /** Takes a sample; returns false if there is nothing to estimate from. */
  boolean sample() {
    HybridLog log = engine.log();
    long begin = log.pins().pinBriefly();
    try {
      long end = log.flushedAddress();
      int count = pages.choose(begin, end);
      if (count == 0) {
        return false;
      }
      restart();
      sampledBytes = end - begin;
      KeepRule rule = engine.keepRule();
      try (KeepQuestion question = rule == null ? null : new KeepQuestion(engine, rule);
          RecordMover records = new RecordMover(engine, question)) {
        for (int i = 0; i < count; i++) {
          sample(records, begin, end, pages.page(i), PLACES / count);
        }
      }
      return allBytes() > 0;
    } finally {
      log.pins().unpinBrief(begin);
    }
  }

  private void restart() {
    smallBytes = 0;
    otherBytes = 0;
    endedBytes = 0;
    sampledPlaces = 0;
    livePlaces = 0;
    openPlaces = 0;
  }

  /** Length of the log on disk at the last sample. */
  long sampledBytes() {
    return sampledBytes;
  }

  /** Lower bound of the live bytes in that part, approximately. */
  long liveSampledBytes() {
    return (long) (shareOf(livePlaces) * sampledBytes);
  }

  /** Lower bound of the log's live bytes, approximately. */
  long leastBytes() {
    return (long) (shareOf(livePlaces) * likeSampledBytes());
  }

  /** Upper bound of the log's live bytes, approximately. */
  long mostBytes() {
    // If no place was in a record that can be looked up, any of them may be live.
    int places = sampledPlaces == 0 ? 1 : livePlaces + openPlaces;
    double share = shareOf(places) + otherBytes / allBytes();
    return (long) (share * likeSampledBytes()) + engine.log().lengthBytes() - likeSampledBytes();
  }

  /** The part of the sampled bytes that this number of places stands for. */
  private double shareOf(int places) {
    return smallBytes / allBytes() * places / Math.max(1, sampledPlaces);
  }

  private double allBytes() {
    return smallBytes + otherBytes + endedBytes;
  }

  private long likeSampledBytes() {
    return Math.min(engine.log().lengthBytes(), 2 * sampledBytes);
  }

  private void sample(RecordMover records, long begin, long end, long page, int count) {
    HybridLog log = engine.log();
    PagePlaces places = new PagePlaces(random, page, log.pageBytes(), count);
    try (ScanCursor scan = engine.scan(ScanRange.part(begin, end, page, log.pageEnd(page)))) {
      while (scan.next()) {
        int found = places.in(scan.address(), scan.endAddress());
        if (!scan.isLarge()) {
          sample(records, scan, found);
        }
      }
      otherBytes += scan.hiddenChunkBytes();
      endedBytes += scan.endedBytes();
    }
  }

  private void sample(RecordMover records, ScanCursor scan, int places) {
    long bytes = engine.layout().recordBytes(scan.key().length(), scan.value().length());
    if (scan.isDelta()) {
      otherBytes += bytes;
      return;
    }
    smallBytes += bytes;
    if (places == 0) {
      return;
    }
    sampledPlaces += places;
    if (Movers.mayMove(scan)) {
      switch (records.findState(scan.address(), scan.key(), scan.value())) {
        case LIVE -> livePlaces += places;
        case UNDER_DELTAS -> openPlaces += places;
        case DEAD -> {}
      }
    }
  }
}
