package io.fasterkv.memory;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Lends scratch buffers out of a fixed number of bytes: a buddy allocator of blocks of 512 bytes
 * times a power of two. A block that comes back is joined with its other half when that is free
 * too, so the pool does not crumble. Safe for all threads; it takes a lock, and is off the hot
 * path: a session keeps its buffers.
 */
public final class BufferPool {
  /** The smallest buffer. */
  public static final int MIN_BYTES = 512;

  private static final int ORDERS = 22;

  private final MemorySegment memory;

  /** Offsets of the free blocks, by order: a block of order n has 512 * 2^n bytes. */
  private final List<TreeSet<Long>> free = new ArrayList<>();

  public BufferPool(OffHeapArena arena, long bytes) {
    memory = arena.allocate("scratch buffers", bytes, OffHeapArena.PAGE_ALIGNMENT);
    for (int order = 0; order < ORDERS; order++) {
      free.add(new TreeSet<>());
    }
    long at = 0;
    for (int order = ORDERS - 1; order >= 0; order--) {
      for (; at + blockBytes(order) <= bytes; at += blockBytes(order)) {
        free.get(order).add(at);
      }
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
  public synchronized @Nullable MemorySegment tryTake(int bytes) {
    int wanted = order(bytes);
    for (int order = wanted; order < ORDERS; order++) {
      Long block = free.get(order).pollFirst();
      if (block != null) {
        for (int half = order - 1; half >= wanted; half--) {
          free.get(half).add(block + blockBytes(half));
        }
        return memory.asSlice(block, blockBytes(wanted));
      }
    }
    return null;
  }

  /** Gives a buffer back, or a half or quarter of one; the caller does not touch it any more. */
  public synchronized void give(MemorySegment buffer) {
    long block = buffer.address() - memory.address();
    int order = order((int) buffer.byteSize());
    while (order < ORDERS - 1 && free.get(order).remove(block ^ blockBytes(order))) {
      block &= ~blockBytes(order);
      order++;
    }
    free.get(order).add(block);
  }

  /** Bytes that are not lent. */
  public synchronized long freeBytes() {
    long bytes = 0;
    for (int order = 0; order < ORDERS; order++) {
      bytes += free.get(order).size() * blockBytes(order);
    }
    return bytes;
  }

  /** Whether half of the pool stays free when a buffer of {@code bytes} is taken. */
  public boolean leavesHalf(int bytes) {
    return freeBytes() - bytes >= memory.byteSize() / 2;
  }

  private static long blockBytes(int order) {
    return (long) MIN_BYTES << order;
  }

  private static int order(int bytes) {
    int blocks = Math.max(1, Math.ceilDiv(bytes, MIN_BYTES));
    int order = Integer.SIZE - Integer.numberOfLeadingZeros(blocks - 1);
    if (order >= ORDERS) {
      throw new OutOfBudget("a scratch buffer is too large: bytes=" + bytes);
    }
    return order;
  }
}
