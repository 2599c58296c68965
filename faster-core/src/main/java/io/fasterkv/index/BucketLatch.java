package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * A bucket's latch, in the word that links to its overflow bucket (CPR, section 6.2). While
 * operations of two versions run, those of the old version share it and those of the new version
 * hold it exclusively. It never blocks: an operation that does not get it retries.
 *
 * @param at position of the word in the index's memory
 */
public record BucketLatch(MemorySegment memory, long at) {

  /** Adds a holder; fails if the latch is held exclusively or by the maximum number of holders. */
  public boolean tryShare() {
    while (true) {
      long word = Words.loadVolatile(memory, at);
      boolean isFull = (word & BucketLayout.SHARED_MASK) == BucketLayout.SHARED_MASK;
      if (isFull || (word & BucketLayout.EXCLUSIVE) != 0) {
        return false;
      }
      if (Words.compareAndSet(memory, at, word, word + BucketLayout.SHARED_ONE)) {
        return true;
      }
    }
  }

  /** Ends a successful {@link #tryShare}; on any thread. */
  public void endShare() {
    while (true) {
      long word = Words.loadVolatile(memory, at);
      if ((word & BucketLayout.SHARED_MASK) == 0) {
        throw new IllegalStateException("a bucket's latch is not shared: offset=" + at);
      }
      if (Words.compareAndSet(memory, at, word, word - BucketLayout.SHARED_ONE)) {
        return;
      }
    }
  }

  /** Takes the latch exclusively; fails if it is held. */
  public boolean tryExclude() {
    while (true) {
      long word = Words.loadVolatile(memory, at);
      if ((word & (BucketLayout.SHARED_MASK | BucketLayout.EXCLUSIVE)) != 0) {
        return false;
      }
      if (Words.compareAndSet(memory, at, word, word | BucketLayout.EXCLUSIVE)) {
        return true;
      }
    }
  }

  /** Ends a successful {@link #tryExclude}. */
  public void endExclude() {
    Words.getAndBitwiseAnd(memory, at, ~BucketLayout.EXCLUSIVE);
  }

  /** Whether the latch is shared. */
  public boolean isShared() {
    return (Words.loadVolatile(memory, at) & BucketLayout.SHARED_MASK) != 0;
  }
}
