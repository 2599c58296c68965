package io.fasterkv.memory;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Lends scratch buffers of 512 bytes times a power of two, within a fixed number of bytes. Buffers
 * are carved from one segment on demand and return to a list of their size; a size that has run out
 * is served by splitting a larger free buffer. Safe for all threads, and off the hot path: a
 * session keeps its buffers.
 */
public final class BufferPool {
  /** The smallest buffer. */
  public static final int MIN_BYTES = 512;

  private static final int SIZES = 22;

  private final MemorySegment memory;
  private final AtomicLong carvedBytes = new AtomicLong();
  private final ConcurrentLinkedQueue<MemorySegment>[] free;

  @SuppressWarnings({"unchecked", "rawtypes"})
  public BufferPool(OffHeapArena arena, long bytes) {
    memory = arena.allocate("scratch buffers", bytes, OffHeapArena.PAGE_ALIGNMENT);
    free = new ConcurrentLinkedQueue[SIZES];
    for (int i = 0; i < SIZES; i++) {
      free[i] = new ConcurrentLinkedQueue<>();
    }
  }

  /** A buffer of at least {@code bytes}; its content is whatever it was. */
  public MemorySegment take(int bytes) {
    MemorySegment buffer = tryTake(bytes);
    if (buffer == null) {
      throw new OutOfBudget(
          "scratch buffers are used up: bytes="
              + bytes
              + ", scratchBytes="
              + memory.byteSize()
              + "; raise scratchBytes, or have fewer scans and pending operations at a time");
    }
    return buffer;
  }

  /** A buffer of at least {@code bytes}, or null when there is no room for it now. */
  public @Nullable MemorySegment tryTake(int bytes) {
    int size = sizeClass(bytes);
    MemorySegment buffer = free[size].poll();
    if (buffer != null) {
      return buffer;
    }
    buffer = carve((long) MIN_BYTES << size);
    return buffer != null ? buffer : split(size);
  }

  /** Gives a buffer back; the caller does not touch it any more. */
  public void give(MemorySegment buffer) {
    free[sizeClass((int) buffer.byteSize())].offer(buffer);
  }

  private @Nullable MemorySegment carve(long bytes) {
    for (long at = carvedBytes.getAcquire(); ; at = carvedBytes.getAcquire()) {
      if (at + bytes > memory.byteSize()) {
        return null;
      }
      if (carvedBytes.compareAndSet(at, at + bytes)) {
        return memory.asSlice(at, bytes);
      }
    }
  }

  private @Nullable MemorySegment split(int size) {
    for (int larger = size + 1; larger < SIZES; larger++) {
      MemorySegment buffer = free[larger].poll();
      if (buffer != null) {
        for (int half = larger - 1; half >= size; half--) {
          long halfBytes = (long) MIN_BYTES << half;
          free[half].offer(buffer.asSlice(halfBytes, halfBytes));
          buffer = buffer.asSlice(0, halfBytes);
        }
        return buffer;
      }
    }
    return null;
  }

  private static int sizeClass(int bytes) {
    int blocks = Math.max(1, Math.ceilDiv(bytes, MIN_BYTES));
    int size = Integer.SIZE - Integer.numberOfLeadingZeros(blocks - 1);
    if (size >= SIZES) {
      throw new IllegalArgumentException("a buffer is too large: bytes=" + bytes);
    }
    return size;
  }
}
