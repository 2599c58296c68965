package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One caller's reads, many at a time; they end in any order. Used by one thread at a time. A read
 * that was asked for may wait until some more are, or until {@link #next} is called, so that they
 * are handed over together.
 */
public interface ReadQueue extends AutoCloseable {
  /** No read has ended. */
  int NONE = -1;

  /**
   * Asks for all of {@code target} from {@code address} on.
   *
   * @param tag 0 to the queue's depth less one; names the read until it has ended, and is not in
   *     use by another
   */
  void read(int tag, long address, MemorySegment target);

  /**
   * The tag of a read that has ended, each once, or {@link #NONE}; if {@code wait}, and a read is
   * under way, it waits for one to end. An interrupt does not end the wait, and is kept.
   */
  int next(boolean wait);

  /** Why the read that {@link #next} returned has failed; null when all bytes are there. */
  @Nullable IOException failure();

  /** Waits for the reads under way, and forgets them. */
  @Override
  void close();
}
