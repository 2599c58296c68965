package io.fasterkv.operation.session;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.Promise;
import io.fasterkv.operation.core.Request.Kind;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.fastpath.LongValues;
import io.fasterkv.operation.fastpath.Prefetcher;
import io.fasterkv.operation.fastpath.SpanPaths;
import io.fasterkv.operation.fastpath.SpanValues;
import io.fasterkv.operation.search.DiskSearch;
import io.fasterkv.operation.version.Region;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.LongHash;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs one session's operations to their end: attempts them, reads from disk what memory does not
 * have, and continues pending ones. One thread at a time.
 *
 * @param <I> input
 * @param <O> output
 * @param <C> context
 */
public final class SessionCore<I, O, C> implements AutoCloseable, PendingUpdates.Deputy<I, O, C> {
  /** Number of keys of a batch that are looked up together. */
  public static final int GROUP = Prefetcher.GROUP;

  private final Engine engine;
  private final RetryLoop<I, O, C> retryLoop;
  private final SessionCounters.Stripe counters;
  private final DiskSearch disk;
  private final Prefetcher prefetcher;
  private final PendingOperations<I, O, C> pending;
  private final Continuation<I, O, C> continuation;
  private final @Nullable Arrivals arrivals;
  private final Cleaner.Cleanable operations;
  private final EpochUser user;
  private final VersionGuard guard;

  /** Holds pending updates; null for a session that never has any. */
  private final @Nullable PendingUpdates<I, O, C> pendingUpdates;

  private final FailureReports reports;
  private final OperationEnds<I, O, C> ends;
  private final boolean isBlocking;
  private @Nullable Operation<I, O, C> current;
  private @Nullable Promise promise;

  /** The promise for the next operation that becomes pending, if its caller gets a stage. */
  private @Nullable Promise nextPromise;

  private boolean isClosed;

  /** Whether an operation, and so possibly one of the user's callbacks, is running. */
  private boolean isBusy;

  /**
   * @param identity the session's identity; null for an internal session
   * @param arrivals drives pending operations and is notified of their ends; null for a session
   *     whose caller completes them
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
    SessionParts<I, O, C> parts =
        new SessionParts<>(
            engine, identity, values, arrivals, isBlocking ? null : () -> deputy(engine, values));
    user = parts.user;
    counters = parts.counters;
    guard = parts.guard;
    pendingUpdates = parts.pendingUpdates;
    reports = parts.reports;
    retryLoop = parts.retryLoop;
    ends = parts.ends;
    disk = parts.disk;
    prefetcher = parts.prefetcher;
    pending = parts.pending;
    continuation = parts.continuation;
    operations = parts.register(this);
  }

  /** Closes a session that no caller has received: its name becomes free again. */
  void withdraw() {
    guard.withdraw();
    close();
  }

  /**
   * Creates a deputy that completes pending updates on behalf of a session with these functions.
   */
  private static <I, O, C> SessionCore<I, O, C> deputy(Engine engine, ValueAccess<I, O, C> values) {
    return new SessionCore<>(engine, null, values, SessionMode.BLOCKING, null);
  }

  /**
   * Creates a session on records of any length.
   *
   * @param paths creates its fast path; null for the slow path only
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

  /** Creates a session on records of {@code long} keys and values. */
  public static <C> SessionCore<Void, Void, C> longs(
      Engine engine,
      @Nullable SessionIdentity identity,
      LongFunctions<C> functions,
      SessionMode mode) {
    return new SessionCore<>(engine, identity, new LongValues<>(functions), mode, null);
  }

  /** Number of operations that the session has accepted, including those before a recovery. */
  public long serial() {
    return guard.sessionVersion().serial();
  }

  /** The session's name; null if it has none. */
  public @Nullable String name() {
    return guard.sessionVersion().name();
  }

  /**
   * Completes a pending update on behalf of its session, in the version it belongs to; that session
   * sees the result.
   */
  @Override
  public void runFor(Operation<I, O, C> asked) {
    Operation<I, O, C> op = begin(Kind.RMW);
    op.ask(asked);
    asked.status = run(op);
    asked.longOutput = op.longOutput;
  }

  /** The epoch user of this session. */
  EpochUser user() {
    return user;
  }

  /** The counters of this session. */
  SessionCounters.Stripe counters() {
    return counters;
  }

  boolean isClosed() {
    return isClosed;
  }

  /** Whether operations are pending. */
  boolean hasPending() {
    return pending.count() > 0;
  }

  /**
   * Whether operations are pending that wait for scratch memory, so that no arrival will continue
   * them.
   */
  boolean hasWaiting() {
    return pending.hasWaiting();
  }

  /** The end of an operation is reported before the session accepts another one. */
  void reported(Promise ended) {
    reports.reported(ended.failure());
  }

  /** The promise of the operation that became pending last, for {@link Arrivals}. */
  Promise promise() {
    return Objects.requireNonNull(promise);
  }

  /** Prefetches what operations on these keys will need. */
  public void prefetch(ByteSpan[] keys, int from, int count) {
    checkOpen();
    try {
      prefetcher.prefetch(keys, from, count, user);
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

  /** An upsert takes no context, since it never becomes pending. */
  public Status upsert(ByteSpan key, @Nullable I input, ByteSpan value, @Nullable O output) {
    Operation<I, O, C> op = begin(Kind.UPSERT, key);
    op.input = input;
    op.source = value;
    op.output = output;
    return run(op);
  }

  public Status rmw(ByteSpan key, @Nullable I input, @Nullable O output, @Nullable C context) {
    Operation<I, O, C> op = begin(Kind.RMW, key);
    op.input = input;
    op.output = output;
    op.context = context;
    return run(op);
  }

  public Status delete(ByteSpan key, @Nullable C context) {
    Operation<I, O, C> op = begin(Kind.DELETE, key);
    op.context = context;
    return run(op);
  }

  /** Sets which records later reads copy to the tail. */
  public void copyReads(CopyReads wanted) {
    checkOpen();
    retryLoop.copyReads(wanted);
  }

  /** Runs an operation of any kind on a {@code long} key. */
  public Status runLong(LongKind kind, long key, long input, @Nullable C context) {
    Operation<I, O, C> op = begin(kind.kind);
    op.setKey(key);
    op.hash = LongHash.hash(key);
    op.longInput = input;
    op.context = context;
    return run(op);
  }

  /** The result of the last read or RMW on a {@code long} key; 0 if there is none. */
  public long longOutput() {
    return current == null ? 0 : current.longOutput;
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
      resume(op);
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
      resume(Objects.requireNonNull(pending.next(true)));
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
      // The session's registration ends with the rest.
      operations.clean();
    }
    if (failure != null) {
      FailureReports.rethrow(failure);
    }
  }

  private Operation<I, O, C> begin(Kind kind, ByteSpan key) {
    engine.log().limits().checkKey(key.length());
    Operation<I, O, C> op = begin(kind);
    setKey(op, key);
    op.hash = engine.keyHash().hash(op.key.memory(), 0, op.key.length());
    return op;
  }

  /**
   * Sets the key; if there is no buffer for it, waits for the session's other operations to return
   * theirs.
   */
  private void setKey(Operation<I, O, C> op, ByteSpan key) {
    while (true) {
      try {
        op.setKey(key);
        return;
      } catch (OutOfBudget e) {
        if (pending.count() == 0) {
          throw e;
        }
        resume(Objects.requireNonNull(pending.next(true)));
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
    op.endedBytes = SessionCounters.UNKNOWN_BYTES;
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
      resume(Objects.requireNonNull(pending.next(true)));
      op = pending.idle();
    }
    return op;
  }

  private Status run(Operation<I, O, C> op) {
    isBusy = true;
    try {
      Step step = retryLoop.advance(op);
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
        step = retryLoop.advance(op);
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
    boolean isUpdate = op.kind == Kind.RMW && pendingUpdates != null;
    if (isUpdate) {
      retryLoop.accept(op, step);
    } else {
      guard.count(op);
    }
    current = null;
    op.serial = guard.sessionVersion().serial();
    promise = nextPromise;
    op.promise = nextPromise;
    nextPromise = null;
    if (isUpdate && pendingUpdates != null) {
      pendingUpdates.enter();
      try {
        pendingUpdates.list(op);
        guard.sessionVersion().keep(this);
        continuation.start(op, step);
      } finally {
        pendingUpdates.leave();
      }
    } else {
      continuation.start(op, step);
    }
  }

  /** Lets others return scratch memory, the session's own operations first. */
  private void waitForScratch(Operation<I, O, C> op) {
    if (pending.count() > 0) {
      resume(Objects.requireNonNull(pending.next(true)));
    } else {
      LockSupport.parkNanos(Continuation.SCRATCH_PAUSE_NANOS);
    }
    op.phase = Phase.SEARCH;
  }

  /** Continues a pending operation. Its failure is reported later. */
  private void resume(Operation<I, O, C> op) {
    boolean wasBusy = isBusy;
    isBusy = true;
    try {
      continuation.resume(op);
    } finally {
      isBusy = wasBusy;
      Reference.reachabilityFence(this);
    }
  }

  private void checkOpen() {
    if (isClosed) {
      throw new Closed("the session is closed");
    }
    checkNotInCallback();
  }

  /**
   * Throws if called within a callback: it runs inside an operation, whose epoch and buffers a
   * second one would take away.
   */
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
