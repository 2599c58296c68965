package io.fasterkv.log;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.TouchAhead;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The circular buffer: one flat region of a power of two of pages. An address lies at {@code
 * address & mask}, whatever page it is on. A frame is zero when a page moves in, so that a word of
 * zero marks the end of what was written on a page.
 */
final class PageFrames {
  /** Where a device is as fast as it gets. */
  private static final long MAX_RUN_BYTES = 1 << 20;

  private final MemorySegment memory;
  private final long mask;
  private final int pageBits;
  private final long runBytes;
  private final @Nullable TouchAhead ahead;

  /**
   * @param segmentBytes what the device keeps together, a power of two of pages
   */
  PageFrames(OffHeapArena arena, long bytes, int pageBytes, long segmentBytes) {
    runBytes = Math.max(pageBytes, Math.min(MAX_RUN_BYTES, Math.min(bytes, segmentBytes)));
    memory = arena.allocate("log pages", bytes, OffHeapArena.PAGE_ALIGNMENT);
    ahead = arena.touchAhead(memory);
    mask = bytes - 1;
    pageBits = Integer.numberOfTrailingZeros(pageBytes);
  }

  MemorySegment memory() {
    return memory;
  }

  long offset(long address) {
    return address & mask;
  }

  /** The offset of an address is what this leaves of it. */
  long mask() {
    return mask;
  }

  long count() {
    return (mask + 1) >>> pageBits;
  }

  int pageBits() {
    return pageBits;
  }

  long pageBytes() {
    return 1L << pageBits;
  }

  long page(long address) {
    return address >>> pageBits;
  }

  long pageStart(long page) {
    return page << pageBits;
  }

  /** The first address after the page of {@code address}. */
  long pageEnd(long address) {
    return pageStart(page(address) + 1);
  }

  /** How far bytes from {@code address} on can go to the device together. */
  long runEnd(long address) {
    return (address | (runBytes - 1)) + 1;
  }

  /** Bytes from {@code address} up to {@code until}, which is at most the end of its run. */
  MemorySegment slice(long address, long until) {
    return memory.asSlice(offset(address), until - address);
  }

  /** The tail has come to a page: those after it are next. */
  void reached(long page) {
    if (ahead != null) {
      ahead.reached(pageStart(page + 1));
    }
  }

  /** Nobody uses the memory any more but who calls this. */
  void close() {
    if (ahead != null) {
      ahead.close();
    }
  }

  /** Clears the frames of the pages that end in {@code (from, until]}. */
  void clear(long from, long until) {
    for (long page = page(from); pageStart(page + 1) <= until; page++) {
      memory.asSlice(offset(pageStart(page)), pageBytes()).fill((byte) 0);
    }
  }
}
