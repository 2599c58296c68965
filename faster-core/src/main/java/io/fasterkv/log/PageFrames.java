package io.fasterkv.log;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.PagePrefaulter;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The circular buffer: one flat region with a power of two of pages. An address is at {@code
 * address & mask}, whatever its page. A frame is zeroed before a page uses it, so a zero word marks
 * the end of what was written on a page.
 */
final class PageFrames {
  /** The name of the memory in the memory budget. */
  static final String PURPOSE = "log pages";

  /** Length of a write at which devices reach their full speed. */
  private static final long MAX_RUN_BYTES = 1 << 20;

  /** Prefaulting starts this many pages after the log's first page. */
  private static final long AHEAD_PAGES = 2;

  private final MemorySegment memory;
  private final long mask;
  private final int pageBits;
  private final long runBytes;
  private final @Nullable PagePrefaulter prefaulter;
  private final OffHeapArena arena;
  private final FrameWindow window;

  /** Changed only by the thread that clears. */
  private boolean isPrepared;

  /**
   * @param segmentBytes length of a device segment, a power of two of pages
   */
  PageFrames(OffHeapArena arena, long bytes, int pageBytes, long segmentBytes) {
    this(
        arena,
        arena.allocate(PURPOSE, bytes, OffHeapArena.PAGE_ALIGNMENT),
        bytes,
        pageBytes,
        segmentBytes);
  }

  /**
   * Creates frames some of which may lose their memory later, if the system supports that.
   *
   * @param bytes length of the frames that have memory at first, a power of two
   * @param mostBytes length of all frames, a power of two; only {@code bytes} if the system cannot
   *     give frames memory later
   */
  static PageFrames resizable(
      OffHeapArena arena, long bytes, long mostBytes, int pageBytes, long segmentBytes) {
    MemorySegment memory = arena.allocateResizable(PURPOSE, bytes, mostBytes - bytes);
    MemorySegment used = arena.isResizable(memory, pageBytes) ? memory : memory.asSlice(0, bytes);
    return new PageFrames(arena, used, bytes, pageBytes, segmentBytes);
  }

  private PageFrames(
      OffHeapArena arena, MemorySegment memory, long bytes, int pageBytes, long segmentBytes) {
    this.arena = arena;
    this.memory = memory;
    runBytes = Math.max(pageBytes, Math.min(MAX_RUN_BYTES, Math.min(bytes, segmentBytes)));
    mask = memory.byteSize() - 1;
    pageBits = Integer.numberOfTrailingZeros(pageBytes);
    window = new FrameWindow(this, bytes >>> pageBits);
    prefaulter = arena.prefaulter(memory, bytes - AHEAD_PAGES * pageBytes);
  }

  /** Limits how many frames have pages. */
  FrameWindow window() {
    return window;
  }

  /** Whether frames can lose their memory. */
  boolean isResizable() {
    return arena.isResizable(memory, pageBytes());
  }

  MemorySegment memory() {
    return memory;
  }

  long offset(long address) {
    return address & mask;
  }

  /** The mask that turns an address into an offset. */
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

  /** End of the run from {@code address} on that can be written to the device at once. */
  long runEnd(long address) {
    return (address | (runBytes - 1)) + 1;
  }

  /** The bytes from {@code address} to {@code until}, which must be within one run. */
  MemorySegment slice(long address, long until) {
    return memory.asSlice(offset(address), until - address);
  }

  /** Called when the tail has reached a page, to prefault the pages after it. */
  void reached(long page) {
    if (prefaulter != null) {
      prefaulter.reached(pageStart(page + 1));
    }
  }

  /** Ends prefaulting; waits for the thread, which is touching one word at most. */
  private void stopTouching() {
    if (prefaulter != null) {
      prefaulter.close();
    }
  }

  /** Frees the memory; no other thread may use it. */
  void close() {
    stopTouching();
  }

  /** Makes the frame of a page zero. */
  void clear(long page) {
    frame(page).fill((byte) 0);
  }

  /** Like {@link #clear}; the frame then has no memory until it is touched again. */
  void release(long page) {
    arena.release(frame(page));
  }

  /**
   * Prepares for frames without memory, which neither huge pages nor prefaulting may touch; for the
   * thread that clears. From now on that thread touches each frame that it clears.
   */
  void prepareForRelease() {
    if (!isPrepared) {
      stopTouching();
      arena.useSmallPages(memory);
      isPrepared = true;
    }
  }

  private MemorySegment frame(long page) {
    return memory.asSlice(offset(pageStart(page)), pageBytes());
  }
}
