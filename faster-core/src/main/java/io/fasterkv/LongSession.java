package io.fasterkv;

import io.fasterkv.api.Status;
import io.fasterkv.operation.SessionCore;
import io.fasterkv.operation.SessionCore.LongKind;
import org.jspecify.annotations.Nullable;

/**
 * One caller's access to a store of {@code long} keys and values, whose {@code recordKind} is
 * {@code LONGS}. Used by one thread at a time. Nothing is allocated by an operation that does not
 * go to disk.
 *
 * @param <C> the caller's own object for pending operations
 */
public final class LongSession<C> implements AutoCloseable {
  private final SessionCore<Void, Void, C> core;

  LongSession(SessionCore<Void, Void, C> core) {
    this.core = core;
  }

  /** Reads a key's value: FOUND, and {@link #value()} has it; NOT_FOUND; or PENDING. */
  public Status read(long key, @Nullable C context) {
    return core.runLong(LongKind.READ, key, 0, context);
  }

  /** What the last {@link #read} found; 0 if it found nothing or was pending. */
  public long value() {
    return core.longOutput();
  }

  /** Sets a key's value; see {@link Session#upsert}. */
  public Status upsert(long key, long value, @Nullable C context) {
    return core.runLong(LongKind.UPSERT, key, value, context);
  }

  /** Updates a key's value by the functions; see {@link Session#rmw}. */
  public Status rmw(long key, long input, @Nullable C context) {
    return core.runLong(LongKind.RMW, key, input, context);
  }

  /** Deletes a key; see {@link Session#delete}. */
  public Status delete(long key, @Nullable C context) {
    return core.runLong(LongKind.DELETE, key, 0, context);
  }

  /** See {@link Session#completePending}. */
  public int completePending(boolean wait) {
    return core.completePending(wait);
  }

  @Override
  public void close() {
    core.close();
  }
}
