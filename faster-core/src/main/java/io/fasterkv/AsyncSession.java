package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.operation.session.AsyncCore;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A session whose operations return stages. A stage is already complete if the record was in
 * memory; otherwise it completes when the record has been read from disk. No thread polls: the
 * device passes the read to the executor that the session was opened with, and the operation
 * continues there.
 *
 * <p>All methods are safe for all threads; the session runs one at a time. A stage that is not
 * complete on return is completed on the executor, or on a thread that is calling this session.
 * This never happens while the session is in use, so dependent actions may call the session. If the
 * executor rejects the task, a virtual thread runs it. Stages complete in the order in which their
 * operations end, which is not the order of the calls.
 *
 * <p>Every error completes the stage exceptionally: with {@link
 * io.fasterkv.api.StoreException.OperationFailed} if the operation has a serial number, otherwise
 * with the exception that {@link Session} would throw. Operations cannot be cancelled: cancelling a
 * future that was made from a stage only ends the wait.
 *
 * <p>A call waits for another operation to end if 64 operations are pending, or if pending
 * operations use half of the store's scratch memory. An upsert of a value larger than a page waits
 * for scratch memory that is in use elsewhere. The functions' completion callback is not called. A
 * session that is not closed releases its memory once the session, its stages, and their results
 * are unreachable.
 *
 * <p>The session does not retain the key, or an upsert's value, after the call. The input and the
 * output belong to the operation until its stage is complete.
 *
 * @param <I> the input of an operation
 * @param <O> the output of an operation
 */
public final class AsyncSession<I, O> implements AutoCloseable {
  private final AsyncCore<I, O, ?> core;

  AsyncSession(AsyncCore<I, O, ?> core) {
    this.core = core;
  }

  /**
   * Reads a key's value with the functions.
   *
   * @param key the key
   * @param input the input of the functions
   * @param output the output of the functions
   * @return a stage with FOUND or NOT_FOUND
   */
  public CompletionStage<Status> read(ByteSpan key, @Nullable I input, @Nullable O output) {
    return core.read(key, input, output);
  }

  /**
   * Sets a key's value; see {@link Session#upsert(ByteSpan, ByteSpan, Object)}.
   *
   * @param key the key
   * @param value the value
   * @return a completed stage
   */
  public CompletionStage<Status> upsert(ByteSpan key, ByteSpan value) {
    return core.upsert(key, null, value, null);
  }

  /**
   * Sets a key's value with an input and an output; see {@link Session#upsert(ByteSpan, Object,
   * ByteSpan, Object)}.
   *
   * @param key the key
   * @param input the input of the functions
   * @param value the value
   * @param output the output of the functions
   * @return a completed stage
   */
  public CompletionStage<Status> upsert(
      ByteSpan key, @Nullable I input, ByteSpan value, @Nullable O output) {
    return core.upsert(key, input, value, output);
  }

  /**
   * Updates a key's value with the functions; see {@link Session#rmw(ByteSpan, Object, Object)}.
   *
   * @param key the key
   * @param input the input of the functions
   * @return a stage with the outcome
   */
  public CompletionStage<Status> rmw(ByteSpan key, @Nullable I input) {
    return core.rmw(key, input, null);
  }

  /**
   * Updates a key's value with the functions, and returns something; see {@link
   * Session#rmw(ByteSpan, Object, Object, Object)}.
   *
   * @param key the key
   * @param input the input of the functions
   * @param output the output of the functions, which counts when the stage is complete
   * @return a stage with the outcome
   */
  public CompletionStage<Status> rmw(ByteSpan key, @Nullable I input, @Nullable O output) {
    return core.rmw(key, input, output);
  }

  /**
   * Deletes a key; see {@link Session#delete}.
   *
   * @param key the key
   * @return a completed stage
   */
  public CompletionStage<Status> delete(ByteSpan key) {
    return core.delete(key);
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

  /** Closes the session after all operations have ended and their stages are complete. */
  @Override
  public void close() {
    core.close();
  }
}
