package io.fasterkv.flink.restore;

import io.fasterkv.flink.snapshot.StreamPool;
import java.io.Closeable;
import java.io.IOException;
import java.lang.System.Logger;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.util.clock.Clock;

/**
 * The environment of a restore.
 *
 * @param cancelled closed when the task is cancelled
 * @param clock the clock for progress reports
 * @param streams how many streams may read the checkpoint's log at a time
 * @param logger receives the progress and the result
 */
public record RestoreScope(CloseableRegistry cancelled, Clock clock, int streams, Logger logger) {

  /**
   * Throws if the restore is cancelled.
   *
   * @throws CancelTaskException if the restore is cancelled
   */
  void check() {
    if (cancelled.isClosed()) {
      throw new CancelTaskException("the restore was cancelled");
    }
  }

  /**
   * Number of streams that read the log for a store. Up to twice as many may be open, so this keeps
   * their buffers on the heap within the size of the store's scratch memory.
   */
  int streams(long scratchBytes) {
    return (int) Math.clamp(scratchBytes / (2 * StreamPool.BYTES_A_STREAM), 1, streams);
  }

  /** Runs a part of a restore whose streams are closed when the task is cancelled. */
  <T> T closing(Closeable toClose, Part<T> part) throws IOException {
    cancelled.registerCloseable(toClose);
    try {
      return part.run();
    } finally {
      cancelled.unregisterCloseable(toClose);
    }
  }

  /** A part of a restore. */
  @FunctionalInterface
  interface Part<T> {
    T run() throws IOException;
  }
}
