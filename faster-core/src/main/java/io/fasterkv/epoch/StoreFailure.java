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
 *       whole: then the failure is the caller's alone, and nothing is recorded here.
 *   <li><b>Code without a caller records.</b> Completions of a device, trigger actions and threads
 *       in the background run inside {@link #run}, or catch {@link Throwable} and call {@link
 *       #accept}. What they left undone would otherwise be waited for without end.
 *   <li><b>The first failure counts</b>, and stays. Every wait for the device, for room or for a
 *       thread in the background looks at it, and ends with {@link #throwIfSet}: so every waiter
 *       fails with the same cause.
 *   <li><b>What needs nothing broken goes on</b>: reads, and updates in place. Page turns, flushes
 *       and checkpoints are refused, since what is in memory may not reach the disk any more.
 * </ul>
 *
 * <p>To record a failure allocates nothing: it works when the heap is full. Safe for all threads.
 */
public final class StoreFailure implements Consumer<Throwable> {
  private static final IOException OUT_OF_MEMORY = new OutOfMemory();

  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();

  /** Records a failure, unless there is one. */
  @Override
  public void accept(Throwable failure) {
    first.compareAndSet(null, failure);
  }

  /** The first failure; null while all is well. */
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
              + ", the store takes no more writes: "
              + (cause instanceof IOException ? cause.getMessage() : cause)
              + "; open it again from its last checkpoint",
          cause);
    }
  }

  /** Runs work that has no caller, and records what it throws. Returns in any case. */
  public void run(Runnable work) {
    try {
      work.run();
    } catch (Throwable e) {
      accept(e);
    }
  }

  /** A daemon thread, not started, whose failure is recorded. */
  public Thread thread(String name, Runnable body) {
    return Thread.ofPlatform().daemon().name(name).unstarted(() -> run(body));
  }

  /**
   * What a device tells of a transfer that has thrown anything: an {@link IOException} is passed on
   * as it is. Works when the heap is full.
   */
  public static IOException asIoException(Throwable failure) {
    if (failure instanceof IOException known) {
      return known;
    }
    try {
      return new IOException("a transfer broke: " + failure, failure);
    } catch (OutOfMemoryError e) {
      return OUT_OF_MEMORY;
    }
  }

  /** Made beforehand; shared, so it takes no trace and no suppressed exceptions. */
  private static final class OutOfMemory extends IOException {
    private static final long serialVersionUID = 1;

    OutOfMemory() {
      super("a transfer broke: the Java heap is full");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
