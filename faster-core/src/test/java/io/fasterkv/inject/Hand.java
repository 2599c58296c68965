package io.fasterkv.inject;

import io.fasterkv.AsyncLongSession;
import io.fasterkv.AsyncSession;
import io.fasterkv.LongSession;
import io.fasterkv.Session;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.cpr.StampedSession;
import io.fasterkv.cpr.SumFunctions;
import io.fasterkv.cpr.SumFunctions.Found;
import io.fasterkv.cpr.SumFunctions.Result;
import java.util.concurrent.CompletionStage;

/** A session of any kind, for one thread. */
abstract class Hand implements AutoCloseable {

  /**
   * Begins an operation; the operation's end is {@link Op.End#NONE} afterwards if it is pending.
   */
  abstract void issue(Op op);

  /** Completes pending operations, in a session that does not do so by itself. */
  abstract void completePending();

  abstract long serial();

  @Override
  public abstract void close();

  private static void note(Op op, Status status, Runnable read) {
    if (status == Status.PENDING) {
      return;
    }
    if (op.kind == Op.Kind.READ && status == Status.FOUND) {
      read.run();
    }
    op.end = Op.End.DONE;
  }

  /** Values of any length. */
  static final class Spans extends Hand {
    private final Session<Long, Result, Found> session;
    private final SumFunctions functions;

    Spans(Session<Long, Result, Found> session, SumFunctions functions) {
      this.session = session;
      this.functions = functions;
    }

    @Override
    void issue(Op op) {
      ByteSpan key = StampedSession.Spans.key(op.key);
      Result result = new Result();
      Status status =
          switch (op.kind) {
            case READ -> session.read(key, null, result, op);
            case UPSERT -> session.upsert(key, functions.value(op.key, op.stamp), op);
            case RMW -> session.rmw(key, op.stamp, op);
            case DELETE -> session.delete(key, op);
          };
      note(op, status, () -> op.value = result.sum);
    }

    @Override
    void completePending() {
      session.completePending(true);
    }

    @Override
    long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** The sum is stored as the value. */
  static final class Longs extends Hand {
    private final LongSession<Found> session;

    Longs(LongSession<Found> session) {
      this.session = session;
    }

    @Override
    void issue(Op op) {
      Status status =
          switch (op.kind) {
            case READ -> session.read(op.key, op);
            case UPSERT -> session.upsert(op.key, op.stamp, op);
            case RMW -> session.rmw(op.key, op.stamp, op);
            case DELETE -> session.delete(op.key, op);
          };
      note(op, status, () -> op.value = session.value());
    }

    @Override
    void completePending() {
      session.completePending(true);
    }

    @Override
    long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** Operations complete a stage when they end. */
  abstract static class Async extends Hand {
    abstract CompletionStage<?> begin(Op op);

    @Override
    void issue(Op op) {
      op.stage = begin(op).toCompletableFuture();
    }

    @Override
    void completePending() {}
  }

  /** Values of any length. */
  static final class AsyncSpans extends Async {
    private final AsyncSession<Long, Result> session;
    private final SumFunctions functions;

    AsyncSpans(AsyncSession<Long, Result> session, SumFunctions functions) {
      this.session = session;
      this.functions = functions;
    }

    @Override
    CompletionStage<?> begin(Op op) {
      ByteSpan key = StampedSession.Spans.key(op.key);
      Result result = new Result();
      return switch (op.kind) {
        case READ ->
            session
                .read(key, null, result)
                .thenAccept(status -> op.value = status == Status.FOUND ? result.sum : Op.ABSENT);
        case UPSERT -> session.upsert(key, functions.value(op.key, op.stamp));
        case RMW -> session.rmw(key, op.stamp);
        case DELETE -> session.delete(key);
      };
    }

    @Override
    long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }

  /** The sum is stored as the value. */
  static final class AsyncLongs extends Async {
    private final AsyncLongSession session;

    AsyncLongs(AsyncLongSession session) {
      this.session = session;
    }

    @Override
    CompletionStage<?> begin(Op op) {
      return switch (op.kind) {
        case READ ->
            session
                .read(op.key)
                .thenAccept(it -> op.value = it.status() == Status.FOUND ? it.value() : Op.ABSENT);
        case UPSERT -> session.upsert(op.key, op.stamp);
        case RMW -> session.rmw(op.key, op.stamp);
        case DELETE -> session.delete(op.key);
      };
    }

    @Override
    long serial() {
      return session.serial();
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
