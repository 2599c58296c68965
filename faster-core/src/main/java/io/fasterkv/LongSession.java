package io.fasterkv;

import io.fasterkv.api.Status;
import io.fasterkv.operation.SessionCore;
import io.fasterkv.operation.SessionCore.LongKind;
import java.util.Objects;
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

  /**
   * Reads a batch of keys: those of {@code keys[from]} to {@code keys[from + count - 1]}. What was
   * found goes to the same places of {@code values}, 0 where nothing was or where the read is
   * pending; how each ended goes to the same places of {@code statuses}.
   *
   * <p>A batch does the same as its operations one after another in their order, and is several
   * times faster than these when keys are spread over much memory: their cache misses overlap. A
   * key may occur in it more than once. A batch is not one atomic operation: others may come
   * between. If an operation throws, those before it have taken effect and have their status; it
   * and those after it have not.
   *
   * @return how many are {@link Status#PENDING}; each of these calls the completion callback with
   *     {@code context} when it ends
   */
  public int read(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, values.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    int pending = 0;
    for (int i = from; i < from + count; i++) {
      Status status = read(keys[i], context);
      values[i] = status == Status.FOUND ? value() : 0;
      statuses[i] = status;
      pending += status == Status.PENDING ? 1 : 0;
    }
    return pending;
  }

  /** Sets the values of a batch of keys; never pending. See the batch of reads. */
  public void upsert(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, values.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    for (int i = from; i < from + count; i++) {
      statuses[i] = upsert(keys[i], values[i], context);
    }
  }

  /** Updates a batch of keys by the functions; see the batch of reads. */
  public int rmw(
      long[] keys, long[] inputs, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, inputs.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    int pending = 0;
    for (int i = from; i < from + count; i++) {
      Status status = rmw(keys[i], inputs[i], context);
      statuses[i] = status;
      pending += status == Status.PENDING ? 1 : 0;
    }
    return pending;
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
