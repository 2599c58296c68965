package io.fasterkv.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * A buddy allocator of numbers: blocks of 512 bytes times a power of two out of a region, named by
 * their offsets. A block that comes back is joined with its other half when that is free too, so a
 * region does not crumble. One thread at a time.
 */
final class BuddyBlocks {
  static final int ORDERS = 22;

  /** No block. */
  static final long NONE = -1;

  /** Offsets of the free blocks, by order: a block of order n has 512 * 2^n bytes. */
  private final List<TreeSet<Long>> free = new ArrayList<>();

  BuddyBlocks(long bytes) {
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

  /** The lowest smallest free block that is large enough, or {@link #NONE}. */
  long tryTake(int wanted) {
    for (int order = wanted; order < ORDERS; order++) {
      Long block = free.get(order).pollFirst();
      if (block != null) {
        for (int half = order - 1; half >= wanted; half--) {
          free.get(half).add(block + blockBytes(half));
        }
        return block;
      }
    }
    return NONE;
  }

  void give(long block, int blockOrder) {
    long whole = block;
    int order = blockOrder;
    while (order < ORDERS - 1 && free.get(order).remove(whole ^ blockBytes(order))) {
      whole &= ~blockBytes(order);
      order++;
    }
    free.get(order).add(whole);
  }

  long freeBytes() {
    long bytes = 0;
    for (int order = 0; order < ORDERS; order++) {
      bytes += free.get(order).size() * blockBytes(order);
    }
    return bytes;
  }

  static long blockBytes(int order) {
    return (long) BufferPool.MIN_BYTES << order;
  }

  /**
   * The order of the smallest block that holds {@code bytes}; not less than {@code ORDERS} if none.
   */
  static int order(int bytes) {
    int blocks = Math.max(1, Math.ceilDiv(bytes, BufferPool.MIN_BYTES));
    return Integer.SIZE - Integer.numberOfLeadingZeros(blocks - 1);
  }
}
