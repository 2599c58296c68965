package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.operation.AsyncCore;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A session whose operations return stages: complete already where memory had the record, or
 * completed when it has come from disk. Nobody polls: the device hands over to the executor that
 * the session was opened with, and there the operation goes on.
 *
 * <p>All methods are safe for all threads, which take turns. A stage that was not complete at once
 * is completed on the executor, or on a thread that calls this session at the time; never while the
 * session is in use, so what depends on it may call the session. If the executor refuses, a virtual
 * thread does the work. Stages complete in the order in which their operations end, which is not
 * the order of the calls. Every failure completes the stage exceptionally: with {@link
 * io.fasterkv.api.StoreException.OperationFailed} if the operation has a serial number, else as a
 * call of {@link Session} would throw it. An operation cannot be cancelled: cancelling a future
 * made from a stage only gives up waiting. If 64 operations are pending, or so many that they use
 * half of the store's scratch memory, a call waits until one has ended. An upsert of a value larger
 * than a page waits for scratch memory that other operations use. The functions' completion
 * callback is not called. A session that is not closed releases its memory once nothing refers to
 * the session, its stages and their results.
 *
 * <p>The key and an upsert's value are not kept after the call. Input and output belong to the
 * operation until its stage is complete.
 *
 * @param <I> what an operation carries in
 * @param <O> what a read carries out
 */
public final class AsyncSession<I, O> implements AutoCloseable {
  private final AsyncCore<I, O, ?> core;

  AsyncSession(AsyncCore<I, O, ?> core) {
    this.core = core;
  }

  /** Lets the functions read a key's value: FOUND or NOT_FOUND. */
  public CompletionStage<Status> read(ByteSpan key, @Nullable I input, @Nullable O output) {
    return core.read(key, input, output);
  }

  /** Sets a key's value; see {@link Session#upsert}. The stage is complete. */
  public CompletionStage<Status> upsert(ByteSpan key, ByteSpan value) {
    return core.upsert(key, value);
  }

  /** Updates a key's value by the functions; see {@link Session#rmw}. */
  public CompletionStage<Status> rmw(ByteSpan key, @Nullable I input) {
    return core.rmw(key, input);
  }

  /** Deletes a key; see {@link Session#delete}. The stage is complete. */
  public CompletionStage<Status> delete(ByteSpan key) {
    return core.delete(key);
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

  /** Waits until all operations have ended and their stages are complete. */
  @Override
  public void close() {
    core.close();
  }
}
