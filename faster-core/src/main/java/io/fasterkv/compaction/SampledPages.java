package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;

/**
 * The pages of a log that a sample looks at: one in each of up to {@value #MOST} equal parts, each
 * time another. For one thread.
 */
final class SampledPages {
  static final int MOST = 16;

  /** Steps by the golden ratio spread out evenly, however many there are. */
  private static final double STEP = 0.6180339887498949;

  private final HybridLog log;
  private double place;
  private long begin;
  private long partBytes;

  SampledPages(HybridLog log) {
    this.log = log;
  }

  /**
   * Chooses anew in {@code [from, until)}, both of which are pinned or known to stay; returns how
   * many parts there are: none if that is not a page.
   */
  int choose(long from, long until) {
    int parts = (int) Math.min(MOST, (until - from) / log.pageBytes());
    begin = from;
    partBytes = (until - from) / Math.max(1, parts);
    place = (place + STEP) % 1;
    return parts;
  }

  /** How long each part is. */
  long partBytes() {
    return partBytes;
  }

  /** Where the page of a part begins, counted from 0. */
  long page(int part) {
    return log.pageStart(begin + part * partBytes + (long) (place * partBytes));
  }
}
