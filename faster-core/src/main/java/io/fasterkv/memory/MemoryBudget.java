package io.fasterkv.memory;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.util.concurrent.atomic.AtomicLong;

/** Counts off-heap bytes against one ceiling, which is never passed. Safe for all threads. */
public final class MemoryBudget {
  private final long limitBytes;
  private final AtomicLong usedBytes = new AtomicLong();

  public MemoryBudget(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** Takes bytes out of the budget; the error names what they were for. */
  public void take(String purpose, long bytes) {
    if (!tryTake(bytes)) {
      throw new OutOfBudget(
          "the memory budget is used up: purpose="
              + purpose
              + ", bytes="
              + bytes
              + ", free="
              + (limitBytes - usedBytes.getAcquire())
              + ", memoryBytes="
              + limitBytes
              + "; raise memoryBytes or lower a part");
    }
  }

  /** Takes bytes if they are there. */
  public boolean tryTake(long bytes) {
    for (long used = usedBytes.getAcquire(); ; used = usedBytes.getAcquire()) {
      if (bytes > limitBytes - used) {
        return false;
      }
      if (usedBytes.compareAndSet(used, used + bytes)) {
        return true;
      }
    }
  }

  /** Puts bytes back that were taken. */
  void giveBack(long bytes) {
    usedBytes.addAndGet(-bytes);
  }

  public long usedBytes() {
    return usedBytes.getAcquire();
  }

  public long limitBytes() {
    return limitBytes;
  }
}
