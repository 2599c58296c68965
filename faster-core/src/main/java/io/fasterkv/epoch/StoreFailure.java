package io.fasterkv.epoch;

import io.fasterkv.api.StoreException.DeviceFailed;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The failure that ended a store's writes, and the one policy for everything that throws.
 *
 * <ul>
 *   <li><b>Code with a caller throws.</b> It first undoes what it has claimed, so that the state is
 *       consistent. The failure is then the caller's alone, and is not recorded here.
 *   <li><b>Code without a caller records.</b> Device completions, trigger actions and background
 *       threads run inside {@link #run}, or catch {@link Throwable} and call {@link #accept}.
 *       Otherwise other threads would wait forever for the unfinished work.
 *   <li><b>The first failure stays.</b> Every wait for the device, for room or for a background
 *       thread checks it with {@link #throwIfSet}, so all waiters fail with the same cause.
 *   <li><b>Reads and updates in place continue.</b> Page turns, flushes and checkpoints are
 *       refused, since data in memory may no longer reach the disk.
 * </ul>
 *
 * <p>Recording a failure allocates nothing, so it works when the heap is full. Safe for all
 * threads.
 */
public final class StoreFailure implements Consumer<Throwable> {
  private static final IOException OUT_OF_MEMORY = new OutOfMemory();

  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();

  /** Records a failure, unless one is recorded already. */
  @Override
  public void accept(Throwable failure) {
    first.compareAndSet(null, failure);
  }

  /** The first failure; null if there is none. */
  public @Nullable Throwable get() {
    return first.getAcquire();
  }

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

  /** Runs work that has no caller, and records what it throws. Never throws. */
  public void run(Runnable work) {
    try {
      work.run();
    } catch (Throwable e) {
      accept(e);
    }
  }

  /** Creates a daemon thread, not started, whose failure is recorded. */
  public Thread thread(String name, Runnable body) {
    return Thread.ofPlatform().daemon().name(name).unstarted(() -> run(body));
  }

  /**
   * Converts what a transfer has thrown for its completion: an {@link IOException} is returned
   * unchanged. Works when the heap is full.
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

  /** Allocated in advance and shared, so it has no stack trace and no suppressed exceptions. */
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
