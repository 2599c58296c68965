package io.fasterkv.log;

import java.util.Map;
import java.util.TreeMap;

/**
 * Room that is kept so that compaction can move large values in a log without a device. A value is
 * copied whole before the page of its first chunk is free, so as much room as it takes must be
 * there. One session at a time writes chunks, and compaction does: whatever page one looks at, the
 * chunks of two values at most go on above it. So room for the largest value, twice, is enough.
 *
 * <p>Used twice for each large value, and when the begin of the log moves.
 */
final class LargeRoom {
  /** How many pages the values take whose first chunks lie at these addresses or above. */
  private final TreeMap<Long, Long> pagesByAddress = new TreeMap<>();

  /** How many pages the value takes that a session is writing; 0 if none is. */
  private long pagesUnderWay;

  private volatile long reservedPages;

  /** How many pages are to be left free. */
  long reservedPages() {
    return reservedPages;
  }

  /** Takes the turn to write a value of so many pages; false while another session has it. */
  synchronized boolean tryBegin(long pages) {
    if (pagesUnderWay > 0) {
      return false;
    }
    pagesUnderWay = pages;
    reserve();
    return true;
  }

  /** Ends the turn; the value is not there. */
  synchronized void giveUp() {
    pagesUnderWay = 0;
    reserve();
  }

  /** Notes a value whose chunks have been written; ends the turn if it was a session's. */
  synchronized void written(long oldestChunk, long pages, boolean hasTurn) {
    pagesByAddress.merge(oldestChunk, pages, Math::max);
    pagesUnderWay = hasTurn ? 0 : pagesUnderWay;
    reserve();
  }

  /** Forgets values whose first chunk lies below the log's begin: they have moved or are dead. */
  synchronized void forgetBelow(long begin) {
    Map<Long, Long> gone = pagesByAddress.headMap(begin);
    if (!gone.isEmpty()) {
      gone.clear();
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
