package io.fasterkv.device.restore;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Queue;
import java.util.function.LongToIntFunction;

/**
 * The order in which a lazily restored log is copied: first the stretches that an operation has
 * missed, then the rest by heat, hottest first, and newest first if they are equally hot. A stretch
 * is some mebibytes of one file and is handed out once. Safe for all threads; each call takes a
 * lock.
 */
final class FillOrder {
  /** Long enough to make the cost of opening a stream small, even at 30 ms. */
  private static final long STRETCH_BYTES = 4L << 20;

  static final int NONE = -1;

  private final LazyRestoreBlocks blocks;

  /** The first block of each stretch; after the last one, the number of blocks. */
  private final int[] firsts;

  private final Queue<Integer> missed = new ArrayDeque<>();
  private final BitSet begun = new BitSet();
  private final BitSet queued = new BitSet();

  /** The heat and the number of each stretch, in reverse order. */
  private final long[] ranks;

  /** The ranks from this index on have been handed out. */
  private int left;

  FillOrder(LazyRestoreBlocks blocks) {
    this(blocks, STRETCH_BYTES);
  }

  /** Creates an order with another length of stretches, for tests. */
  FillOrder(LazyRestoreBlocks blocks, long stretchBytes) {
    this.blocks = blocks;
    firsts = stretches(blocks, stretchBytes);
    ranks = new long[count()];
    left = ranks.length;
    Arrays.setAll(ranks, stretch -> stretch);
  }

  private static int[] stretches(LazyRestoreBlocks blocks, long stretchBytes) {
    int[] found = new int[16];
    int count = 0;
    int block = 0;
    while (block < blocks.count()) {
      if (count + 1 == found.length) {
        found = Arrays.copyOf(found, 2 * count + 2);
      }
      found[count++] = block;
      int end = blocks.endOfFile(block);
      long limit = blocks.from(block) + stretchBytes;
      block = blocks.until(end - 1) <= limit ? end : Math.max(block + 1, blocks.at(limit));
    }
    found[count] = blocks.count();
    return Arrays.copyOf(found, count + 1);
  }

  /** The number of stretches. */
  int count() {
    return firsts.length - 1;
  }

  int first(int stretch) {
    return firsts[stretch];
  }

  int end(int stretch) {
    return firsts[stretch + 1];
  }

  /** The next stretch to copy, or {@link #NONE} if all have been handed out. */
  synchronized int next() {
    for (Integer stretch = missed.poll(); stretch != null; stretch = missed.poll()) {
      if (!begun.get(stretch)) {
        begun.set(stretch);
        return stretch;
      }
    }
    while (left > 0) {
      int stretch = (int) ranks[--left];
      if (!begun.get(stretch)) {
        begun.set(stretch);
        return stretch;
      }
    }
    return NONE;
  }

  /**
   * Sorts the stretches. Must be called before the first is handed out.
   *
   * @param heat returns the heat of the 4 MiB of the log around an address, 0 and above
   */
  synchronized void sort(LongToIntFunction heat) {
    for (int stretch = 0; stretch < ranks.length; stretch++) {
      ranks[stretch] = (long) heat(stretch, heat) << Integer.SIZE | stretch;
    }
    Arrays.sort(ranks);
  }

  private int heat(int stretch, LongToIntFunction heat) {
    long until = blocks.until(end(stretch) - 1);
    int most = 0;
    for (long at = blocks.from(first(stretch)); at < until; at = (at | STRETCH_BYTES - 1) + 1) {
      most = Math.max(most, heat.applyAsInt(at));
    }
    return most;
  }

  /** Puts the stretch of a block that an operation has missed first. */
  void missed(int block) {
    int found = Arrays.binarySearch(firsts, block);
    int stretch = found >= 0 ? found : -found - 2;
    synchronized (this) {
      if (!begun.get(stretch) && !queued.get(stretch)) {
        queued.set(stretch);
        missed.add(stretch);
      }
    }
  }

  /** Whether any block of a stretch is missing. */
  boolean isWanted(int stretch) {
    for (int block = first(stretch); block < end(stretch); block++) {
      if (!blocks.isLocal(block)) {
        return true;
      }
    }
    return false;
  }
}
