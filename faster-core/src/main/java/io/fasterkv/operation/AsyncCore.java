package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongResult;
import io.fasterkv.api.SessionIdentity;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.operation.SessionCore.LongKind;
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
 * A session whose pending operations end by themselves. A lock lets callers and the executor take
 * turns at the session. A device's thread that has a record hands over to the executor and goes on;
 * there, everything that has arrived is driven on, by one task at a time. Stages are completed when
 * the lock is not held, so what depends on them may call the session.
 *
 * <p>A device may complete on the calling thread, and an executor may run a task in {@code
 * execute}: then the session is in the middle of an operation, and the task is made up for when the
 * lock is let go.
 *
 * <p>An operation that waits for scratch memory hears of no arrival: a timer stands for one. While
 * there are such operations, one timer is set; it is set again where the lock is let go.
 */
public final class AsyncCore<I, O, C> implements Arrivals, AutoCloseable {
  private static final long RETRY_MILLIS = 1;

  /** A timer's own thread is the system's: the caller's executor may work on it, or refuse. */
  private static final Executor SOON =
      CompletableFuture.delayedExecutor(
          RETRY_MILLIS, TimeUnit.MILLISECONDS, Thread::startVirtualThread);

  private static final Map<Status, CompletionStage<Status>> ENDED = new EnumMap<>(Status.class);

  static {
    for (Status status : Status.values()) {
      ENDED.put(status, CompletableFuture.completedStage(status));
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final SessionCore<I, O, C> core;
  private final Executor executor;

  /** What has ended and was not told, the oldest first; linked, so that an end needs no memory. */
  private @Nullable Promise firstEnded;

  private @Nullable Promise lastEnded;

  /** Records that have arrived and were not looked at; a task is on its way while there are. */
  private final AtomicInteger arrived = new AtomicInteger();

  private final AtomicBoolean isTimerSet = new AtomicBoolean();

  /**
   * Whether the thread that releases the lock must run a task: the task came while its own thread
   * held the lock, or no thread could be started for it.
   */
  private final AtomicBoolean isTaskOwed = new AtomicBoolean();

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

  /** How many operations the session has accepted, those of its earlier lives included. */
  public long serial() {
    lock.lock();
    try {
      return core.serial();
    } finally {
      leave();
    }
  }

  /** What the session is called; null if it has no name. */
  public @Nullable String name() {
    return core.name();
  }

  public CompletionStage<Status> read(ByteSpan key, @Nullable I input, @Nullable O output) {
    return call(() -> stage(core.read(key, input, output, null)));
  }

  public CompletionStage<Status> upsert(ByteSpan key, ByteSpan value) {
    return call(() -> stage(core.upsert(key, value, null)));
  }

  public CompletionStage<Status> rmw(ByteSpan key, @Nullable I input) {
    return call(() -> stage(core.rmw(key, input, null)));
  }

  public CompletionStage<Status> delete(ByteSpan key) {
    return call(() -> stage(core.delete(key, null)));
  }

  /** An operation other than a read on a {@code long} key. */
  public CompletionStage<Status> runLong(LongKind kind, long key, long input) {
    return call(() -> stage(core.runLong(kind, key, input, null)));
  }

  public CompletionStage<LongResult> readLong(long key) {
    return call(() -> {
      Status status = core.runLong(LongKind.READ, key, 0, null);
      if (status != Status.PENDING) {
        return CompletableFuture.completedStage(new LongResult(status, core.longOutput()));
      }
      Promise promise = core.promise();
      return promise
          .thenApply(end -> new LongResult(end, promise.longOutput()))
          .minimalCompletionStage();
    });
  }

  /** Waits for all that is pending and ends it, then gives up the session's place. */
  @Override
  public void close() {
    lock.lock();
    try {
      core.close();
    } finally {
      leave();
    }
  }

  @Override
  public void arrived() {
    if (arrived.getAndIncrement() == 0) {
      try {
        executor.execute(this::goOn);
      } catch (RuntimeException | Error e) {
        // Shut down, or broken; whoever waits for the stages waits on. It may have the task still.
        goOnElsewhere();
        if (!(e instanceof RejectedExecutionException)) {
          tellOf(e);
        }
      }
    }
  }

  /**
   * Runs on another thread; if none can be started, on this one or on the one that has the lock.
   */
  private void goOnElsewhere() {
    try {
      Thread.startVirtualThread(this::goOn);
    } catch (Throwable e) {
      isTaskOwed.set(true);
      if (lock.tryLock()) {
        leave();
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
    lock.lock();
    try {
      return operation.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    } finally {
      leave();
    }
  }

  /**
   * Counts under the lock: an executor that has thrown may have run, or run later, its task too.
   */
  private void goOn() {
    int left = 1;
    while (left != 0) {
      lock.lock();
      if (lock.getHoldCount() > 1) {
        isTaskOwed.set(true);
        lock.unlock();
        return;
      }
      int seen = arrived.get();
      try {
        if (seen != 0) {
          drive();
        }
      } finally {
        left = arrived.addAndGet(-seen);
        leave();
      }
    }
  }

  /** Looks at all that has arrived; what one operation fails with does not stop the others. */
  private void drive() {
    Throwable failure = null;
    for (boolean isSeen = core.isClosed(); !isSeen; ) {
      try {
        core.completePending(false);
        isSeen = true;
      } catch (Throwable e) {
        // An operation has ended, and its stage will be told; giving back what it had has failed.
        failure = e;
      }
    }
    if (failure != null) {
      tellOf(failure);
    }
  }

  private static void tellOf(Throwable failure) {
    Thread thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
  }

  /** Releases the lock, and then completes the stages of operations that have ended. */
  private void leave() {
    Promise told = firstEnded;
    firstEnded = null;
    lastEnded = null;
    try {
      if (release(told)) {
        setTimer();
      }
    } finally {
      for (; told != null; told = told.next) {
        told.tell();
      }
      if (isTaskOwed.get() && isTaskOwed.getAndSet(false)) {
        goOn();
      }
    }
  }

  /** Releases the lock, whatever happens; returns whether a timer must be set. */
  private boolean release(@Nullable Promise told) {
    try {
      for (Promise promise = told; promise != null; promise = promise.next) {
        core.told(promise);
      }
      return core.hasWaiting() && isTimerSet.compareAndSet(false, true);
    } finally {
      lock.unlock();
    }
  }

  private void setTimer() {
    try {
      SOON.execute(this::timerHasRun);
    } catch (Throwable e) {
      // No thread can be started: the session goes on at once.
      timerHasRun();
    }
  }
}
