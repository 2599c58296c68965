package io.fasterkv.log;

import io.fasterkv.api.StoreException.OutOfAddresses;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Lists what the device holds: consecutive ranges, each a page or part of one, with the checksum of
 * its bytes. Scans and recovery verify with it what they read. It takes 24 bytes of heap for each
 * page of log. Safe for all threads; used when a flush completes and for bulk reads from disk.
 */
public final class FlushedExtents {

  /**
   * One range.
   *
   * @param from first address
   * @param until first address after it, at most the end of the page
   * @param crc CRC32C of the bytes
   */
  public record Extent(long from, long until, int crc) {}

  private static final int LEAST = 16;

  /** The longest array that every JVM can allocate. */
  private static final int MOST = Integer.MAX_VALUE - 8;

  private long[] froms = new long[LEAST];
  private long[] untils = new long[LEAST];
  private int[] crcs = new int[LEAST];
  private int first;
  private int end;

  /** End of the last extent that was ever added. */
  private long reached;

  /** Creates an empty list; the first extent must begin at {@code startAddress}. */
  FlushedExtents(long startAddress) {
    reached = startAddress;
  }

  synchronized void add(Extent extent) {
    if (end == froms.length) {
      makeRoom();
    }
    reached = extent.until();
    froms[end] = extent.from();
    untils[end] = extent.until();
    crcs[end] = extent.crc();
    end++;
  }

  /**
   * Removes the extents that end at {@code address} or below. Returns the first address that must
   * be kept: the start of the extent that contains {@code address}, since an extent is verified as
   * a whole.
   */
  synchronized long truncate(long address) {
    while (first < end && untils[first] <= address) {
      first++;
    }
    return first < end ? Math.min(froms[first], address) : address;
  }

  /**
   * The highest start or end of an extent at {@code until} or below. The device has everything
   * below it that is still needed.
   */
  public synchronized long boundaryUntil(long until) {
    int count = countUntil(until);
    if (count > 0) {
      return untils[first + count - 1];
    }
    return first < end ? froms[first] : reached;
  }

  /** The extent that contains {@code address}. */
  public synchronized Extent at(long address) {
    int index = Arrays.binarySearch(froms, first, end, address);
    int found = index >= 0 ? index : -index - 2;
    if (found < first || address >= untils[found]) {
      throw new IllegalArgumentException("no extent holds the address: address=" + address);
    }
    return extent(found);
  }

  /** Number of extents that end at {@code until} or below. */
  public synchronized int countUntil(long until) {
    int index = Arrays.binarySearch(untils, first, end, until);
    return (index >= 0 ? index + 1 : -index - 1) - first;
  }

  /** Visits the extents that end at {@code until} or below, in order. */
  public synchronized void forEachUntil(long until, Consumer<Extent> visitor) {
    for (int i = first; i < end && untils[i] <= until; i++) {
      visitor.accept(extent(i));
    }
  }

  private Extent extent(int index) {
    return new Extent(froms[index], untils[index], crcs[index]);
  }

  private void makeRoom() {
    int live = end - first;
    int capacity = capacityFor(live);
    // All arrays are allocated before any is used, so a failed allocation changes nothing.
    long[] movedFroms = move(froms, capacity);
    long[] movedUntils = move(untils, capacity);
    int[] movedCrcs = new int[capacity];
    System.arraycopy(crcs, first, movedCrcs, 0, live);
    froms = movedFroms;
    untils = movedUntils;
    crcs = movedCrcs;
    end = live;
    first = 0;
  }

  /**
   * The new length of arrays that this many extents fill: twice as long, up to the longest array.
   */
  static int capacityFor(int live) {
    if (live >= MOST) {
      throw new OutOfAddresses(
          "the log has too many pages on disk: extents="
              + live
              + ", allowed=up to "
              + MOST
              + "; compact or truncate the log, or keep it in a store with larger pages");
    }
    return (int) Math.clamp(2L * live, LEAST, MOST);
  }

  private long[] move(long[] from, int capacity) {
    long[] moved = new long[capacity];
    System.arraycopy(from, first, moved, 0, end - first);
    return moved;
  }
}
