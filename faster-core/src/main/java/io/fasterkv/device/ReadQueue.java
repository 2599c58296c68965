package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one caller, many at a time; they end in any order. For one thread at a time. A
 * requested read may be delayed until there are more, or until {@link #next} is called, so that
 * several are submitted together.
 */
public interface ReadQueue extends AutoCloseable {
  /** The result of {@link #next} if no read has ended. */
  int NONE = -1;

  /**
   * Creates a queue over the asynchronous reads of any device.
   *
   * @param device the device to read from
   * @param listeners returns the listener for each read; null if nobody listens. The listener runs
   *     when the read has ended, on a thread of the device. A read in progress references its
   *     listener; the queue does not
   * @return the queue
   */
  static ReadQueue over(LogDevice device, Supplier<? extends @Nullable Runnable> listeners) {
    return new CompletedReads(device, listeners);
  }

  /**
   * Requests a read.
   *
   * @param tag identifies the read until it has ended: 0 to the queue's depth less one, and not in
   *     use by another read
   * @param address where to read
   * @param target filled completely
   */
  void read(int tag, long address, MemorySegment target);

  /**
   * Returns a read that has ended; each is returned once. An interrupt does not end the wait, and
   * is preserved.
   *
   * @param wait whether to wait for a read to end, if any is in progress
   * @return the read's tag, or {@link #NONE}
   */
  int next(boolean wait);

  /** {@return why the read that {@link #next} returned has failed; null if all bytes were read} */
  @Nullable IOException failure();

  /** Waits for reads in progress and drops their results. */
  @Override
  void close();
}
