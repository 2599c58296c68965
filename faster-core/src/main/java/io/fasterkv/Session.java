package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.operation.session.SessionCore;
import org.jspecify.annotations.Nullable;

/**
 * One caller's access to a store, with its own {@link io.fasterkv.api.StoreFunctions}. For one
 * thread at a time; a store has up to {@code maxSessions} sessions. An idle session delays no other
 * thread.
 *
 * <p>Keys and values are passed as {@link ByteSpan}, on heap or native memory; the session does not
 * retain them after the call. Operations of one session on one key take effect in the order of the
 * calls, except that a {@link Status#PENDING} one takes effect when it completes.
 *
 * <p>An operation that throws a {@link io.fasterkv.api.StoreException} has no serial number and did
 * not take effect. It throws {@link io.fasterkv.api.StoreException.RecordTooLarge} for a key or
 * value above the store's limits, {@link io.fasterkv.api.StoreException.OutOfBudget} if scratch
 * memory, or the memory of a store in memory, is used up, {@link
 * io.fasterkv.api.StoreException.DeviceFailed} after a failure of the device, {@link
 * io.fasterkv.api.StoreException.OutOfAddresses} if the log is used up, and {@link
 * io.fasterkv.api.StoreException.Closed} after {@link #close}. A read from disk that fails in
 * {@link io.fasterkv.api.session.SessionMode#PENDING} is reported by {@link
 * #completePending(boolean)}.
 *
 * @param <I> the input of an operation
 * @param <O> the output of an operation
 * @param <C> the caller's own object for pending operations
 */
public final class Session<I, O, C> implements AutoCloseable {
  private final SessionCore<I, O, C> core;

  Session(SessionCore<I, O, C> core) {
    this.core = core;
  }

  /**
   * Reads a key's value with the functions.
   *
   * @param key the key
   * @param input the input of the functions
   * @param output the output of the functions
   * @param context the caller's object for the completion callback
   * @return FOUND, NOT_FOUND or PENDING
   */
  public Status read(ByteSpan key, @Nullable I input, @Nullable O output, @Nullable C context) {
    return core.read(key, input, output, context);
  }

  /**
   * Sets a key's value blindly, without reading the old one. Never pending.
   *
   * @param key the key
   * @param value the value
   * @param context the caller's object
   * @return UPDATED_IN_PLACE; CREATED if the key certainly had no value; otherwise COPIED
   */
  public Status upsert(ByteSpan key, ByteSpan value, @Nullable C context) {
    return core.upsert(key, null, value, null);
  }

  /**
   * Sets a key's value blindly, with an input and an output for the functions that write it. Never
   * pending.
   *
   * @param key the key
   * @param input the input of the functions
   * @param value the value
   * @param output the output of the functions
   * @return the outcome, as of {@link #upsert(ByteSpan, ByteSpan, Object)}
   */
  public Status upsert(ByteSpan key, @Nullable I input, ByteSpan value, @Nullable O output) {
    return core.upsert(key, input, value, output);
  }

  /**
   * Updates a key's value with the functions.
   *
   * @param key the key
   * @param input the input of the functions
   * @param context the caller's object for the completion callback
   * @return UPDATED_IN_PLACE, CREATED, COPIED or PENDING; NOT_FOUND or FOUND if the functions
   *     choose not to create or not to replace a value; also DELTA_APPENDED if the store's {@code
   *     merge} is set
   */
  public Status rmw(ByteSpan key, @Nullable I input, @Nullable C context) {
    return core.rmw(key, input, null, context);
  }

  /**
   * Updates a key's value with the functions, which may write a result to the output. The output is
   * valid if the status is CREATED, COPIED, UPDATED_IN_PLACE or FOUND. If the operation is pending,
   * it is valid when the operation has completed.
   *
   * <p>In a store that merges, an update that may be a delta sees no value, and so neither does its
   * output. {@link io.fasterkv.api.MergeableFunctions#mergesBlindly} must be false for an RMW whose
   * output matters.
   *
   * @param key the key
   * @param input the input of the functions
   * @param output the output of the functions
   * @param context the caller's object for the completion callback
   * @return the outcome, as of {@link #rmw(ByteSpan, Object, Object)}
   */
  public Status rmw(ByteSpan key, @Nullable I input, @Nullable O output, @Nullable C context) {
    return core.rmw(key, input, output, context);
  }

  /**
   * Deletes a key blindly, without reading from disk. Never pending.
   *
   * @param key the key
   * @param context the caller's object
   * @return NOT_FOUND if the key certainly had no value; FOUND if it had one, or may have had one
   *     on disk
   */
  public Status delete(ByteSpan key, @Nullable C context) {
    return core.delete(key, context);
  }

  /**
   * Reads the values of a batch of keys with the functions: the first {@code count} of {@code
   * keys}, each with the input and the output at the same position.
   *
   * <p>If the keys are spread over much memory, a batch is faster than single operations, because
   * their cache misses overlap. A key may occur more than once. The operations take effect in their
   * order, and other sessions' operations may take effect in between. If an operation throws, those
   * before it have taken effect and have their status; it and those after it have not.
   *
   * @param keys the keys
   * @param inputs the inputs; null if the functions need none
   * @param outputs the outputs; null if the functions need none
   * @param statuses receives the outcomes
   * @param count number of keys
   * @param context the caller's object for the completion callbacks
   * @return how many operations are {@link Status#PENDING}; each of these calls the completion
   *     callback with {@code context} when it ends
   */
  public int read(
      ByteSpan[] keys,
      I @Nullable [] inputs,
      O @Nullable [] outputs,
      Status[] statuses,
      int count,
      @Nullable C context) {
    int pending = 0;
    for (int i = 0; i < count; i++) {
      prefetchGroup(keys, i, count);
      I input = inputs == null ? null : inputs[i];
      O output = outputs == null ? null : outputs[i];
      Status status = read(keys[i], input, output, context);
      statuses[i] = status;
      pending += status == Status.PENDING ? 1 : 0;
    }
    return pending;
  }

  /**
   * Sets the values of a batch of keys blindly; never pending. {@link #read(ByteSpan[], Object[],
   * Object[], Status[], int, Object)} explains batches.
   *
   * @param keys the keys
   * @param values the values
   * @param statuses receives the outcomes
   * @param count number of keys
   * @param context the caller's object
   */
  public void upsert(
      ByteSpan[] keys, ByteSpan[] values, Status[] statuses, int count, @Nullable C context) {
    for (int i = 0; i < count; i++) {
      prefetchGroup(keys, i, count);
      statuses[i] = upsert(keys[i], values[i], context);
    }
  }

  /**
   * Sets the values of a batch of keys blindly, each with an input and an output; never pending.
   * {@link #read(ByteSpan[], Object[], Object[], Status[], int, Object)} explains batches.
   *
   * @param keys the keys
   * @param inputs the inputs; null if the functions need none
   * @param values the values
   * @param outputs the outputs; null if the functions need none
   * @param statuses receives the outcomes
   * @param count number of keys
   */
  public void upsert(
      ByteSpan[] keys,
      I @Nullable [] inputs,
      ByteSpan[] values,
      O @Nullable [] outputs,
      Status[] statuses,
      int count) {
    for (int i = 0; i < count; i++) {
      prefetchGroup(keys, i, count);
      I input = inputs == null ? null : inputs[i];
      O output = outputs == null ? null : outputs[i];
      statuses[i] = upsert(keys[i], input, values[i], output);
    }
  }

  /**
   * Updates the values of a batch of keys with the functions. {@link #read(ByteSpan[], Object[],
   * Object[], Status[], int, Object)} explains batches.
   *
   * @param keys the keys
   * @param inputs the inputs; null if the functions need none
   * @param statuses receives the outcomes
   * @param count number of keys
   * @param context the caller's object for the completion callbacks
   * @return how many operations are {@link Status#PENDING}
   */
  public int rmw(
      ByteSpan[] keys, I @Nullable [] inputs, Status[] statuses, int count, @Nullable C context) {
    return rmw(keys, inputs, null, statuses, count, context);
  }

  /**
   * Updates the values of a batch of keys with the functions, each with an output; see {@link
   * #rmw(ByteSpan, Object, Object, Object)}.
   *
   * @param keys the keys
   * @param inputs the inputs; null if the functions need none
   * @param outputs the outputs; null if the functions need none
   * @param statuses receives the outcomes
   * @param count number of keys
   * @param context the caller's object for the completion callbacks
   * @return how many operations are {@link Status#PENDING}
   */
  public int rmw(
      ByteSpan[] keys,
      I @Nullable [] inputs,
      O @Nullable [] outputs,
      Status[] statuses,
      int count,
      @Nullable C context) {
    int pending = 0;
    for (int i = 0; i < count; i++) {
      prefetchGroup(keys, i, count);
      I input = inputs == null ? null : inputs[i];
      O output = outputs == null ? null : outputs[i];
      Status status = rmw(keys[i], input, output, context);
      statuses[i] = status;
      pending += status == Status.PENDING ? 1 : 0;
    }
    return pending;
  }

  /**
   * Deletes a batch of keys blindly; never pending. {@link #read(ByteSpan[], Object[], Object[],
   * Status[], int, Object)} explains batches.
   *
   * @param keys the keys
   * @param statuses receives the outcomes, as of {@link #delete(ByteSpan, Object)}
   * @param count number of keys
   * @param context the caller's object
   */
  public void delete(ByteSpan[] keys, Status[] statuses, int count, @Nullable C context) {
    for (int i = 0; i < count; i++) {
      prefetchGroup(keys, i, count);
      statuses[i] = delete(keys[i], context);
    }
  }

  /**
   * Prefetches into the cache what operations on a batch of keys will need. It changes nothing,
   * returns nothing and reads no disk. It is for callers that will use these keys one by one; the
   * batch methods of this class prefetch by themselves.
   *
   * @param keys the keys
   * @param count number of keys, the first ones of the array
   */
  public void prefetch(ByteSpan[] keys, int count) {
    for (int from = 0; from < count; from += SessionCore.GROUP) {
      core.prefetch(keys, from, Math.min(SessionCore.GROUP, count - from));
    }
  }

  /**
   * Selects which of the following reads copy records to the tail of the log; by default none do.
   * Such a read may write to the log, but never waits to do so.
   *
   * @param wanted the records to copy
   */
  public void copyReads(CopyReads wanted) {
    core.copyReads(wanted);
  }

  /**
   * Completes pending operations, and runs their completion callbacks on this thread.
   *
   * <p>If some have failed, the others complete first, and then one failure is thrown. Call the
   * method again for the next failure, until it returns. If the caller reissues the failed update
   * as its next operation, the update takes effect once, wherever the process may end; see {@link
   * io.fasterkv.api.checkpoint.CommitPoint}. An exception of a completion callback is thrown
   * unchanged, in the same way; that operation has taken effect. A session with 1,024 failures that
   * were not thrown yet rejects further operations with {@code OutOfBudget}.
   *
   * @param wait whether to wait until all have ended
   * @return how many are still pending
   * @throws io.fasterkv.api.StoreException.OperationFailed if an operation did not take effect
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

  /**
   * Completes pending operations, frees the session's place, and then throws failures that were not
   * reported yet: the first one, with the others suppressed.
   */
  @Override
  public void close() {
    core.close();
  }

  private void prefetchGroup(ByteSpan[] keys, int at, int count) {
    if (at % SessionCore.GROUP == 0) {
      core.prefetch(keys, at, Math.min(SessionCore.GROUP, count - at));
    }
  }
}
