package io.fasterkv.log;

import io.fasterkv.record.Address;

/**
 * What a scan covers.
 *
 * @param begin the log's begin, as the scan's user has pinned it
 * @param chainsEnd a tombstone whose previous address is below it is taken to end its chain
 * @param from records below it are passed over; any address
 * @param until records at it and above are not reached; any address
 * @param end a place where a record ends, at or above {@code until}: nothing from there on is read,
 *     and all below it that was allocated has its header
 */
public record ScanRange(long begin, long chainsEnd, long from, long until, long end) {

  /** All between two ends of records. */
  public static ScanRange whole(long begin, long end) {
    return new ScanRange(begin, begin, begin, end, end);
  }

  /**
   * As {@link #part}, for who may have read before what lies below {@code from}, and may be gone by
   * now: only a tombstone with nothing below it, and never anything, is taken to end its chain.
   */
  public static ScanRange since(long begin, long end, long from, long until) {
    return new ScanRange(begin, Address.FIRST, Math.max(begin, from), Math.min(end, until), end);
  }

  /** The part of {@code [begin, end)} that is in {@code [from, until)}. */
  public static ScanRange part(long begin, long end, long from, long until) {
    return new ScanRange(begin, begin, Math.max(begin, from), Math.min(end, until), end);
  }
}
