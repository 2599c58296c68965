package io.fasterkv.memory;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes memory from the machine a little before a circular buffer comes to it. What the kernel maps
 * is there when it is touched first: until it has been cleared, which takes longer than what is
 * written there, whoever touches it waits. This does so on a thread of its own, once for each piece
 * of the buffer, and ends when the buffer has been round once.
 *
 * <p>Others write there meanwhile, and what they write stays: a word is touched by putting zero in
 * the place of zero, atomically. Nothing is read before that: the kernel would map its page of
 * zeros, and break it up for the write that follows.
 */
public final class TouchAhead implements AutoCloseable {
  /** How far ahead: what a thread writes while another is not on a processor, many times over. */
  static final long MOST_BYTES = 64 << 20;

  /** A part of the buffer at most, since more may never be needed. */
  static final long SHARE = 4;

  private static final long SMALL_PAGE_BYTES = 4096;
  private static final long NOWHERE = -1;

  private final MemorySegment memory;
  private final long aheadBytes;
  private final AtomicLong reached = new AtomicLong(NOWHERE);
  private final Thread thread =
      Thread.ofPlatform().daemon().name("faster-touch").unstarted(this::run);
  private volatile long touched = NOWHERE;
  private volatile boolean isClosed;

  /**
   * @param memory the buffer, a power of two of bytes: an address lies at its lowest bits
   */
  TouchAhead(MemorySegment memory) {
    this.memory = memory;
    aheadBytes = Math.min(MOST_BYTES, memory.byteSize() / SHARE);
  }

  /** Writers have come to an address; what lies after it is touched. Any thread; no waiting. */
  public void reached(long address) {
    long before = reached.getAndAccumulate(address, Math::max);
    if (before == NOWHERE) {
      OwnThread.tryStart(thread, "threads that write there touch the memory themselves");
    } else if (before < address) {
      LockSupport.unpark(thread);
    }
  }

  /** The address up to which all is touched, or -1 before that has begun. */
  long touched() {
    return touched;
  }

  /** Ends the thread; the memory may be given back then. */
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
    long end = at + memory.byteSize();
    while (at < end && !isClosed) {
      long from = reached.get();
      long until = Math.min(end, from + aheadBytes);
      // What lies behind, writers have touched.
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
