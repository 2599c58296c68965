package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;

/**
 * Chooses the pages of a log for a sample: one in each of up to {@value #MOST} equal parts, at a
 * different place each time. For one thread.
 */
final class SampledPages {
  static final int MOST = 16;

  /** Steps by the golden ratio are evenly distributed, whatever their number. */
  private static final double STEP = 0.6180339887498949;

  private final HybridLog log;
  private double place;
  private long begin;
  private long partBytes;

  SampledPages(HybridLog log) {
    this.log = log;
  }

  /**
   * Makes a new choice in {@code [from, until)}, which must be pinned or otherwise stay. Returns
   * the number of parts; 0 if the range is shorter than a page.
   */
  int choose(long from, long until) {
    int parts = (int) Math.min(MOST, (until - from) / log.pageBytes());
    begin = from;
    partBytes = (until - from) / Math.max(1, parts);
    place = (place + STEP) % 1;
    return parts;
  }

  /** Length of each part. */
  long partBytes() {
    return partBytes;
  }

  /** Start of a part's page; parts are counted from 0. */
  long page(int part) {
    return log.pageStart(begin + part * partBytes + (long) (place * partBytes));
  }
}
