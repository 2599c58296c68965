package io.fasterkv;

import io.fasterkv.api.Status;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.operation.session.LongCore;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One caller's access to a store of {@code long} keys and values, whose {@code recordKind} is
 * {@code LONGS}. For one thread at a time. An operation that needs no disk read allocates nothing.
 *
 * <p>Operations throw the errors that {@link Session} lists.
 *
 * @param <C> the caller's own object for pending operations
 */
public final class LongSession<C> implements AutoCloseable {
  /** How far a batch of deletes prefetches. */
  private static final int KEYS_AHEAD = 4;

  private final LongCore<C> core;

  LongSession(LongCore<C> core) {
    this.core = core;
  }

  /**
   * Prefetches the bucket and the record of a key. Call it about four operations ahead, so that the
   * cache misses of these operations overlap. Batches gain more; use this if you cannot batch. It
   * changes nothing, and does nothing where it would not help.
   *
   * @param key the key
   */
  public void prefetch(long key) {
    core.prefetch(key);
  }

  /**
   * Reads a key's value.
   *
   * @param key the key
   * @param context the caller's object for the completion callback
   * @return FOUND, with the result in {@link #value()}; NOT_FOUND; or PENDING
   */
  public Status read(long key, @Nullable C context) {
    return core.read(key, context);
  }

  /**
   * {@return what the last read or RMW of one key returned: the value that the read found, or the
   * output of the RMW; 0 if it found none or is pending}
   */
  public long value() {
    return core.value();
  }

  /**
   * Sets a key's value; see {@link Session#upsert(io.fasterkv.api.ByteSpan,
   * io.fasterkv.api.ByteSpan, Object)}.
   *
   * @param key the key
   * @param value the value
   * @param context the caller's object
   * @return the outcome; never PENDING
   */
  public Status upsert(long key, long value, @Nullable C context) {
    return core.upsert(key, value, context);
  }

  /**
   * Updates a key's value with the functions. The output, in {@link #value()}, is the new value,
   * unless the functions implement {@link io.fasterkv.api.LongOutput}: then it is what they return
   * of the old and the new value. If the operation is pending, the completion callback receives the
   * output. In a store that merges, old and new value may be those of a delta.
   *
   * @param key the key
   * @param input the input of the functions
   * @param context the caller's object for the completion callback
   * @return the outcome, as of {@link Session#rmw(io.fasterkv.api.ByteSpan, Object, Object)}
   */
  public Status rmw(long key, long input, @Nullable C context) {
    return core.rmw(key, input, context);
  }

  /**
   * Deletes a key; see {@link Session#delete}.
   *
   * @param key the key
   * @param context the caller's object
   * @return the outcome; never PENDING
   */
  public Status delete(long key, @Nullable C context) {
    return core.delete(key, context);
  }

  /**
   * Reads a batch of keys: {@code keys[from]} to {@code keys[from + count - 1]}. The results are
   * written to the same positions of {@code values} and {@code statuses}.
   *
   * <p>If the keys are spread over much memory, a batch is several times faster than single
   * operations, because their cache misses overlap. A key may occur more than once; operations on
   * one key take effect in their order. Operations on different keys take effect in any order
   * between call and return, and other sessions' operations may take effect in between. If an
   * operation throws, those before it have taken effect and have their status; it and those after
   * it have not.
   *
   * @param keys the keys
   * @param values receives the values; 0 where there is none or where the read is pending
   * @param statuses receives the outcomes
   * @param from first position of the batch
   * @param count number of keys
   * @param context the caller's object for the completion callbacks
   * @return how many operations are {@link Status#PENDING}; each of these calls the completion
   *     callback with {@code context} when it ends
   */
  public int read(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, values.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    return core.read(keys, values, statuses, from, count, context);
  }

  /**
   * Sets the values of a batch of keys; never pending. {@link #read(long[], long[], Status[], int,
   * int, Object)} explains batches.
   *
   * @param keys the keys
   * @param values the values
   * @param statuses receives the outcomes
   * @param from first position of the batch
   * @param count number of keys
   * @param context the caller's object
   */
  public void upsert(
      long[] keys, long[] values, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, values.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    core.upsert(keys, values, statuses, from, count, context);
  }

  /**
   * Updates a batch of keys with the functions. {@link #read(long[], long[], Status[], int, int,
   * Object)} explains batches.
   *
   * @param keys the keys
   * @param inputs the inputs of the functions
   * @param statuses receives the outcomes
   * @param from first position of the batch
   * @param count number of keys
   * @param context the caller's object for the completion callbacks
   * @return how many operations are {@link Status#PENDING}
   */
  public int rmw(
      long[] keys, long[] inputs, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, inputs.length));
    Objects.checkFromIndexSize(from, count, statuses.length);
    return core.rmw(keys, inputs, statuses, from, count, context);
  }

  /**
   * Updates the first keys of a batch with the functions, and returns the outputs of {@link
   * #rmw(long, long, Object)}. {@link #read(long[], long[], Status[], int, int, Object)} explains
   * batches.
   *
   * @param keys the keys
   * @param inputs the inputs of the functions
   * @param outputs receives the outputs; 0 where the update is pending
   * @param statuses receives the outcomes
   * @param count number of keys
   * @param context the caller's object for the completion callbacks
   * @return how many operations are {@link Status#PENDING}
   */
  public int rmw(
      long[] keys,
      long[] inputs,
      long[] outputs,
      Status[] statuses,
      int count,
      @Nullable C context) {
    Objects.checkFromIndexSize(0, count, Math.min(keys.length, inputs.length));
    Objects.checkFromIndexSize(0, count, Math.min(outputs.length, statuses.length));
    return core.rmw(keys, inputs, outputs, statuses, count, context);
  }

  /**
   * Deletes a batch of keys; never pending. {@link #read(long[], long[], Status[], int, int,
   * Object)} explains batches.
   *
   * @param keys the keys
   * @param statuses receives the outcomes
   * @param from first position of the batch
   * @param count number of keys
   * @param context the caller's object
   */
  public void delete(long[] keys, Status[] statuses, int from, int count, @Nullable C context) {
    Objects.checkFromIndexSize(from, count, Math.min(keys.length, statuses.length));
    int end = from + count;
    for (int i = from; i < end; i++) {
      if (i + KEYS_AHEAD < end) {
        core.prefetch(keys[i + KEYS_AHEAD]);
      }
      statuses[i] = core.delete(keys[i], context);
    }
  }

  /**
   * Selects which reads copy records to the tail; see {@link Session#copyReads}.
   *
   * @param wanted the records to copy
   */
  public void copyReads(CopyReads wanted) {
    core.copyReads(wanted);
  }

  /**
   * Completes pending operations; see {@link Session#completePending(boolean)}.
   *
   * @param wait whether to wait until all have ended
   * @return how many are still pending
   */
  public int completePending(boolean wait) {
    return core.completePending(wait);
  }

  /**
   * Completes pending operations, and waits until at most a given number is pending. A caller that
   * does this before each operation keeps {@code most} + 1 disk reads in progress. Throws like
   * {@link #completePending(boolean)}.
   *
   * @param most how many operations may stay pending
   * @return how many are still pending
   */
  public int completePending(int most) {
    return core.completePending(most);
  }

  /**
   * Returns the serial number of the last operation that the session has accepted. It includes the
   * operations of earlier sessions that this one resumed. Operations count from 1 in the order of
   * their calls: a pending one counts when it becomes pending, and one that throws does not count.
   * An operation that fails while it is pending keeps its number; see {@link
   * io.fasterkv.api.checkpoint.CommitPoint}.
   *
   * @return the serial number; 0 if there was no operation
   */
  public long serial() {
    return core.serial();
  }

  /** {@return the session's name; null if it has none} */
  public @Nullable String name() {
    return core.name();
  }

  /** Closes the session; see {@link Session#close()}. */
  @Override
  public void close() {
    core.close();
  }
}
