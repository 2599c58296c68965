package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CopyReads;
import io.fasterkv.api.Status;
import io.fasterkv.operation.SessionCore;
import org.jspecify.annotations.Nullable;

/**
 * One caller's access to a store, under its own {@link io.fasterkv.api.StoreFunctions}. Used by one
 * thread at a time; a store has up to {@code maxSessions} of them. A session that is idle holds
 * nobody up.
 *
 * <p>Keys and values are given as {@link ByteSpan}, heap or native memory, and are not kept after
 * the call. Operations on one key by one session take effect in the order of the calls, except that
 * a {@link Status#PENDING} one takes effect when it completes.
 *
 * @param <I> what an operation carries in
 * @param <O> what a read carries out
 * @param <C> the caller's own object for pending operations
 */
public final class Session<I, O, C> implements AutoCloseable {
  private final SessionCore<I, O, C> core;

  Session(SessionCore<I, O, C> core) {
    this.core = core;
  }

  /** Lets the functions read a key's value: FOUND, NOT_FOUND or PENDING. */
  public Status read(ByteSpan key, @Nullable I input, @Nullable O output, @Nullable C context) {
    return core.read(key, input, output, context);
  }

  /**
   * Sets a key's value blindly: UPDATED_IN_PLACE, CREATED when the key certainly had none, COPIED
   * otherwise. Never pending.
   */
  public Status upsert(ByteSpan key, ByteSpan value, @Nullable C context) {
    return core.upsert(key, value, context);
  }

  /**
   * Updates a key's value by the functions: UPDATED_IN_PLACE, CREATED, COPIED or PENDING; NOT_FOUND
   * or FOUND if they make no first value or no successor; and DELTA_APPENDED if the store's {@code
   * merge} is set.
   */
  public Status rmw(ByteSpan key, @Nullable I input, @Nullable C context) {
    return core.rmw(key, input, context);
  }

  /**
   * Deletes a key: NOT_FOUND when it certainly had no value, FOUND when it had one or may have had
   * one on disk, where a blind delete does not look. Never pending.
   */
  public Status delete(ByteSpan key, @Nullable C context) {
    return core.delete(key, context);
  }

  /**
   * Lets the functions read the values of a batch of keys: the first {@code count} of {@code keys},
   * each with the input and the output at the same place. How each ended goes to {@code statuses}.
   *
   * <p>A batch is faster than its operations one by one when keys are spread over much memory:
   * their cache misses overlap. A key may occur in it more than once; operations take effect in
   * their order, and others may come between. If an operation throws, those before it have taken
   * effect and have their status; it and those after it have not.
   *
   * @param inputs null when the functions need none
   * @param outputs null when the functions need none
   * @return how many are {@link Status#PENDING}; each of these calls the completion callback with
   *     {@code context} when it ends
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
      touchGroup(keys, i, count);
      I input = inputs == null ? null : inputs[i];
      O output = outputs == null ? null : outputs[i];
      Status status = read(keys[i], input, output, context);
      statuses[i] = status;
      pending += status == Status.PENDING ? 1 : 0;
    }
    return pending;
  }

  /** Sets the values of a batch of keys blindly; never pending. See the batch of reads. */
  public void upsert(
      ByteSpan[] keys, ByteSpan[] values, Status[] statuses, int count, @Nullable C context) {
    for (int i = 0; i < count; i++) {
      touchGroup(keys, i, count);
      statuses[i] = upsert(keys[i], values[i], context);
    }
  }

  /**
   * Updates the values of a batch of keys by the functions; see the batch of reads.
   *
   * @param inputs null when the functions need none
   * @return how many are {@link Status#PENDING}
   */
  public int rmw(
      ByteSpan[] keys, I @Nullable [] inputs, Status[] statuses, int count, @Nullable C context) {
    int pending = 0;
    for (int i = 0; i < count; i++) {
      touchGroup(keys, i, count);
      Status status = rmw(keys[i], inputs == null ? null : inputs[i], context);
      statuses[i] = status;
      pending += status == Status.PENDING ? 1 : 0;
    }
    return pending;
  }

  /**
   * Brings what operations on a batch of keys will need into the cache: the first {@code count} of
   * {@code keys}. Changes nothing, answers nothing and reads no disk. For callers who are about to
   * use these keys in other ways than the batches here; those do it by themselves.
   */
  public void touch(ByteSpan[] keys, int count) {
    for (int from = 0; from < count; from += SessionCore.GROUP) {
      core.touch(keys, from, Math.min(SessionCore.GROUP, count - from));
    }
  }

  /**
   * Lets the reads that follow copy records to the tail of the log; at first they copy none. Such a
   * read may write to the log, and never waits for that.
   */
  public void copyReads(CopyReads wanted) {
    core.copyReads(wanted);
  }

  /**
   * Ends operations that were pending, all of them if {@code wait}; their completion callbacks run
   * here. Returns how many are still under way.
   *
   * <p>If some have failed, the others complete first, and one failure is thrown: call this again
   * for the next, until it returns. An update that is issued again as the next operation takes
   * effect once, wherever the process ends; see {@link io.fasterkv.api.CommitPoint}. An exception
   * of a completion callback is rethrown unchanged in the same way; that operation has taken
   * effect. A session with 1,024 unreported failures refuses further operations with {@code
   * OutOfBudget}.
   *
   * @throws io.fasterkv.api.StoreException.OperationFailed if an operation did not take effect
   */
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

  /**
   * Completes pending operations, releases the session, and then throws the failures that were not
   * reported yet: the first, with the others suppressed.
   */
  @Override
  public void close() {
    core.close();
  }

  private void touchGroup(ByteSpan[] keys, int at, int count) {
    if (at % SessionCore.GROUP == 0) {
      core.touch(keys, at, Math.min(SessionCore.GROUP, count - at));
    }
  }
}
