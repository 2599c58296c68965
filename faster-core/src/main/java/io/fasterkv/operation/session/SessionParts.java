package io.fasterkv.operation.session;

import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.fastpath.Prefetcher;
import io.fasterkv.operation.search.DiskSearch;
import io.fasterkv.operation.version.SessionCounters;
import java.lang.ref.Cleaner;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens what a session consists of, completely or not at all. The session copies the parts to its
 * own fields, so that an operation reaches each in one step.
 *
 * @param <I> input
 * @param <O> output
 * @param <C> context
 */
final class SessionParts<I, O, C> {
  final EpochUser user;
  final SessionCounters.Stripe counters;
  final VersionGuard guard;

  /** Holds pending updates; null for a session that never has any. */
  final @Nullable PendingUpdates<I, O, C> pendingUpdates;

  final FailureReports reports;
  final RetryLoop<I, O, C> retryLoop;
  final OperationEnds<I, O, C> ends;
  final DiskSearch disk;
  final Prefetcher prefetcher;
  final PendingOperations<I, O, C> pending;
  final Continuation<I, O, C> continuation;
  private final Engine engine;
  private final SessionOperations<I, O, C> operations;

  /**
   * Opens the parts.
   *
   * @param identity the session's identity; null for an internal session
   * @param arrivals drives pending operations and is notified of their ends; null for a session
   *     whose caller completes them
   * @param deputies opens sessions that complete this one's pending updates; null for a session
   *     that never has any
   */
  SessionParts(
      Engine engine,
      @Nullable SessionIdentity identity,
      ValueAccess<I, O, C> values,
      @Nullable Arrivals arrivals,
      @Nullable Supplier<? extends PendingUpdates.Deputy<I, O, C>> deputies) {
    this.engine = engine;
    user = engine.epochs().register();
    SessionCounters.Stripe opened = null;
    VersionGuard joined = null;
    try {
      opened = engine.sessionCounters().open();
      counters = opened;
      pendingUpdates =
          deputies == null
              ? null
              : new PendingUpdates<>(engine, PendingOperations.MAX_PENDING + 1, deputies);
      joined = new VersionGuard(engine, identity, counters, pendingUpdates);
      guard = joined;
      reports = new FailureReports(guard.sessionVersion());
      retryLoop = new RetryLoop<>(engine, values, user, counters, guard, pendingUpdates);
      ends = new OperationEnds<>(values, retryLoop, counters, reports, arrivals);
      disk = new DiskSearch(engine, counters);
      prefetcher = new Prefetcher(engine);
      operations = new SessionOperations<>(engine, counters, prefetcher);
      pending = new PendingOperations<>(engine, disk, operations, arrivals);
      continuation = new Continuation<>(pending, pendingUpdates, guard, retryLoop, disk, ends);
    } catch (Throwable e) {
      close(engine, user, joined, opened);
      throw e;
    }
  }

  /**
   * Registers the session that has the parts: what it borrows is returned when it is closed or
   * forgotten. If that fails, the parts are closed.
   */
  Cleaner.Cleanable register(Object session) {
    try {
      return operations.end(session, guard);
    } catch (Throwable e) {
      close(engine, user, guard, counters);
      throw e;
    }
  }

  private static void close(
      Engine engine,
      EpochUser user,
      @Nullable VersionGuard guard,
      SessionCounters.@Nullable Stripe counters) {
    user.close();
    if (guard != null) {
      guard.withdraw();
    }
    if (counters != null) {
      engine.sessionCounters().close(counters);
    }
  }
}
