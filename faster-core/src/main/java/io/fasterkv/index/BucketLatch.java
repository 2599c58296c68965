package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * A bucket's latch, in the word that leads to its overflow bucket (CPR, section 6.2): shared by
 * what is of the old version, exclusive for what is of the new one, while both are at work. Nobody
 * waits here: who does not get it comes again.
 *
 * @param at where the word is in the index's memory
 */
public record BucketLatch(MemorySegment memory, long at) {

  /** One more holder, unless the latch is held exclusively, or by as many as can be counted. */
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

  /** Ends a {@link #tryShare} that has succeeded; on any thread. */
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

  /** Takes the latch for one holder alone, if nobody has it. */
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

  /** Ends a {@link #tryExclude} that has succeeded. */
  public void endExclude() {
    Words.getAndBitwiseAnd(memory, at, ~BucketLayout.EXCLUSIVE);
  }

  /** Whether anybody shares the latch. */
  public boolean isShared() {
    return (Words.loadVolatile(memory, at) & BucketLayout.SHARED_MASK) != 0;
  }
}
