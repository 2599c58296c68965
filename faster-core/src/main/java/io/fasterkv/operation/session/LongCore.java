package io.fasterkv.operation.session;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.fastpath.LongPath;
import io.fasterkv.operation.fastpath.LongPaths;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * Runs one session's operations on {@code long} keys: on the fast path where possible, otherwise on
 * the slow path. One thread at a time.
 *
 * <p>In a batch, the first operation of a group that cannot take the fast path ends its group: the
 * slow path leaves the epoch, so the group's lookups are no longer valid. The remaining operations
 * run one by one; their buckets and records are in the cache by then.
 *
 * <p>Every operation is busy from {@link #begin} to its end, on the fast and the slow path. A
 * function that calls its own session is refused, since the fast path would leave the epoch under
 * it. A session that only its operation refers to does not count as unreachable.
 *
 * @param <C> context
 */
public final class LongCore<C> implements AutoCloseable {
  private final SessionCore<Void, Void, C> general;
  private final LongPaths paths;
  private final LongFunctions<C> functions;
  private LongPath path;
  private long value;
  private boolean readsInGeneral;

  /** Whether an operation, and so possibly one of the user's functions, is running. */
  private boolean isBusy;

  private LongCore(
      SessionCore<Void, Void, C> general, LongPaths paths, LongFunctions<C> functions) {
    this.general = general;
    this.paths = paths;
    this.functions = functions;
    path = paths.path(functions, general.user(), general.counters());
  }

  public static <C> LongCore<C> of(
      Engine engine,
      @Nullable SessionIdentity identity,
      LongPaths paths,
      LongFunctions<C> functions,
      SessionMode mode) {
    SessionCore<Void, Void, C> general = SessionCore.longs(engine, identity, functions, mode);
    try {
      return new LongCore<>(general, paths, functions);
    } catch (Throwable e) {
      general.withdraw();
      throw e;
    }
  }

  /** See {@link SessionCore#serial()}. */
  public long serial() {
    return general.serial();
  }

  /** See {@link SessionCore#name()}. */
  public @Nullable String name() {
    return general.name();
  }

  /** Starts to load what an operation on the key needs first; does nothing if it is closed. */
  public void prefetch(long key) {
    path.prefetch(key);
  }

  public Status read(long key, @Nullable C context) {
    begin();
    try {
      return readOne(key, context);
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  private Status readOne(long key, @Nullable C context) {
    if (!readsInGeneral && path.read(key)) {
      value = path.value;
      return Status.FOUND;
    }
    Status status = inGeneral(LongKind.READ, key, 0, context);
    value = general.longOutput();
    return status;
  }

  /** The result of the last read or RMW of one key; 0 if it found nothing or is pending. */
  public long value() {
    return value;
  }

  public Status upsert(long key, long newValue, @Nullable C context) {
    begin();
    try {
      return upsertOne(key, newValue, context);
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  private Status upsertOne(long key, long newValue, @Nullable C context) {
    Status status = path.upsert(key, newValue);
    return status == null ? inGeneral(LongKind.UPSERT, key, newValue, context) : status;
  }

  public Status rmw(long key, long input, @Nullable C context) {
    begin();
    try {
      return rmwOne(key, input, context);
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  private Status rmwOne(long key, long input, @Nullable C context) {
    if (path.rmw(key, input)) {
      value = path.value;
      return Status.UPDATED_IN_PLACE;
    }
    Status status = inGeneral(LongKind.RMW, key, input, context);
    value = general.longOutput();
    return status;
  }

  public Status delete(long key, @Nullable C context) {
    begin();
    try {
      return general.runLong(LongKind.DELETE, key, 0, context);
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  /** Reads a batch; returns the number of pending reads. */
  public int read(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    int pending = 0;
    int end = from + count;
    begin();
    try {
      for (int at = from; at < end; ) {
        int groupEnd = Math.min(end, at + LongPath.GROUP);
        if (!readsInGeneral) {
          at += path.read(keys, values, statuses, at, groupEnd - at);
        }
        for (; at < groupEnd; at++) {
          Status status = readOne(keys[at], context);
          values[at] = value;
          statuses[at] = status;
          pending += status == Status.PENDING ? 1 : 0;
        }
      }
      return pending;
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  /** Upserts a batch. */
  public void upsert(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    int end = from + count;
    begin();
    try {
      for (int at = from; at < end; ) {
        int groupEnd = Math.min(end, at + LongPath.GROUP);
        at += path.upsert(keys, values, statuses, at, groupEnd - at);
        for (; at < groupEnd; at++) {
          statuses[at] = upsertOne(keys[at], values[at], context);
        }
      }
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  /** Updates a batch; returns the number of pending updates. */
  public int rmw(
      long[] keys, long[] inputs, Status[] statuses, int from, int count, @Nullable C context) {
    int pending = 0;
    int end = from + count;
    begin();
    try {
      for (int at = from; at < end; ) {
        int groupEnd = Math.min(end, at + LongPath.GROUP);
        at += path.rmw(keys, inputs, null, statuses, at, groupEnd - at);
        for (; at < groupEnd; at++) {
          Status status = rmwOne(keys[at], inputs[at], context);
          statuses[at] = status;
          pending += status == Status.PENDING ? 1 : 0;
        }
      }
      return pending;
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Updates the first keys of a batch and keeps what that returns; returns how many are pending.
   */
  public int rmw(
      long[] keys,
      long[] inputs,
      long[] outputs,
      Status[] statuses,
      int count,
      @Nullable C context) {
    int pending = 0;
    begin();
    try {
      for (int at = 0; at < count; ) {
        int groupEnd = Math.min(count, at + LongPath.GROUP);
        at += path.rmw(keys, inputs, outputs, statuses, at, groupEnd - at);
        for (; at < groupEnd; at++) {
          Status status = rmwOne(keys[at], inputs[at], context);
          outputs[at] = value;
          statuses[at] = status;
          pending += status == Status.PENDING ? 1 : 0;
        }
      }
      return pending;
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  /** Sets which records later reads copy to the tail. */
  public void copyReads(CopyReads wanted) {
    begin();
    try {
      general.copyReads(wanted);
      // The fast path does not check whether a record is read-only.
      readsInGeneral = wanted == CopyReads.FROM_DISK_AND_READ_ONLY;
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  public int completePending(boolean wait) {
    begin();
    try {
      return general.completePending(wait);
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  /** See {@link SessionCore#completePending(int)}. */
  public int completePending(int most) {
    begin();
    try {
      return general.completePending(most);
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public void close() {
    begin();
    try {
      path = LongPaths.NONE;
      general.close();
    } finally {
      isBusy = false;
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Begins an operation. The caller ends it with a plain store, since a call could fail for lack of
   * stack.
   */
  private void begin() {
    if (isBusy) {
      throw SessionCore.calledFromCallback();
    }
    isBusy = true;
  }

  private Status inGeneral(LongKind kind, long key, long input, @Nullable C context) {
    if (!path.isCurrent() && !general.isClosed()) {
      path = paths.path(functions, general.user(), general.counters());
    }
    return general.runLong(kind, key, input, context);
  }
}
