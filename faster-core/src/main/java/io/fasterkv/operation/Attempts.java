package io.fasterkv.operation;

import io.fasterkv.api.CopyReads;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.operation.Operation.Kind;
import io.fasterkv.operation.Operation.Phase;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Attempts one session's operations: protects the epoch around each attempt, lets it be of a
 * version, and comes again after a {@link Step#RETRY}. One thread at a time.
 */
final class Attempts<I, O, C> {
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
  private final ChainSteps.Stripe steps;

  /** For updates that are pending; null for a session that never has any. */
  private final @Nullable Handover<I, O, C> handover;

  private SpanPath<I, O, C> path;
  private boolean mayReadShort = true;

  Attempts(
      Engine engine,
      ValueAccess<I, O, C> values,
      EpochUser user,
      ChainSteps.Stripe steps,
      VersionGuard guard,
      @Nullable Handover<I, O, C> handover) {
    this.engine = engine;
    this.user = user;
    this.guard = guard;
    this.values = values;
    this.steps = steps;
    path = values.path(steps);
    this.handover = handover;
    ChainWalk walk = new ChainWalk(engine, steps);
    large = new LargeValues<>(engine, values.large(), user, handover == null);
    read = new Read<>(engine, values, large, walk);
    upsert = new Upsert<>(engine, values, large, walk);
    rmw = new Rmw<>(engine, values, large, walk);
    delete = new Delete<>(engine, values, walk);
    wait = new EpochWait(engine.epochs(), () -> "an operation to go on, " + engine.log());
  }

  void copyReads(CopyReads wanted) {
    read.copyReads(wanted);
    // The short way does not look at what is read-only.
    mayReadShort = wanted != CopyReads.FROM_DISK_AND_READ_ONLY;
  }

  /** Goes on when a piece of a large value was read for a pending operation. */
  Step arrived(Operation<I, O, C> op) {
    return alone(() -> large.arrived(op));
  }

  /** Attempts, with large values as they are needed, until the operation ends or has to wait. */
  Step advance(Operation<I, O, C> op) {
    Step step = settle(op);
    while (step == Step.LARGE) {
      Step went = alone(() -> large.goOn(op));
      step = went == Step.RETRY ? settle(op) : went;
    }
    return step;
  }

  /**
   * Sees to it that an update which becomes pending belongs to a version: one that was waiting for
   * a part of a large value outside an epoch does not yet.
   */
  void accept(Operation<I, O, C> op, Step step) {
    int tries = 0;
    user.protect();
    try {
      while (!op.version.isCounted()) {
        if (!guard.begin(op) || guard.end(op, step, true) != step) {
          comeAgain(tries++);
        }
      }
    } finally {
      user.unprotect();
    }
  }

  /** Runs the user's functions outside an epoch, and so not beside a deputy of the session's. */
  <T> T alone(Supplier<T> functions) {
    if (handover == null) {
      return functions.get();
    }
    handover.enter();
    try {
      return functions.get();
    } finally {
      handover.leave();
    }
  }

  /** Attempts until the operation has ended or needs more than the log's memory. */
  private Step settle(Operation<I, O, C> op) {
    if (!path.isCurrent()) {
      path = values.path(steps);
    }
    int tries = 0;
    user.protect();
    try {
      if (begins(op) && path.take(op)) {
        return Step.DONE;
      }
      while (true) {
        Step step = engine.index().enter(op.hash, op.entry) ? attemptOfVersion(op) : Step.RETRY;
        if (step == Step.RESTART) {
          op.phase = Phase.SEARCH;
        } else if (step != Step.RETRY) {
          return step;
        }
        engine.log().assist();
        comeAgain(tries++);
      }
    } catch (Throwable e) {
      values.releaseHeld(engine.log().memory());
      throw e;
    } finally {
      user.unprotect();
    }
  }

  /** Whether nothing is decided about an operation yet, and the short way may do it. */
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
      step = guard.end(op, step, handover != null && op.kind != Kind.UPSERT);
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

  /** Lets go of the epoch, so that what this operation waits for can happen. */
  private void comeAgain(int tries) {
    if (tries < SPINS) {
      wait.end();
      user.refresh();
      Thread.onSpinWait();
      return;
    }
    user.unprotect();
    if (!engine.log().writeForRoom()) {
      if (tries < YIELDS) {
        Thread.yield();
      } else {
        wait.pause();
      }
    }
    user.protect();
  }
}
