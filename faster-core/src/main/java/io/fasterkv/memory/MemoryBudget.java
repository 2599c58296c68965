package io.fasterkv.memory;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/** Counts off-heap bytes against one ceiling, which is never passed. Safe for all threads. */
public final class MemoryBudget {
  private final long limitBytes;
  private final AtomicLong usedBytes = new AtomicLong();
  private final ConcurrentMap<String, Long> byPurpose = new ConcurrentHashMap<>();

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
    byPurpose.merge(purpose, bytes, Long::sum);
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

  /** From now on bytes that were taken for one purpose are for another. */
  void move(String from, String to, long bytes) {
    byPurpose.merge(from, -bytes, Long::sum);
    byPurpose.merge(to, bytes, Long::sum);
  }

  /** Puts bytes back that were taken for a purpose. */
  void giveBack(String purpose, long bytes) {
    byPurpose.merge(purpose, -bytes, Long::sum);
    usedBytes.addAndGet(-bytes);
  }

  /** Bytes taken for a purpose. */
  public long usedBytes(String purpose) {
    return byPurpose.getOrDefault(purpose, 0L);
  }

  public long usedBytes() {
    return usedBytes.getAcquire();
  }

  public long limitBytes() {
    return limitBytes;
  }
}
