package io.fasterkv.operation.session;

import io.fasterkv.api.session.CopyReads;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.operation.Delete;
import io.fasterkv.operation.Read;
import io.fasterkv.operation.Rmw;
import io.fasterkv.operation.Upsert;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.Request.Kind;
import io.fasterkv.operation.core.SpanPath;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.operation.version.Region;
import io.fasterkv.operation.version.SessionCounters;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the attempts of one session's operations: protects the epoch around each attempt, assigns it
 * to a version, and retries after a {@link Step#RETRY}. One thread at a time.
 */
final class RetryLoop<I, O, C> {
  private static final int SPINS = 16;
  private static final int YIELDS = 64;

  private final Engine engine;
  private final Read<I, O, C> read;
  private final Upsert<I, O, C> upsert;
  private final Rmw<I, O, C> rmw;
  private final Delete<I, O, C> delete;
  private final LargeValues<I, O, C> large;
  private final EpochUser user;
  private final EpochWait wait;
  private final VersionGuard guard;
  private final ValueAccess<I, O, C> values;
  private final RecordLatch latch;
  private final SessionCounters.Stripe counters;

  /** Holds pending updates; null for a session that never has any. */
  private final @Nullable PendingUpdates<I, O, C> pendingUpdates;

  private @Nullable SpanPath<I, O, C> path;
  private boolean mayReadShort = true;

  RetryLoop(
      Engine engine,
      ValueAccess<I, O, C> values,
      EpochUser user,
      SessionCounters.Stripe counters,
      VersionGuard guard,
      @Nullable PendingUpdates<I, O, C> pendingUpdates) {
    this.engine = engine;
    this.user = user;
    this.guard = guard;
    this.values = values;
    latch = new RecordLatch(engine.layout());
    this.counters = counters;
    this.pendingUpdates = pendingUpdates;
    ChainWalk walk = new ChainWalk(engine, counters);
    large = new LargeValues<>(engine, values.large(), user, pendingUpdates == null);
    read = new Read<>(engine, values, large, walk);
    upsert = new Upsert<>(engine, values, large, walk);
    rmw = new Rmw<>(engine, values, large, walk);
    delete = new Delete<>(engine, values, walk);
    wait = new EpochWait(engine.epochs(), () -> "an operation to continue, " + engine.log());
  }

  void copyReads(CopyReads wanted) {
    read.copyReads(wanted);
    // The fast path does not check whether a record is read-only.
    mayReadShort = wanted != CopyReads.FROM_DISK_AND_READ_ONLY;
  }

  /** Continues after a piece of a large value was read for a pending operation. */
  Step arrived(Operation<I, O, C> op) {
    return alone(() -> large.arrived(op));
  }

  /**
   * Makes attempts, and reads or writes large values as needed, until the operation ends or must
   * wait.
   */
  Step advance(Operation<I, O, C> op) {
    Step step = settle(op);
    while (step == Step.LARGE) {
      Step next = alone(() -> large.resume(op));
      step = next == Step.RETRY ? settle(op) : next;
    }
    return step;
  }

  /**
   * Ensures that an update which becomes pending belongs to a version. An update that waited for a
   * part of a large value outside an epoch does not belong to one yet.
   */
  void accept(Operation<I, O, C> op, Step step) {
    int tries = 0;
    user.protect();
    try {
      while (!op.version.isCounted()) {
        if (!guard.begin(op) || guard.end(op, step, true) != step) {
          backOff(tries++);
        }
      }
    } finally {
      user.unprotect();
    }
  }

  /**
   * Runs the user's functions outside an epoch, but never concurrently with the session's deputy.
   */
  <T> T alone(Supplier<T> functions) {
    if (pendingUpdates == null) {
      return functions.get();
    }
    pendingUpdates.enter();
    try {
      return functions.get();
    } finally {
      pendingUpdates.leave();
    }
  }

  /** Makes attempts until the operation has ended or needs more than the log's memory. */
  private Step settle(Operation<I, O, C> op) {
    SpanPath<I, O, C> fast = path;
    if (fast == null || !fast.isCurrent()) {
      fast = newPath();
    }
    user.protect();
    try {
      return fast != null && begins(op) && fast.take(op) ? Step.DONE : attempts(op);
    } catch (Throwable e) {
      latch.releaseAfterError(op, engine.log().memory());
      NewRecord.settlePublication(engine, op);
      throw e;
    } finally {
      user.unprotect();
    }
  }

  private @Nullable SpanPath<I, O, C> newPath() {
    path = values.path(counters);
    return path;
  }

  private Step attempts(Operation<I, O, C> op) {
    int tries = 0;
    while (true) {
      Step step = engine.index().enter(op.hash, op.entry) ? attemptOfVersion(op) : Step.RETRY;
      if (step == Step.RESTART) {
        op.phase = Phase.SEARCH;
      } else if (step != Step.RETRY) {
        return step;
      }
      engine.log().assist();
      backOff(tries++);
    }
  }

  /** Whether the operation has no intermediate state yet, so that the fast path may run it. */
  private boolean begins(Operation<I, O, C> op) {
    return op.phase == Phase.SEARCH
        && !op.version.isCounted()
        && (mayReadShort || op.kind != Kind.READ);
  }

  private Step attemptOfVersion(Operation<I, O, C> op) {
    if (!guard.begin(op)) {
      return Step.RETRY;
    }
    Step step = Step.RETRY;
    try {
      step = attempt(op);
    } finally {
      step = guard.end(op, step, pendingUpdates != null && op.kind != Kind.UPSERT);
    }
    return step;
  }

  private Step attempt(Operation<I, O, C> op) {
    op.region = op.phase == Phase.FOUND_ON_DISK ? Region.DISK : Region.NONE;
    return switch (op.phase) {
      case SEARCH -> search(op);
      case FOUND_ON_DISK -> op.kind == Kind.READ ? read.found(op) : rmw.found(op);
      case ABSENT_ON_DISK -> op.kind == Kind.READ ? read.notFound(op) : rmw.notFound(op);
      case CHUNKS, WAITING -> throw new IllegalStateException("an attempt in phase " + op.phase);
    };
  }

  private Step search(Operation<I, O, C> op) {
    return switch (op.kind) {
      case READ -> read.attempt(op);
      case UPSERT -> upsert.attempt(op);
      case RMW -> rmw.attempt(op);
      case DELETE -> delete.attempt(op);
    };
  }

  /** Leaves the epoch, so that what this operation waits for can happen. */
  private void backOff(int tries) {
    if (tries < SPINS) {
      wait.end();
      user.refresh();
      Thread.onSpinWait();
      return;
    }
    user.unprotect();
    if (!engine.log().room().writeForRoom()) {
      if (tries < YIELDS) {
        Thread.yield();
      } else {
        wait.pause();
      }
    }
    user.protect();
  }
}
