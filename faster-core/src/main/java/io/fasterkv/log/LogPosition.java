package io.fasterkv.log;

import io.fasterkv.record.Address;

/**
 * Where a log starts to write, and what its device holds before.
 *
 * @param beginAddress below it nothing exists
 * @param endAddress the first address that is free, a multiple of the device's sector
 * @param extents what is on the device from the begin to the end
 * @param voids what is among that and does not count
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
