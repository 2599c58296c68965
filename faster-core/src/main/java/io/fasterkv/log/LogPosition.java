package io.fasterkv.log;

import io.fasterkv.record.Address;

/**
 * Where a log continues, and what its device already holds.
 *
 * @param beginAddress begin of the log
 * @param endAddress the first free address, a multiple of the device's sector
 * @param extents what is on the device from the begin address to the end
 * @param voids ranges of it that a recovery has undone
 */
public record LogPosition(
    long beginAddress, long endAddress, FlushedExtents extents, VoidRanges voids) {

  /** An empty log. */
  public static LogPosition start() {
    return new LogPosition(Address.FIRST, 0, new FlushedExtents(0), VoidRanges.NONE);
  }

  /** A log that was recovered up to {@code endAddress}. */
  public static LogPosition after(
      long beginAddress,
      long endAddress,
      Iterable<FlushedExtents.Extent> extents,
      VoidRanges voids) {
    FlushedExtents all = new FlushedExtents(endAddress);
    extents.forEach(all::add);
    return new LogPosition(beginAddress, endAddress, all, voids);
  }
}
