package io.fasterkv.bench.demo.job;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * How far the input has been read. Falls back when a reader goes back to a checkpoint. For the
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

  /** Returns how many times a word was read, again after a failure included. */
  public long reads() {
    return reads.sum();
  }

  /** One more word of a range has been read. */
  void advance(int ordinal) {
    readOfRange.incrementAndGet(ordinal);
    words.increment();
    reads.increment();
  }

  /** A reader begins at, or the enumerator gets back, {@code split}. */
  void set(TextSplit split) {
    words.add(split.read() - readOfRange.getAndSet(split.range().ordinal(), split.read()));
  }
}
