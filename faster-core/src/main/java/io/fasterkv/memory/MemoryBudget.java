package io.fasterkv.memory;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts off-heap bytes against a limit that is never exceeded. The limit falls by bytes that were
 * taken or free, and rises by bytes that are taken at once or free. Safe for all threads.
 */
public final class MemoryBudget {
  private final AtomicLong limitBytes;
  private final AtomicLong freeBytes;
  private final ConcurrentMap<String, AtomicLong> byPurpose = new ConcurrentHashMap<>();

  public MemoryBudget(long limitBytes) {
    this.limitBytes = new AtomicLong(limitBytes);
    freeBytes = new AtomicLong(limitBytes);
  }

  /** Takes bytes from the budget; the exception names their purpose. */
  public void take(String purpose, long bytes) {
    AtomicLong sum = sum(purpose);
    if (!tryTake(bytes)) {
      throw new OutOfBudget(
          "the memory budget is used up: purpose="
              + purpose
              + ", bytes="
              + bytes
              + ", free="
              + freeBytes.getAcquire()
              + ", memoryBytes="
              + limitBytes()
              + "; raise memoryBytes or lower a part");
    }
    sum.addAndGet(bytes);
  }

  /** Takes bytes for a purpose if they are available. */
  boolean tryTake(String purpose, long bytes) {
    AtomicLong sum = sum(purpose);
    boolean isTaken = tryTake(bytes);
    sum.addAndGet(isTaken ? bytes : 0);
    return isTaken;
  }

  /** Takes bytes if they are available. */
  public boolean tryTake(long bytes) {
    for (long free = freeBytes.getAcquire(); ; free = freeBytes.getAcquire()) {
      if (bytes > free) {
        return false;
      }
      if (freeBytes.compareAndSet(free, free - bytes)) {
        return true;
      }
    }
  }

  /** Returns bytes that were taken for a purpose. */
  void release(String purpose, long bytes) {
    sum(purpose).addAndGet(-bytes);
    freeBytes.addAndGet(bytes);
  }

  /** Raises the limit by bytes that are then free. */
  public void raiseLimit(long bytes) {
    limitBytes.addAndGet(bytes);
    freeBytes.addAndGet(bytes);
  }

  /** Raises the limit by bytes that are taken for a purpose at once. */
  void raiseLimit(String purpose, long bytes) {
    AtomicLong sum = sum(purpose);
    limitBytes.addAndGet(bytes);
    sum.addAndGet(bytes);
  }

  /** Lowers the limit by bytes that were taken for a purpose. */
  void lowerLimit(String purpose, long bytes) {
    sum(purpose).addAndGet(-bytes);
    limitBytes.addAndGet(-bytes);
  }

  /** Lowers the limit by bytes that are free; returns false if fewer are. */
  public boolean tryLowerLimit(long bytes) {
    boolean isFree = tryTake(bytes);
    if (isFree) {
      limitBytes.addAndGet(-bytes);
    }
    return isFree;
  }

  /** Bytes taken for a purpose. */
  public long usedBytes(String purpose) {
    return sum(purpose).getAcquire();
  }

  /** Called before anything is taken, so that taking cannot fail halfway for lack of heap. */
  private AtomicLong sum(String purpose) {
    AtomicLong sum = byPurpose.get(purpose);
    return sum == null ? byPurpose.computeIfAbsent(purpose, name -> new AtomicLong()) : sum;
  }

  public long usedBytes() {
    return limitBytes() - freeBytes.getAcquire();
  }

  public long limitBytes() {
    return limitBytes.getAcquire();
  }
}
