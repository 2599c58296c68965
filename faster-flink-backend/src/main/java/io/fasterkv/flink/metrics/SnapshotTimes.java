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
 * How long the phases of snapshots take: the synchronous one, which the task waits for, the time
 * until a thread takes up the asynchronous one, and that. Of the snapshot that ended last; written
 * by the threads of snapshots, read by those of reporters.
 */
public final class SnapshotTimes {
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private volatile long syncNanos;
  private volatile long queuedNanos;
  private volatile long asyncNanos;
  private volatile long bytes;

  /**
   * Times a snapshot.
   *
   * @param synchronously takes it, on the task thread, and returns what is to be done by another
   */
  public RunnableFuture<SnapshotResult<KeyedStateHandle>> time(
      Callable<RunnableFuture<SnapshotResult<KeyedStateHandle>>> synchronously) throws Exception {
    long begin = System.nanoTime();
    RunnableFuture<SnapshotResult<KeyedStateHandle>> rest = synchronously.call();
    long end = System.nanoTime();
    syncNanos = end - begin;
    return new Timed(rest, end);
  }

  /** Snapshots that were written. */
  public long taken() {
    return taken.get();
  }

  /** Snapshots that failed or were cancelled while they were written. */
  public long failed() {
    return failed.get();
  }

  /** How long the task waited for the latest snapshot. */
  public long syncMicros() {
    return TimeUnit.NANOSECONDS.toMicros(syncNanos);
  }

  /** How long the asynchronous phase of the latest one waited for a thread. */
  public long queuedMillis() {
    return TimeUnit.NANOSECONDS.toMillis(queuedNanos);
  }

  /** How long the asynchronous phase of the last that was written took. */
  public long asyncMillis() {
    return TimeUnit.NANOSECONDS.toMillis(asyncNanos);
  }

  /** Bytes of the last that was written; of an incremental one, those that were uploaded for it. */
  public long bytes() {
    return bytes;
  }

  /** The asynchronous phase; all but the clock is the other future's. */
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
        // Cancelled, or there was nothing to write.
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
