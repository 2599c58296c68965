package io.fasterkv.log;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Locates records in memory, for code that only reads and changes them there. A record class, so
 * that the compiler treats all parts of a constant view as constants.
 *
 * @param head records at or above it are in memory
 * @param mutable records at or above it are changed in place
 */
public record LogView(MemorySegment memory, long mask, AtomicLong head, AtomicLong mutable) {

  /** Records at or above this address are in memory; the caller must already be protected. */
  public long readableFrom() {
    return head.getAcquire();
  }

  /**
   * Records at or above this address may be changed in place by a caller that was protected before.
   */
  public long mutableFrom() {
    return mutable.getAcquire();
  }

  /**
   * The offset of an address, which must be a multiple of 8; any other value gives some offset
   * within the memory.
   */
  public long offset(long address) {
    // The mask lets the compiler see the alignment and omit the check.
    return address & mask & -Long.BYTES;
  }
}
