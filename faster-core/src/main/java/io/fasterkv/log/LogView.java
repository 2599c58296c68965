package io.fasterkv.log;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where the records lie that memory holds, for those who read and change them there and nothing
 * else. A record, so that a constant view is constant through and through for the compiler.
 *
 * @param head at it and above a record is in memory
 * @param mutable at it and above a record is changed in place
 */
public record LogView(MemorySegment memory, long mask, AtomicLong head, AtomicLong mutable) {

  /** At it and above a record is in memory, for a caller that was protected before. */
  public long readableFrom() {
    return head.getAcquire();
  }

  /** At it and above a record is changed in place, by a caller that was protected before. */
  public long mutableFrom() {
    return mutable.getAcquire();
  }

  /** Where an address, which is a multiple of 8, lies; of anything else, a place in the memory. */
  public long offset(long address) {
    // What the compiler sees to be aligned it does not check.
    return address & mask & -Long.BYTES;
  }
}
