package io.fasterkv;

import io.fasterkv.api.CopyReads;
import io.fasterkv.api.Status;
import io.fasterkv.operation.LongCore;
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
  private final LongCore<C> core;

  LongSession(LongCore<C> core) {
    this.core = core;
  }

  /** Reads a key's value: FOUND, and {@link #value()} has it; NOT_FOUND; or PENDING. */
  public Status read(long key, @Nullable C context) {
    return core.read(key, context);
  }

  /** What the last {@link #read} found; 0 if it found nothing or was pending. */
  public long value() {
    return core.value();
  }

  /** Sets a key's value; see {@link Session#upsert}. */
  public Status upsert(long key, long value, @Nullable C context) {
    return core.upsert(key, value, context);
  }

  /** Updates a key's value by the functions; see {@link Session#rmw}. */
  public Status rmw(long key, long input, @Nullable C context) {
    return core.rmw(key, input, context);
  }

  /** Deletes a key; see {@link Session#delete}. */
  public Status delete(long key, @Nullable C context) {
    return core.delete(key, context);
  }

  /**
   * Reads a batch of keys: those of {@code keys[from]} to {@code keys[from + count - 1]}. What was
   * found goes to the same places of {@code values}, 0 where nothing was or where the read is
   * pending; how each ended goes to the same places of {@code statuses}.
   *
   * <p>A batch is several times faster than its operations one by one when keys are spread over
   * much memory: their cache misses overlap. A key may occur in it more than once; operations on
   * one key take effect in their order. Those on different keys take effect in any order between
   * call and return, and others may come between. If an operation throws, those before it have
   * taken effect and have their status; it and those after it have not.
   *
   * @return how many are {@link Status#PENDING}; each of these calls the completion callback with
   *     {@code context} when it ends
   */
  public int read(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, values.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    return core.read(keys, values, statuses, from, count, context);
  }

  /** Sets the values of a batch of keys; never pending. See the batch of reads. */
  public void upsert(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, values.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    core.upsert(keys, values, statuses, from, count, context);
  }

  /** Updates a batch of keys by the functions; see the batch of reads. */
  public int rmw(
      long[] keys, long[] inputs, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, inputs.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    return core.rmw(keys, inputs, statuses, from, count, context);
  }

  /** See {@link Session#copyReads}. */
  public void copyReads(CopyReads wanted) {
    core.copyReads(wanted);
  }

  /** See {@link Session#completePending(boolean)}. */
  public int completePending(boolean wait) {
    return core.completePending(wait);
  }

  /**
   * Ends operations that were pending, waiting for them, until at most {@code most} are under way:
   * a caller that does this before each operation has {@code most} + 1 disk reads under way at a
   * time. Returns how many are still pending; throws like {@link #completePending(boolean)}.
   */
  public int completePending(int most) {
    return core.completePending(most);
  }

  /**
   * The serial number of the last operation that the session has accepted, those of its earlier
   * lives included: operations count from 1, in the order of their calls; one that is pending
   * counts when it becomes so, and one that throws does not. An operation that fails while it is
   * pending keeps its number; see {@link io.fasterkv.api.CommitPoint}.
   */
  public long serial() {
    return core.serial();
  }

  /** The session's name; null if it has none. */
  public @Nullable String name() {
    return core.name();
  }

  /** See {@link Session#close()}. */
  @Override
  public void close() {
    core.close();
  }
}
