package io.fasterkv.cpr;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.Session;
import io.fasterkv.api.LongResult;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Updates, which may fail, in a session of any kind. */
interface FlakySession {
  /** Adds to a key; returns whether the session accepted that. */
  boolean add(long key, long stamp);

  /** Completes pending operations; returns the next failed one, or null. */
  Long nextFailure();

  /** Whether the session already holds reported failures, perhaps several. */
  default boolean hasFailures() {
    return false;
  }

  long serial();

  void close();

  /** Resumes the session of that name, or starts it. */
  static FlakySession open(
      CprStore store, SessionIdentity identity, FlakyFunctions functions, int choice) {
    FasterStore opened = store.store();
    boolean isLongs = opened.config().recordKind() == RecordKind.LONGS;
    if (choice == 0) {
      BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
      if (isLongs) {
        var longs =
            opened.newSession().identity(identity).asyncLongs(functions.longs(), tasks::add);
        return new Stages(
            tasks,
            (key, input) -> longs.rmw(key, input).thenApply(LongResult::status),
            longs::serial,
            longs::close);
      }
      var spans = opened.newSession().identity(identity).asyncSpans(functions, tasks::add);
      return new Stages(
          tasks,
          (key, stamp) -> spans.rmw(StampedSession.Spans.key(key), stamp),
          spans::serial,
          spans::close);
    }
    SessionMode mode = choice == 1 ? SessionMode.BLOCKING : SessionMode.PENDING;
    if (isLongs) {
      LongSession<Object> longs =
          opened.newSession().identity(identity).mode(mode).longs(functions.longs());
      return new Calls(
          (key, stamp) -> longs.rmw(key, stamp, null),
          () -> longs.completePending(true),
          longs::serial,
          longs::close);
    }
    Session<Long, SumFunctions.Result, SumFunctions.Found> spans =
        opened.newSession().identity(identity).mode(mode).spans(functions);
    return new Calls(
        (key, stamp) -> spans.rmw(StampedSession.Spans.key(key), stamp, null),
        () -> spans.completePending(true),
        spans::serial,
        spans::close);
  }

  /** Adds to a key. */
  interface Update<T> {
    T add(long key, long stamp);
  }

  /**
   * Returns whether the operation was accepted; false if it was refused with an allowed failure.
   */
  private static boolean isAccepted(LongSupplier serial, Supplier<Throwable> call) {
    long before = serial.getAsLong();
    Throwable refusal = call.get();
    boolean isAccepted = serial.getAsLong() > before;
    if (refusal instanceof OperationFailed || (isAccepted && refusal != null)) {
      throw new AssertionError("an operation that counts has thrown", refusal);
    }
    if (refusal != null
        && !(refusal instanceof FlakyFunctions.Flaw)
        && !(refusal instanceof OutOfBudget)) {
      throw new AssertionError("a refusal of another kind", refusal);
    }
    return isAccepted;
  }

  /** The serial number of the reported operation. */
  private static Long serial(Throwable failure) {
    if (!(failure instanceof OperationFailed failed)
        || !(failed.getCause() instanceof FlakyFunctions.Flaw
            || failed.getCause() instanceof OutOfBudget)) {
      throw new AssertionError("a failure of another kind", failure);
    }
    return failed.serial();
  }

  /** A session that completes pending operations on request. */
  record Calls(Update<Status> update, Runnable complete, LongSupplier serials, Runnable closing)
      implements FlakySession {
    @Override
    public boolean add(long key, long stamp) {
      return isAccepted(
          serials,
          () -> {
            try {
              update.add(key, stamp);
              return null;
            } catch (RuntimeException e) {
              return e;
            }
          });
    }

    @Override
    public Long nextFailure() {
      try {
        complete.run();
        return null;
      } catch (RuntimeException e) {
        return FlakySession.serial(e);
      }
    }

    @Override
    public long serial() {
      return serials.getAsLong();
    }

    @Override
    public void close() {
      closing.run();
    }
  }

  /** A session that returns stages; its tasks run on the test's thread. */
  final class Stages implements FlakySession {
    private static final long PATIENCE_SECONDS = 60;

    private final BlockingQueue<Runnable> tasks;
    private final Update<CompletionStage<Status>> update;
    private final LongSupplier serials;
    private final Runnable closing;
    private final List<CompletableFuture<Status>> underWay = new ArrayList<>();
    private final Deque<Throwable> failures = new ArrayDeque<>();

    Stages(
        BlockingQueue<Runnable> tasks,
        Update<CompletionStage<Status>> update,
        LongSupplier serials,
        Runnable closing) {
      this.tasks = tasks;
      this.update = update;
      this.serials = serials;
      this.closing = closing;
    }

    @Override
    public boolean add(long key, long stamp) {
      return isAccepted(
          serials,
          () -> {
            CompletableFuture<Status> stage = update.add(key, stamp).toCompletableFuture();
            if (stage.isCompletedExceptionally()) {
              Throwable failure = stage.exceptionNow();
              if (failure instanceof OperationFailed) {
                failures.add(failure);
                return null;
              }
              return failure;
            }
            if (!stage.isDone()) {
              underWay.add(stage);
            }
            return null;
          });
    }

    @Override
    public Long nextFailure() {
      while (underWay.stream().anyMatch(stage -> !stage.isDone())) {
        run();
      }
      for (CompletableFuture<Status> stage : underWay) {
        if (stage.isCompletedExceptionally()) {
          failures.add(stage.exceptionNow());
        }
      }
      underWay.clear();
      Throwable failure = failures.poll();
      return failure == null ? null : FlakySession.serial(failure);
    }

    @Override
    public boolean hasFailures() {
      return !failures.isEmpty()
          || underWay.stream().anyMatch(CompletableFuture::isCompletedExceptionally);
    }

    private void run() {
      try {
        Runnable task = tasks.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (task == null) {
          throw new AssertionError("stages that nothing completes");
        }
        task.run();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public long serial() {
      return serials.getAsLong();
    }

    @Override
    public void close() {
      closing.run();
    }
  }
}
