package io.fasterkv.flink.restore;

import java.io.Closeable;
import java.io.IOException;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.util.clock.Clock;

/**
 * The environment of a restore.
 *
 * @param cancelled closed when the task is cancelled
 * @param clock the clock for progress reports
 * @param streams how many streams read the checkpoint's log at a time
 */
public record RestoreScope(CloseableRegistry cancelled, Clock clock, int streams) {

  /**
   * Ends the restore if it is cancelled.
   *
   * @throws CancelTaskException if it is
   */
  void check() {
    if (cancelled.isClosed()) {
      throw new CancelTaskException("the restore was cancelled");
    }
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
