package io.fasterkv.operation.session;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongResult;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.memory.StackReserve;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Promise;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.fastpath.LongValues;
import io.fasterkv.operation.fastpath.SpanPaths;
import io.fasterkv.operation.fastpath.SpanValues;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A session whose pending operations end by themselves. A lock serializes the caller and the
 * executor. When a device's thread has read a record, it submits a task to the executor; that task
 * continues all operations whose records have arrived, one task at a time. Stages are completed
 * after the lock was released, so dependent stages may call the session.
 *
 * <p>A device may complete a read on the calling thread, and an executor may run a task inside
 * {@code execute}. The session is then in the middle of an operation, so the task runs when the
 * lock is released.
 *
 * <p>An operation that waits for scratch memory receives no arrival; a timer stands for one. While
 * there are such operations one timer is set; releasing the lock sets it again.
 */
public final class AsyncCore<I, O, C> implements Arrivals, AutoCloseable {
  private static final long RETRY_MILLIS = 1;

  /**
   * The timer uses the system's thread: the caller's executor may run tasks on it, or refuse them.
   */
  private static final Executor SOON =
      CompletableFuture.delayedExecutor(
          RETRY_MILLIS, TimeUnit.MILLISECONDS, Thread::startVirtualThread);

  static {
    // Initialize now: a class whose initialization fails for lack of stack is unusable afterwards.
    SOON.execute(() -> {});
  }

  private static final Map<Status, CompletionStage<Status>> ENDED = new EnumMap<>(Status.class);

  static {
    for (Status status : Status.values()) {
      ENDED.put(status, CompletableFuture.completedStage(status));
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final SessionCore<I, O, C> core;
  private final Executor executor;

  /**
   * Ended operations that were not reported yet, oldest first; linked, so that an end allocates
   * nothing.
   */
  private @Nullable Promise firstEnded;

  private @Nullable Promise lastEnded;

  /**
   * Number of arrivals that were not processed yet; while it is not 0, a task has been submitted.
   */
  private final AtomicInteger arrived = new AtomicInteger();

  private final AtomicBoolean isTimerSet = new AtomicBoolean();

  /**
   * Tasks, linked before the stack may be short: a method reference that fails to link stays
   * unusable.
   */
  private final Runnable processArrivals = this::processArrivals;

  private final Runnable timer = this::timerHasRun;

  /**
   * Whether the thread that releases the lock must run a task: the task came while its own thread
   * held the lock, or no thread could be started for it.
   */
  private final AtomicBoolean isTaskDeferred = new AtomicBoolean();

  private AsyncCore(
      Engine engine,
      @Nullable SessionIdentity identity,
      ValueAccess<I, O, C> values,
      Executor executor) {
    this.executor = executor;
    core = new SessionCore<>(engine, identity, values, SessionMode.PENDING, this);
  }

  public static <I, O, C> AsyncCore<I, O, C> spans(
      Engine engine,
      @Nullable SessionIdentity identity,
      SpanPaths paths,
      StoreFunctions<I, O, C> functions,
      Executor executor) {
    SpanValues<I, O, C> values = new SpanValues<>(functions, engine.log(), paths);
    return new AsyncCore<>(engine, identity, values, executor);
  }

  public static <C> AsyncCore<Void, Void, C> longs(
      Engine engine,
      @Nullable SessionIdentity identity,
      LongFunctions<C> functions,
      Executor executor) {
    return new AsyncCore<>(engine, identity, new LongValues<>(functions), executor);
  }

  /** Number of operations that the session has accepted, including those before a recovery. */
  public long serial() {
    return locked(core::serial);
  }

  /** The session's name; null if it has none. */
  public @Nullable String name() {
    return core.name();
  }

  public CompletionStage<Status> read(ByteSpan key, @Nullable I input, @Nullable O output) {
    return call(() -> stage(core.read(key, input, output, null)));
  }

  public CompletionStage<Status> upsert(
      ByteSpan key, @Nullable I input, ByteSpan value, @Nullable O output) {
    return call(() -> stage(core.upsert(key, input, value, output)));
  }

  public CompletionStage<Status> rmw(ByteSpan key, @Nullable I input, @Nullable O output) {
    return call(() -> stage(core.rmw(key, input, output, null)));
  }

  public CompletionStage<Status> delete(ByteSpan key) {
    return call(() -> stage(core.delete(key, null)));
  }

  /** Runs an operation on a {@code long} key that returns no value. */
  public CompletionStage<Status> runLong(LongKind kind, long key, long input) {
    return call(() -> stage(core.runLong(kind, key, input, null)));
  }

  /** An operation on a {@code long} key that returns a value. */
  public CompletionStage<LongResult> runLongResult(LongKind kind, long key, long input) {
    return call(() -> {
      Status status = core.runLong(kind, key, input, null);
      if (status != Status.PENDING) {
        return CompletableFuture.completedStage(new LongResult(status, core.longOutput()));
      }
      Promise promise = core.promise();
      return promise
          .thenApply(end -> new LongResult(end, promise.longOutput()))
          .minimalCompletionStage();
    });
  }

  /** Waits for all pending operations and completes them, then ends the session. */
  @Override
  public void close() {
    locked(() -> {
      core.close();
      return true;
    });
  }

  @Override
  public void arrived() {
    if (arrived.getAndIncrement() == 0) {
      try {
        executor.execute(processArrivals);
      } catch (RuntimeException | Error e) {
        // The executor was shut down or is broken; the stages must complete all the same. It may
        // still run the task.
        processElsewhere();
        if (!(e instanceof RejectedExecutionException)) {
          reportUncaught(e);
        }
      }
    }
  }

  /**
   * Runs the task on another thread; if none can be started, on this one or the one that has the
   * lock.
   */
  private void processElsewhere() {
    try {
      Thread.startVirtualThread(processArrivals);
    } catch (Throwable e) {
      isTaskDeferred.set(true);
      if (lock.tryLock()) {
        lock.unlock();
        afterUnlock(null);
      }
    }
  }

  @Override
  public void ended(Promise promise) {
    if (lastEnded == null) {
      firstEnded = promise;
    } else {
      lastEnded.next = promise;
    }
    lastEnded = promise;
    promise.isListed = true;
  }

  private void timerHasRun() {
    isTimerSet.set(false);
    arrived();
  }

  private CompletionStage<Status> stage(Status status) {
    return status == Status.PENDING
        ? core.promise().minimalCompletionStage()
        : ENDED.getOrDefault(status, CompletableFuture.completedStage(status));
  }

  private <T> CompletionStage<T> call(Supplier<CompletionStage<T>> operation) {
    try {
      return locked(operation);
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /**
   * Runs a call under the lock, with enough stack to release it. A thread that may complete stages
   * of pending operations has the full reserve.
   */
  private <T> T locked(Supplier<T> body) {
    StackReserve.requireForRelease(arrived.get());
    Promise toComplete = null;
    lock.lock();
    try {
      if (core.hasPending()) {
        StackReserve.require();
      }
      return body.get();
    } finally {
      try {
        toComplete = takeEnded();
      } finally {
        lock.unlock();
      }
      afterUnlock(toComplete);
    }
  }

  /**
   * Processes arrivals. It has no caller to throw to: after a failure it reports the cause, and
   * another thread continues. It decrements the count under the lock, because an executor that has
   * thrown may have run its task, or may run it later.
   */
  private void processArrivals() {
    if (lock.isHeldByCurrentThread()) {
      isTaskDeferred.set(true);
      return;
    }
    try {
      StackReserve.require();
      for (int left = 1; left != 0; ) {
        Promise toComplete = null;
        lock.lock();
        try {
          int seen = arrived.get();
          try {
            drive();
          } finally {
            left = arrived.addAndGet(-seen);
            toComplete = takeEnded();
          }
        } finally {
          lock.unlock();
          afterUnlock(toComplete);
        }
      }
    } catch (Throwable e) {
      processLater();
      reportUncaught(e);
    }
  }

  private void drive() {
    if (!core.isClosed()) {
      core.completePending(false);
    }
  }

  /**
   * Runs the task on another thread after a moment; if there is none, when the lock is next
   * released.
   */
  private void processLater() {
    try {
      SOON.execute(processArrivals);
    } catch (Throwable e) {
      isTaskDeferred.set(true);
    }
  }

  private static void reportUncaught(Throwable failure) {
    try {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    } catch (Throwable e) {
      // Ignored, as the JVM ignores exceptions of such a handler.
    }
  }

  /**
   * Removes the ended operations from their list before the lock is released, and sets the timer if
   * it is needed. After a failure the list is left to another thread.
   */
  private @Nullable Promise takeEnded() {
    try {
      for (Promise promise = firstEnded; promise != null; promise = promise.next) {
        core.reported(promise);
      }
      if (core.hasWaiting() && isTimerSet.compareAndSet(false, true)) {
        setTimer();
      }
    } catch (Throwable e) {
      processLater();
      reportUncaught(e);
      return null;
    }
    Promise toComplete = firstEnded;
    firstEnded = null;
    lastEnded = null;
    return toComplete;
  }

  /** Completes stages, and runs a task that the holder of the lock could not run. */
  private void afterUnlock(@Nullable Promise toComplete) {
    if (toComplete != null) {
      completeStages(toComplete);
    }
    if (isTaskDeferred.get() && isTaskDeferred.getAndSet(false)) {
      processArrivals();
    }
  }

  /** Completes stages; each one on another thread if that fails on this one. */
  private static void completeStages(Promise first) {
    for (Promise promise = first; promise != null; promise = promise.next) {
      try {
        StackReserve.require();
        promise.run();
      } catch (Throwable e) {
        completeElsewhere(promise);
        reportUncaught(e);
      }
    }
  }

  private static void completeElsewhere(Promise promise) {
    try {
      Thread.startVirtualThread(promise);
    } catch (Throwable e) {
      reportUncaught(e);
    }
  }

  private void setTimer() {
    try {
      SOON.execute(timer);
    } catch (Throwable e) {
      // No thread can be started: continue at once.
      timerHasRun();
    }
  }
}
