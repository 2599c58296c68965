package io.fasterkv.demo.job;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * How far the input has been read. Decreases when a reader is restored from a checkpoint. For the
 * screen and for timing only: results come from the job's state.
 */
public final class Progress {
  private final AtomicIntegerArray readOfRange;
  private final LongAdder words = new LongAdder();
  private final LongAdder reads = new LongAdder();

  Progress(int ranges) {
    readOfRange = new AtomicIntegerArray(ranges);
  }

  /** Returns how many words of the input are read, 0 to all. */
  public long words() {
    return words.sum();
  }

  /** Returns how many times a word was read, including repeated reads after a failure. */
  public long reads() {
    return reads.sum();
  }

  /** Counts one more word of a range. */
  void advance(int ordinal) {
    readOfRange.incrementAndGet(ordinal);
    words.increment();
    reads.increment();
  }

  /** Sets the position when a reader starts {@code split}, or the enumerator gets it back. */
  void set(TextSplit split) {
    words.add(split.read() - readOfRange.getAndSet(split.range().ordinal(), split.read()));
  }
}
