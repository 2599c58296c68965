package io.fasterkv;

import io.fasterkv.api.LongResult;
import io.fasterkv.api.Status;
import io.fasterkv.operation.AsyncCore;
import io.fasterkv.operation.SessionCore.LongKind;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * As {@link AsyncSession}, on {@code long} keys and values; the same rules of threads, order,
 * errors and cancellation hold.
 */
public final class AsyncLongSession implements AutoCloseable {
  private final AsyncCore<Void, Void, ?> core;

  AsyncLongSession(AsyncCore<Void, Void, ?> core) {
    this.core = core;
  }

  /** Reads a key's value. */
  public CompletionStage<LongResult> read(long key) {
    return core.readLong(key);
  }

  /** Sets a key's value; see {@link Session#upsert}. The stage is complete. */
  public CompletionStage<Status> upsert(long key, long value) {
    return core.runLong(LongKind.UPSERT, key, value);
  }

  /** Updates a key's value by the functions; see {@link Session#rmw}. */
  public CompletionStage<Status> rmw(long key, long input) {
    return core.runLong(LongKind.RMW, key, input);
  }

  /** Deletes a key; see {@link Session#delete}. The stage is complete. */
  public CompletionStage<Status> delete(long key) {
    return core.runLong(LongKind.DELETE, key, 0);
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
