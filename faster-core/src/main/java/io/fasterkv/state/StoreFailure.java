package io.fasterkv.state;

import io.fasterkv.api.StoreException.DeviceFailed;
import java.io.IOException;
import java.lang.System.Logger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The failure that ended a store's writes, and the one policy for all exceptions.
 *
 * <ul>
 *   <li><b>Code with a caller throws.</b> It first undoes what it has claimed, so that the state is
 *       consistent. The failure then belongs to the caller alone, and is not recorded here.
 *   <li><b>Code without a caller records.</b> Completions of a device, trigger actions and
 *       background threads run inside {@link #run}, or catch {@link Throwable} and call {@link
 *       #accept}. Otherwise other threads would wait forever for what such code left undone.
 *   <li><b>The first failure counts</b>, and stays. Every wait for the device, for room or for a
 *       background thread checks it and ends with {@link #throwIfSet}. All waiting threads
 *       therefore fail with the same cause.
 *   <li><b>Work that depends on nothing broken continues</b>: reads, and updates in place. Page
 *       turns, flushes and checkpoints are refused, because data in memory may not reach the disk
 *       any more.
 *   <li><b>A problem that the store survives is logged</b> with {@link #logger}.
 * </ul>
 *
 * <p>Recording a failure allocates nothing, so it works when the heap is full. Safe for all
 * threads.
 */
public final class StoreFailure implements Consumer<Throwable> {
  private static final IOException OUT_OF_MEMORY = new OutOfMemory();

  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();
  private final Logger logger;

  /**
   * Starts without a failure.
   *
   * @param logger receives the store's log lines
   */
  public StoreFailure(Logger logger) {
    this.logger = logger;
  }

  /** {@return the logger for problems that the store survives} */
  public Logger logger() {
    return logger;
  }

  /**
   * Records a failure, unless one was recorded before.
   *
   * @param failure the failure
   */
  @Override
  public void accept(Throwable failure) {
    first.compareAndSet(null, failure);
  }

  /** {@return the first failure; null if there is none} */
  public @Nullable Throwable get() {
    return first.getAcquire();
  }

  /** {@return whether a failure was recorded} */
  public boolean isSet() {
    return first.getAcquire() != null;
  }

  /**
   * Throws if a failure was recorded.
   *
   * @throws DeviceFailed with the failure as its cause
   */
  public void throwIfSet() {
    Throwable cause = first.getAcquire();
    if (cause != null) {
      throw new DeviceFailed(
          (cause instanceof IOException ? "the log's device has failed" : "the store has failed")
              + ", the store accepts no more writes: "
              + (cause instanceof IOException ? cause.getMessage() : cause)
              + "; open it again from its last checkpoint",
          cause);
    }
  }

  /**
   * Runs work that has no caller, and records any exception. Never throws.
   *
   * @param work the work
   */
  public void run(Runnable work) {
    try {
      work.run();
    } catch (Throwable e) {
      accept(e);
    }
  }

  /**
   * Creates a daemon thread whose failure is recorded. The thread is not started.
   *
   * @param name the thread's name
   * @param body the thread's work
   * @return the thread
   */
  public Thread thread(String name, Runnable body) {
    return Thread.ofPlatform().daemon().name(name).unstarted(() -> run(body));
  }

  /**
   * Converts any exception of a transfer into the {@link IOException} that a device reports. Works
   * when the heap is full.
   *
   * @param failure the exception
   * @return the exception itself if it is an {@link IOException}, otherwise one with it as its
   *     cause
   */
  public static IOException asIoException(Throwable failure) {
    if (failure instanceof IOException known) {
      return known;
    }
    try {
      return new IOException("a transfer failed: " + failure, failure);
    } catch (OutOfMemoryError e) {
      return OUT_OF_MEMORY;
    }
  }

  /** Created in advance and shared, so it records no stack trace and no suppressed exceptions. */
  private static final class OutOfMemory extends IOException {
    private static final long serialVersionUID = 1;

    OutOfMemory() {
      super("a transfer failed: the Java heap is full");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
