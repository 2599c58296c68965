package io.fasterkv.memory;

import java.util.BitSet;

/**
 * Allocates blocks of 512 bytes times a power of two from a region, as a buddy allocator; offsets
 * identify the blocks. A freed block is joined with its buddy if that is free too, so the region
 * does not fragment permanently. It allocates nothing on the heap after its construction, so no
 * block is lost when the heap is full. One thread at a time.
 */
final class BuddyBlocks {
  static final int ORDERS = 22;

  /** No block. */
  static final long NONE = -1;

  /** The free blocks by order: bit i of order n is the block at offset i * 512 * 2^n. */
  private final BitSet[] free = new BitSet[ORDERS];

  private final int[] counts = new int[ORDERS];

  /** By order: no bit below this one is set. */
  private final int[] lowest = new int[ORDERS];

  BuddyBlocks(long bytes) {
    for (int order = 0; order < ORDERS; order++) {
      free[order] = new BitSet(Math.toIntExact(bytes / blockBytes(order)));
    }
    long at = 0;
    for (int order = ORDERS - 1; order >= 0; order--) {
      for (; at + blockBytes(order) <= bytes; at += blockBytes(order)) {
        add(order, at);
      }
    }
  }

  /**
   * Takes the lowest of the smallest free blocks that are large enough; returns its offset or
   * {@link #NONE}.
   */
  long tryTake(int wanted) {
    for (int order = wanted; order < ORDERS; order++) {
      if (counts[order] > 0) {
        long block = takeLowest(order);
        for (int half = order - 1; half >= wanted; half--) {
          add(half, block + blockBytes(half));
        }
        return block;
      }
    }
    return NONE;
  }

  void give(long block, int blockOrder) {
    long whole = block;
    int order = blockOrder;
    while (order < ORDERS - 1 && tryRemove(order, whole ^ blockBytes(order))) {
      whole &= ~blockBytes(order);
      order++;
    }
    add(order, whole);
  }

  long freeBytes() {
    long bytes = 0;
    for (int order = 0; order < ORDERS; order++) {
      bytes += counts[order] * blockBytes(order);
    }
    return bytes;
  }

  private void add(int order, long block) {
    int index = index(order, block);
    free[order].set(index);
    counts[order]++;
    lowest[order] = Math.min(lowest[order], index);
  }

  private long takeLowest(int order) {
    int index = free[order].nextSetBit(lowest[order]);
    free[order].clear(index);
    counts[order]--;
    lowest[order] = index + 1;
    return index * blockBytes(order);
  }

  private boolean tryRemove(int order, long block) {
    int index = index(order, block);
    boolean isFree = free[order].get(index);
    if (isFree) {
      free[order].clear(index);
      counts[order]--;
    }
    return isFree;
  }

  private static int index(int order, long block) {
    return (int) (block / blockBytes(order));
  }

  static long blockBytes(int order) {
    return (long) BufferPool.MIN_BYTES << order;
  }

  /**
   * The order of the smallest block that holds {@code bytes}; {@code ORDERS} or more if there is
   * none.
   */
  static int order(int bytes) {
    int blocks = Math.max(1, Math.ceilDiv(bytes, BufferPool.MIN_BYTES));
    return Integer.SIZE - Integer.numberOfLeadingZeros(blocks - 1);
  }
}
