package io.fasterkv.log;

import java.util.Map;
import java.util.TreeMap;

/**
 * Reserves room so that compaction can move large values in a log without a device. A value is
 * copied completely before the page of its first chunk is freed, so there must be room for the
 * whole value. Only one session at a time writes chunks, and compaction does. So above any page,
 * the chunks of at most two values continue, and room for twice the largest value is enough.
 *
 * <p>Used twice for each large value, and when the log's begin address moves.
 */
final class LargeRoom {
  /** Pages of each value, by the address of its first chunk. */
  private final TreeMap<Long, Long> pagesByAddress = new TreeMap<>();

  /** Pages of the value that a session is writing; 0 if none is. */
  private long pagesUnderWay;

  private volatile long reservedPages;

  /** Number of pages that must be left free. */
  long reservedPages() {
    return reservedPages;
  }

  /**
   * Starts writing a value of this many pages; returns false while another session is writing one.
   */
  synchronized boolean tryBegin(long pages) {
    if (pagesUnderWay > 0) {
      return false;
    }
    pagesUnderWay = pages;
    reserve();
    return true;
  }

  /** Ends the write; the value was not stored. */
  synchronized void giveUp() {
    pagesUnderWay = 0;
    reserve();
  }

  /** Notes a value whose chunks have been written, and ends the write if it was a session's. */
  synchronized void written(long oldestChunk, long pages, boolean hasTurn) {
    pagesByAddress.merge(oldestChunk, pages, Math::max);
    pagesUnderWay = hasTurn ? 0 : pagesUnderWay;
    reserve();
  }

  /**
   * Forgets values whose first chunk is below the log's begin address: they were moved or are dead.
   */
  synchronized void forgetBelow(long begin) {
    Map<Long, Long> dropped = pagesByAddress.headMap(begin);
    if (!dropped.isEmpty()) {
      dropped.clear();
      reserve();
    }
  }

  private void reserve() {
    long most = pagesUnderWay;
    for (long pages : pagesByAddress.values()) {
      most = Math.max(most, pages);
    }
    reservedPages = 2 * most;
  }
}
