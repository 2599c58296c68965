package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CopyReads;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionIdentity;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.operation.Operation.Kind;
import io.fasterkv.operation.Operation.Phase;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs one session's operations to their end: attempts them, goes to disk when memory does not have
 * the record, and drives on what is pending. One thread at a time.
 *
 * @param <I> input
 * @param <O> output
 * @param <C> context
 */
public final class SessionCore<I, O, C> implements AutoCloseable {
  /** How many keys of a batch are looked up together. */
  public static final int GROUP = GroupTouch.GROUP;

  private static final long SCRATCH_PAUSE_NANOS = 1_000_000;

  private final Engine engine;
  private final Attempts<I, O, C> attempts;
  private final ChainSteps.Stripe steps;
  private final DiskSearch disk;
  private final GroupTouch touch;
  private final PendingOperations<I, O, C> pending;
  private final @Nullable Arrivals arrivals;
  private final Cleaner.Cleanable operations;
  private final EpochUser user;
  private final VersionGuard guard;

  /** For updates that are pending; null for a session that never has any. */
  private final @Nullable Handover<I, O, C> handover;

  private final FailureReports reports;
  private final OperationEnds<I, O, C> ends;
  private final boolean isBlocking;
  private @Nullable Operation<I, O, C> current;
  private @Nullable Promise promise;

  /** For the next operation that becomes pending, if its caller gets a stage. */
  private @Nullable Promise nextPromise;

  private boolean isClosed;

  /** Whether an operation is at work, and so maybe a callback of the user's. */
  private boolean isBusy;

  /**
   * @param identity who the session is; null if nobody asks
   * @param arrivals who drives pending operations and hears of their ends; null for a session whose
   *     caller completes them
   */
  SessionCore(
      Engine engine,
      @Nullable SessionIdentity identity,
      ValueAccess<I, O, C> values,
      SessionMode mode,
      @Nullable Arrivals arrivals) {
    this.engine = engine;
    this.arrivals = arrivals;
    isBlocking = mode == SessionMode.BLOCKING;
    user = engine.epochs().register();
    ChainSteps.Stripe counters = null;
    VersionGuard joined = null;
    try {
      counters = engine.chainSteps().open();
      steps = counters;
      handover = isBlocking ? null : new Handover<>(engine, () -> deputy(engine, values));
      joined = new VersionGuard(engine, identity, steps, handover);
      guard = joined;
      reports = new FailureReports(guard.participant());
      attempts = new Attempts<>(engine, values, user, steps, guard, handover);
      ends = new OperationEnds<>(values, attempts, steps, reports, arrivals);
      disk = new DiskSearch(engine, steps);
      touch = new GroupTouch(engine);
      SessionOperations<I, O, C> borrowed = new SessionOperations<>(engine, steps, touch);
      pending = new PendingOperations<>(engine, disk, borrowed, arrivals);
      operations = borrowed.end(this, guard);
    } catch (Throwable e) {
      user.close();
      if (joined != null) {
        joined.withdraw();
      }
      if (counters != null) {
        engine.chainSteps().close(counters);
      }
      throw e;
    }
  }

  /** Closes a session that no caller has received: its name is free again. */
  void withdraw() {
    guard.withdraw();
    close();
  }

  /** Ends pending updates in the place of a session with these functions. */
  private static <I, O, C> SessionCore<I, O, C> deputy(Engine engine, ValueAccess<I, O, C> values) {
    return new SessionCore<>(engine, null, values.another(), SessionMode.BLOCKING, null);
  }

  /**
   * A session on records of any length.
   *
   * @param paths makes its short way; null for the general way alone
   */
  public static <I, O, C> SessionCore<I, O, C> spans(
      Engine engine,
      @Nullable SessionIdentity identity,
      @Nullable SpanPaths paths,
      StoreFunctions<I, O, C> functions,
      SessionMode mode) {
    SpanValues<I, O, C> values = new SpanValues<>(functions, engine.log(), paths);
    return new SessionCore<>(engine, identity, values, mode, null);
  }

  /** A session on records of {@code long} keys and values. */
  public static <C> SessionCore<Void, Void, C> longs(
      Engine engine,
      @Nullable SessionIdentity identity,
      LongFunctions<C> functions,
      SessionMode mode) {
    return new SessionCore<>(engine, identity, new LongValues<>(functions), mode, null);
  }

  /** How many operations the session has accepted, those of its earlier lives included. */
  public long serial() {
    return guard.participant().serial();
  }

  /** What the session is called; null if it has no name. */
  public @Nullable String name() {
    return guard.participant().name();
  }

  /**
   * Ends a pending update in the place of the session it belongs to, in the version it belongs to;
   * that session sees how it ended.
   */
  void runFor(Operation<I, O, C> asked) {
    Operation<I, O, C> op = begin(Kind.RMW);
    op.ask(asked);
    asked.status = run(op);
    asked.longOutput = op.longOutput;
  }

  /** Who protects the epoch for this session. */
  EpochUser user() {
    return user;
  }

  /** Where this session counts its walks. */
  ChainSteps.Stripe steps() {
    return steps;
  }

  boolean isClosed() {
    return isClosed;
  }

  /** Whether operations are pending that no arrival will bring on: they want scratch memory. */
  boolean hasWaiting() {
    return pending.hasWaiting();
  }

  /** The end of an operation is reported before the session accepts another one. */
  void told(Promise ended) {
    reports.reported(ended.failure());
  }

  /** The end of the operation that has become pending last, for {@link Arrivals}. */
  Promise promise() {
    return Objects.requireNonNull(promise);
  }

  /** Brings what operations on these keys will need into the cache. */
  public void touch(ByteSpan[] keys, int from, int count) {
    checkOpen();
    try {
      touch.touch(keys, from, count, user);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  public Status read(ByteSpan key, @Nullable I input, @Nullable O output, @Nullable C context) {
    Operation<I, O, C> op = begin(Kind.READ, key);
    op.input = input;
    op.output = output;
    op.context = context;
    return run(op);
  }

  public Status upsert(ByteSpan key, ByteSpan value, @Nullable C context) {
    Operation<I, O, C> op = begin(Kind.UPSERT, key);
    op.source = value;
    op.context = context;
    return run(op);
  }

  public Status rmw(ByteSpan key, @Nullable I input, @Nullable C context) {
    Operation<I, O, C> op = begin(Kind.RMW, key);
    op.input = input;
    op.context = context;
    return run(op);
  }

  public Status delete(ByteSpan key, @Nullable C context) {
    Operation<I, O, C> op = begin(Kind.DELETE, key);
    op.context = context;
    return run(op);
  }

  /** Which records the reads that follow copy to the tail. */
  public void copyReads(CopyReads wanted) {
    checkOpen();
    attempts.copyReads(wanted);
  }

  /** An operation of any kind on a {@code long} key. */
  public Status runLong(LongKind kind, long key, long input, @Nullable C context) {
    Operation<I, O, C> op = begin(kind.kind);
    op.setKey(key);
    op.hash = LongHash.hash(key);
    op.longInput = input;
    op.context = context;
    return run(op);
  }

  /** What the last read on a {@code long} key found; 0 if nothing. */
  public long longOutput() {
    return current == null ? 0 : current.longOutput;
  }

  /** The kinds of operation on {@code long} keys. */
  public enum LongKind {
    READ(Kind.READ),
    UPSERT(Kind.UPSERT),
    RMW(Kind.RMW),
    DELETE(Kind.DELETE);

    private final Kind kind;

    LongKind(Kind kind) {
      this.kind = kind;
    }
  }

  /**
   * Completes pending operations whose records have arrived, or all of them if {@code wait} is set;
   * then throws the failure of one of them. Returns how many are still pending.
   */
  public int completePending(boolean wait) {
    checkOpen();
    complete(wait);
    reports.throwNext();
    return pending.count();
  }

  private void complete(boolean wait) {
    // An operation that waits for scratch memory retries; without waiting, one retry is enough.
    int left = wait ? Integer.MAX_VALUE : pending.count();
    Operation<I, O, C> op = pending.next(wait);
    while (op != null) {
      goOn(op);
      left--;
      op = left > 0 ? pending.next(wait) : null;
    }
  }

  /**
   * Completes pending operations, waiting for their records, until at most {@code most} are left;
   * then throws the failure of one of them.
   */
  public int completePending(int most) {
    checkOpen();
    while (pending.count() > most) {
      goOn(Objects.requireNonNull(pending.next(true)));
    }
    reports.throwNext();
    return pending.count();
  }

  /**
   * Completes pending operations and releases everything; then throws the unreported failures, the
   * first with the others suppressed.
   */
  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    checkNotInCallback();
    @Nullable Throwable failure = null;
    try {
      complete(true);
    } catch (RuntimeException | Error e) {
      reports.later(e);
    } finally {
      failure = reports.takeAll();
      isClosed = true;
      user.close();
      current = null;
      // The session's place goes back with the rest.
      operations.clean();
    }
    if (failure != null) {
      FailureReports.rethrow(failure);
    }
  }

  private Operation<I, O, C> begin(Kind kind, ByteSpan key) {
    engine.log().checkKey(key.length());
    Operation<I, O, C> op = begin(kind);
    setKey(op, key);
    op.hash = engine.keyHash().hash(op.key.memory(), 0, op.key.length());
    return op;
  }

  /** A key that finds no buffer waits for operations of the session to give theirs back. */
  private void setKey(Operation<I, O, C> op, ByteSpan key) {
    while (true) {
      try {
        op.setKey(key);
        return;
      } catch (OutOfBudget e) {
        if (pending.count() == 0) {
          throw e;
        }
        goOn(Objects.requireNonNull(pending.next(true)));
      }
    }
  }

  private Operation<I, O, C> begin(Kind kind) {
    checkOpen();
    Operation<I, O, C> op = current;
    if (op == null) {
      op = idle();
      current = op;
    }
    op.kind = kind;
    op.phase = Phase.SEARCH;
    op.longOutput = 0;
    op.madeBytes = 0;
    op.endedBytes = Operation.UNKNOWN_BYTES;
    op.region = Region.NONE;
    return op;
  }

  /** Allocates what becoming pending needs, so that this cannot fail later. */
  private Operation<I, O, C> idle() {
    reports.reserve(PendingOperations.MAX_PENDING + 1);
    if (arrivals != null && nextPromise == null) {
      nextPromise = new Promise();
    }
    Operation<I, O, C> op = pending.idle();
    while (op == null) {
      goOn(Objects.requireNonNull(pending.next(true)));
      op = pending.idle();
    }
    return op;
  }

  private Status run(Operation<I, O, C> op) {
    isBusy = true;
    try {
      Step step = attempts.advance(op);
      while (step != Step.DONE) {
        if (!isBlocking && op.kind != Kind.UPSERT) {
          suspend(op, step);
          return Status.PENDING;
        }
        if (step == Step.READ_DISK) {
          disk.searchNow(op);
        } else {
          waitForScratch(op);
        }
        step = attempts.advance(op);
      }
      guard.count(op);
      ends.count(op);
      return op.status;
    } finally {
      isBusy = false;
      if (current == op) {
        op.clear();
      }
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Makes the session's current operation pending. Once it has its serial number, its failures are
   * reported like those of all pending operations.
   */
  private void suspend(Operation<I, O, C> op, Step step) {
    boolean isUpdate = op.kind == Kind.RMW && handover != null;
    if (isUpdate) {
      attempts.accept(op, step);
    } else {
      guard.count(op);
    }
    current = null;
    op.serial = guard.participant().serial();
    promise = nextPromise;
    op.promise = nextPromise;
    nextPromise = null;
    if (isUpdate && handover != null) {
      handover.enter();
      try {
        handover.list(op);
        guard.participant().keep(this);
        startPending(op, step);
      } finally {
        handover.leave();
      }
    } else {
      startPending(op, step);
    }
  }

  private void startPending(Operation<I, O, C> op, Step step) {
    try {
      if (step == Step.READ_DISK) {
        pending.start(op);
      } else {
        pending.later(op);
      }
    } catch (RuntimeException | Error e) {
      if (!retries(op)) {
        ends.failed(op, e);
        unlist(op);
        pending.end(op);
      }
    }
  }

  /** A pending update is over. */
  private void unlist(Operation<I, O, C> op) {
    if (handover != null && op.kind == Kind.RMW && handover.ended(op)) {
      guard.participant().keep(null);
    }
  }

  /** Lets others give scratch memory back, the session's own operations first. */
  private void waitForScratch(Operation<I, O, C> op) {
    if (pending.count() > 0) {
      goOn(Objects.requireNonNull(pending.next(true)));
    } else {
      LockSupport.parkNanos(SCRATCH_PAUSE_NANOS);
    }
    op.phase = Phase.SEARCH;
  }

  /**
   * Continues a pending operation after a read; it ends, or another read starts. Its failure is
   * reported later.
   */
  private void goOn(Operation<I, O, C> op) {
    boolean isUnderWay = false;
    boolean wasBusy = isBusy;
    isBusy = true;
    try {
      if (handover != null) {
        handover.take(op);
      }
      isUnderWay = isUnderWay(op, resume(op));
      if (!isUnderWay) {
        ends.ended(op);
      }
    } catch (RuntimeException | Error e) {
      isUnderWay = retries(op);
      if (isUnderWay) {
        LockSupport.parkNanos(SCRATCH_PAUSE_NANOS);
      } else {
        ends.failed(op, e);
      }
    } finally {
      isBusy = wasBusy;
      if (!isUnderWay) {
        try {
          unlist(op);
        } finally {
          pending.end(op);
        }
      } else if (handover != null) {
        handover.put(op);
      }
      Reference.reachabilityFence(this);
    }
  }

  private boolean isUnderWay(Operation<I, O, C> op, Step step) {
    switch (step) {
      case READ_DISK -> pending.read(op);
      case WAIT -> {
        LockSupport.parkNanos(SCRATCH_PAUSE_NANOS);
        pending.later(op);
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether an operation failed because it found no buffer, and other pending operations will free
   * one.
   */
  private boolean retries(Operation<I, O, C> op) {
    boolean isForBuffer =
        !op.version.isHandedOver() && pending.isOther(op) && op.comesAgainForBuffer();
    if (isForBuffer) {
      op.phase = Phase.WAITING;
      pending.later(op);
    }
    return isForBuffer;
  }

  /** Goes on with what has arrived. A step that reads the disk has its aim. */
  private Step resume(Operation<I, O, C> op) {
    if (op.version.isHandedOver()) {
      RuntimeException failure = op.version.failure();
      if (failure != null) {
        throw failure;
      }
      return Step.DONE;
    }
    Step step =
        switch (op.phase) {
          case CHUNKS -> attempts.arrived(op);
          case WAITING -> {
            op.phase = Phase.SEARCH;
            yield Step.RETRY;
          }
          default -> disk.examine(op) ? Step.RETRY : Step.READ_DISK;
        };
    if (step == Step.RETRY) {
      step = attempts.advance(op);
      if (step == Step.READ_DISK) {
        disk.aim(op);
      }
    }
    return step;
  }

  private void checkOpen() {
    if (isClosed) {
      throw new Closed("the session is closed");
    }
    checkNotInCallback();
  }

  /** A callback runs inside an operation, whose epoch and buffers a second one would take away. */
  private void checkNotInCallback() {
    if (isBusy) {
      throw calledFromCallback();
    }
  }

  static IllegalStateException calledFromCallback() {
    return new IllegalStateException(
        "a session was called from one of its own callbacks: thread="
            + Thread.currentThread().getName()
            + ", allowed=between operations; note what is to be done, and do it when the"
            + " operation has returned");
  }
}
