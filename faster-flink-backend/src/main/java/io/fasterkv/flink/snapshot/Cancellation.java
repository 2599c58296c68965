package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.util.concurrent.CancellationException;

/** Tells work that runs for long that nobody waits for it any more. Safe for all threads. */
public final class Cancellation implements Closeable {
  private volatile boolean cancelled;

  /** Cancels. */
  @Override
  public void close() {
    cancelled = true;
  }

  /**
   * Returns if the work should go on.
   *
   * @throws CancellationException if it was cancelled, or if the thread was interrupted
   */
  public void check() {
    if (cancelled || Thread.currentThread().isInterrupted()) {
      throw new CancellationException("the snapshot was cancelled");
    }
  }
}
