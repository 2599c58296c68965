package io.fasterkv;

import io.fasterkv.api.LongResult;
import io.fasterkv.api.Status;
import io.fasterkv.operation.session.AsyncCore;
import io.fasterkv.operation.session.LongKind;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A session on {@code long} keys and values whose operations return stages. Threads, order, errors
 * and cancellation follow the rules of {@link AsyncSession}.
 */
public final class AsyncLongSession implements AutoCloseable {
  private final AsyncCore<Void, Void, ?> core;

  AsyncLongSession(AsyncCore<Void, Void, ?> core) {
    this.core = core;
  }

  /**
   * Reads a key's value.
   *
   * @param key the key
   * @return a stage with FOUND and the value, or with NOT_FOUND
   */
  public CompletionStage<LongResult> read(long key) {
    return core.runLongResult(LongKind.READ, key, 0);
  }

  /**
   * Sets a key's value; see {@link LongSession#upsert(long, long, Object)}.
   *
   * @param key the key
   * @param value the value
   * @return a completed stage
   */
  public CompletionStage<Status> upsert(long key, long value) {
    return core.runLong(LongKind.UPSERT, key, value);
  }

  /**
   * Updates a key's value with the functions; see {@link LongSession#rmw(long, long, Object)}.
   *
   * @param key the key
   * @param input the input of the functions
   * @return a stage with the outcome and the output, as of {@link LongSession#rmw(long, long,
   *     Object)}
   */
  public CompletionStage<LongResult> rmw(long key, long input) {
    return core.runLongResult(LongKind.RMW, key, input);
  }

  /**
   * Deletes a key; see {@link Session#delete}.
   *
   * @param key the key
   * @return a completed stage
   */
  public CompletionStage<Status> delete(long key) {
    return core.runLong(LongKind.DELETE, key, 0);
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
