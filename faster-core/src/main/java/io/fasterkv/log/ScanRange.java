package io.fasterkv.log;

import io.fasterkv.record.Address;

/**
 * The range of a scan.
 *
 * @param begin the log's begin address, which the scan's user has pinned
 * @param chainsEnd a tombstone whose previous address is below this one ends its chain
 * @param from records below it are skipped; any address
 * @param until records at or above it are not returned; any address
 * @param end the end of a record, at or above {@code until}: nothing beyond it is read, and every
 *     record allocated below it has its header
 */
public record ScanRange(long begin, long chainsEnd, long from, long until, long end) {

  /** The whole range between two record ends. */
  public static ScanRange whole(long begin, long end) {
    return new ScanRange(begin, begin, begin, end, end);
  }

  /**
   * Like {@link #part}, for a reader that may already have seen records below {@code from} which no
   * longer exist: only a tombstone that never had anything below it ends its chain.
   */
  public static ScanRange since(long begin, long end, long from, long until) {
    return new ScanRange(begin, Address.FIRST, Math.max(begin, from), Math.min(end, until), end);
  }

  /** The part of {@code [begin, end)} that is in {@code [from, until)}. */
  public static ScanRange part(long begin, long end, long from, long until) {
    return new ScanRange(begin, begin, Math.max(begin, from), Math.min(end, until), end);
  }
}
