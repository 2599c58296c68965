package io.fasterkv;

import io.fasterkv.api.ByteSpan;
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

  /** Updates a key's value by the functions: UPDATED_IN_PLACE, CREATED, COPIED or PENDING. */
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
   * Ends operations that were pending, all of them if {@code wait}; their completion callbacks run
   * here. Returns how many are still under way.
   */
  public int completePending(boolean wait) {
    return core.completePending(wait);
  }

  /** Ends what is pending, then gives up the session's place. */
  @Override
  public void close() {
    core.close();
  }
}
