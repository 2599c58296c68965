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
  /** What the memory is for, as the budget calls it. */
  static final String PURPOSE = "log pages";

  /** Where a device is as fast as it gets. */
  private static final long MAX_RUN_BYTES = 1 << 20;

  private final MemorySegment memory;
  private final long mask;
  private final int pageBits;
  private final long runBytes;
  private final @Nullable TouchAhead ahead;
  private final OffHeapArena arena;
  private final FrameWindow window;

  /**
   * @param segmentBytes what the device keeps together, a power of two of pages
   */
  PageFrames(OffHeapArena arena, long bytes, int pageBytes, long segmentBytes) {
    this(
        arena,
        arena.allocate(PURPOSE, bytes, OffHeapArena.PAGE_ALIGNMENT),
        pageBytes,
        segmentBytes);
  }

  /** Frames of which some may be without memory later, if the system lets that be. */
  static PageFrames resizable(OffHeapArena arena, long bytes, int pageBytes, long segmentBytes) {
    MemorySegment memory = arena.allocateResizable(PURPOSE, bytes, 0);
    return new PageFrames(arena, memory, pageBytes, segmentBytes);
  }

  private PageFrames(OffHeapArena arena, MemorySegment memory, int pageBytes, long segmentBytes) {
    this.arena = arena;
    this.memory = memory;
    long bytes = memory.byteSize();
    runBytes = Math.max(pageBytes, Math.min(MAX_RUN_BYTES, Math.min(bytes, segmentBytes)));
    ahead = arena.touchAhead(memory);
    mask = bytes - 1;
    pageBits = Integer.numberOfTrailingZeros(pageBytes);
    window = new FrameWindow(this);
  }

  /** How many of the frames have pages. */
  FrameWindow window() {
    return window;
  }

  /** Whether frames can be without memory. */
  boolean isResizable() {
    return arena.isResizable(memory, pageBytes());
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

  /** From now on frames are touched by who clears them. */
  void touchNoMore() {
    if (ahead != null) {
      ahead.close();
    }
  }

  /** Nobody uses the memory any more but who calls this. */
  void close() {
    touchNoMore();
  }

  /** Makes the frame of a page zero. */
  void clear(long page) {
    frame(page).fill((byte) 0);
  }

  /** As {@link #clear}; the frame has no memory until it is touched again. */
  void release(long page) {
    arena.release(frame(page));
  }

  /** Prepares for frames without memory. */
  void useSmallPages() {
    arena.useSmallPages(memory);
  }

  private MemorySegment frame(long page) {
    return memory.asSlice(offset(pageStart(page)), pageBytes());
  }
}
