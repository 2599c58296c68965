package io.fasterkv.cpr;

import io.fasterkv.AsyncLongSession;
import io.fasterkv.AsyncSession;
import io.fasterkv.api.Status;
import io.fasterkv.cpr.Script.Step;
import io.fasterkv.cpr.SumFunctions.Found;
import io.fasterkv.cpr.SumFunctions.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Executes the steps of a {@link Script} in a session that returns stages. */
abstract class AsyncStampedSession implements StampedSession {
  private final List<CompletableFuture<?>> underWay = new ArrayList<>();

  /** Begins a step; {@code found} has been called when the stage is complete. */
  abstract CompletionStage<?> begin(Step step, Found found);

  @Override
  public boolean perform(Step step, Found found) {
    CompletableFuture<?> ended = begin(step, found).toCompletableFuture();
    if (ended.isDone()) {
      ended.join();
      return true;
    }
    underWay.add(ended);
    return false;
  }

  @Override
  public int batch(List<Step> steps) {
    int pending = 0;
    for (Step step : steps) {
      pending += perform(step, value -> {}) ? 0 : 1;
    }
    return pending;
  }

  @Override
  public void completePending() {
    underWay.forEach(CompletableFuture::join);
    underWay.clear();
  }

  /** Values of any length. */
  static final class Spans extends AsyncStampedSession {
    private final AsyncSession<Long, Result> session;
    private final SumFunctions functions;

    Spans(AsyncSession<Long, Result> session, SumFunctions functions) {
      this.session = session;
      this.functions = functions;
    }

    @Override
    CompletionStage<?> begin(Step step, Found found) {
      var key = StampedSession.Spans.key(step.key());
      return switch (step.kind()) {
        case READ -> {
          Result result = new Result();
          yield session
              .read(key, null, result)
              .thenAccept(status -> found.found(status == Status.FOUND ? result.sum : null));
        }
        case UPSERT -> session.upsert(key, functions.value(step.key(), step.stamp()));
        case RMW -> session.rmw(key, step.stamp());
        case DELETE -> session.delete(key);
      };
    }

    @Override
    public long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** The sum is stored as the value. */
  static final class Longs extends AsyncStampedSession {
    private final AsyncLongSession session;

    Longs(AsyncLongSession session) {
      this.session = session;
    }

    @Override
    CompletionStage<?> begin(Step step, Found found) {
      return switch (step.kind()) {
        case READ ->
            session
                .read(step.key())
                .thenAccept(
                    read -> found.found(read.status() == Status.FOUND ? read.value() : null));
        case UPSERT -> session.upsert(step.key(), step.stamp());
        case RMW -> session.rmw(step.key(), step.stamp());
        case DELETE -> session.delete(step.key());
      };
    }

    @Override
    public long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
