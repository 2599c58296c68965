package io.fasterkv.memory;

import java.lang.System.Logger;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Prefaults memory shortly before a circular buffer reaches it. The kernel commits a page when it
 * is first touched, and the touching thread waits until the page was cleared, which takes longer
 * than writing to it. This class touches a number of bytes once, on a thread of its own, and ends
 * when the buffer has used as many.
 *
 * <p>Other threads write to the buffer meanwhile, and their data is preserved: a word is touched by
 * an atomic compare-and-set of zero to zero. It is not read first: the kernel would map its shared
 * zero page and split it for the write that follows.
 */
public final class PagePrefaulter implements AutoCloseable {
  /** How far to prefault: many times what a thread can write while another one is not scheduled. */
  static final long MOST_BYTES = 64 << 20;

  /** At most this part of the buffer, since more may never be needed. */
  static final long SHARE = 4;

  private static final long SMALL_PAGE_BYTES = 4096;
  private static final long NOWHERE = -1;

  private final MemorySegment memory;
  private final Logger logger;
  private final long bytes;
  private final long aheadBytes;
  private final AtomicLong reached = new AtomicLong(NOWHERE);
  private final Thread thread =
      Thread.ofPlatform().daemon().name("faster-prefault").unstarted(this::run);
  private volatile long touched = NOWHERE;
  private volatile boolean isClosed;

  /**
   * @param memory the buffer, whose length is a power of two; the low bits of an address are the
   *     offset
   * @param bytes how many bytes it touches in all, at most the buffer's length
   * @param logger receives a failure to start the thread
   */
  PagePrefaulter(MemorySegment memory, long bytes, Logger logger) {
    this.memory = memory;
    this.bytes = bytes;
    this.logger = logger;
    aheadBytes = Math.min(MOST_BYTES, bytes / SHARE);
  }

  /**
   * Called when writers have reached an address, to touch what follows. Any thread; does not wait.
   */
  public void reached(long address) {
    long before = reached.getAndAccumulate(address, Math::max);
    if (before == NOWHERE) {
      OwnThread.tryStart(thread, "threads that write there touch the memory themselves", logger);
    } else if (before < address) {
      LockSupport.unpark(thread);
    }
  }

  /** The address up to which memory was touched, or -1 before the start. */
  long touched() {
    return touched;
  }

  /** Ends the thread; the memory may be freed afterwards. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  private static long smallPage(long address) {
    return address & -SMALL_PAGE_BYTES;
  }

  private void run() {
    long at = smallPage(reached.get());
    long end = at + bytes;
    while (at < end && !isClosed) {
      long from = reached.get();
      long until = Math.min(end, from + aheadBytes);
      // Writers have touched everything below.
      at = Math.max(at, smallPage(from));
      if (at < until) {
        Words.compareAndSet(memory, at & (memory.byteSize() - 1), 0, 0);
        at += SMALL_PAGE_BYTES;
        touched = at;
      } else {
        LockSupport.park(this);
      }
    }
  }
}
