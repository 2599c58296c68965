package io.fasterkv.flink.metrics;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/**
 * Measures the phases of snapshots: the synchronous phase, during which the task waits; the time
 * until a thread starts the asynchronous phase; and that phase. The values are those of the
 * snapshot that ended last. Threads of snapshots write them, threads of reporters read them.
 */
public final class SnapshotTimes {
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private volatile long syncNanos;
  private volatile long queuedNanos;
  private volatile long asyncNanos;
  private volatile long bytes;

  /**
   * Measures a snapshot.
   *
   * @param synchronously takes the snapshot on the task thread, and returns the work for another
   *     thread
   */
  public RunnableFuture<SnapshotResult<KeyedStateHandle>> time(
      Callable<RunnableFuture<SnapshotResult<KeyedStateHandle>>> synchronously) throws Exception {
    long begin = System.nanoTime();
    RunnableFuture<SnapshotResult<KeyedStateHandle>> rest = synchronously.call();
    long end = System.nanoTime();
    syncNanos = end - begin;
    return new Timed(rest, end);
  }

  /** Number of snapshots that were written. */
  public long taken() {
    return taken.get();
  }

  /** Number of snapshots that failed or were cancelled while they were written. */
  public long failed() {
    return failed.get();
  }

  /** How long the task waited for the latest snapshot. */
  public long syncMicros() {
    return TimeUnit.NANOSECONDS.toMicros(syncNanos);
  }

  /** How long the asynchronous phase of the latest snapshot waited for a thread. */
  public long queuedMillis() {
    return TimeUnit.NANOSECONDS.toMillis(queuedNanos);
  }

  /** How long the asynchronous phase of the last written snapshot took. */
  public long asyncMillis() {
    return TimeUnit.NANOSECONDS.toMillis(asyncNanos);
  }

  /** Bytes of the last written snapshot; for an incremental one, the bytes that it uploaded. */
  public long bytes() {
    return bytes;
  }

  /** Measures the asynchronous phase; everything else delegates to the other future. */
  private final class Timed implements RunnableFuture<SnapshotResult<KeyedStateHandle>> {
    private final RunnableFuture<SnapshotResult<KeyedStateHandle>> rest;
    private final long queuedSince;

    Timed(RunnableFuture<SnapshotResult<KeyedStateHandle>> rest, long queuedSince) {
      this.rest = rest;
      this.queuedSince = queuedSince;
    }

    @Override
    public void run() {
      if (rest.isDone()) {
        // The snapshot was cancelled, or there was nothing to write.
        return;
      }
      long begin = System.nanoTime();
      queuedNanos = begin - queuedSince;
      rest.run();
      if (rest.state() == State.SUCCESS) {
        asyncNanos = System.nanoTime() - begin;
        KeyedStateHandle handle = rest.resultNow().getJobManagerOwnedSnapshot();
        bytes = handle == null ? 0 : handle.getCheckpointedSize();
        taken.incrementAndGet();
      } else {
        failed.incrementAndGet();
      }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      return rest.cancel(mayInterruptIfRunning);
    }

    @Override
    public boolean isCancelled() {
      return rest.isCancelled();
    }

    @Override
    public boolean isDone() {
      return rest.isDone();
    }

    @Override
    public SnapshotResult<KeyedStateHandle> get() throws InterruptedException, ExecutionException {
      return rest.get();
    }

    @Override
    public SnapshotResult<KeyedStateHandle> get(long timeout, TimeUnit unit)
        throws InterruptedException, ExecutionException, TimeoutException {
      return rest.get(timeout, unit);
    }
  }
}
