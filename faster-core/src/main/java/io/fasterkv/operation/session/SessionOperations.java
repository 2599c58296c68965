package io.fasterkv.operation.session;

import io.fasterkv.device.ReadQueue;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.fastpath.Prefetcher;
import io.fasterkv.operation.version.SessionCounters;
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tracks everything that a session has borrowed: its operations' buffers, its queue of reads, its
 * counters. It is all returned when the session is closed or forgotten, which means that nothing
 * refers to it any more. So nothing here may refer to the session, and code of the session that
 * uses what is here keeps the session reachable until then, by a fence. Buffers that the device is
 * filling are returned after the read has ended. Returning them accesses no off-heap memory, so it
 * may happen after the store was closed.
 */
final class SessionOperations<I, O, C> {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Engine engine;
  private final SessionCounters.Stripe counters;
  private final Prefetcher prefetcher;

  /** All operations, in use or not, except those whose buffers were returned. */
  private final List<Operation<I, O, C>> all = new ArrayList<>();

  private @Nullable ReadQueue queue;

  SessionOperations(Engine engine, SessionCounters.Stripe counters, Prefetcher prefetcher) {
    this.engine = engine;
    this.counters = counters;
    this.prefetcher = prefetcher;
  }

  /**
   * Ensures that everything is returned, and version shifts no longer wait for it, when {@code
   * session} is closed or forgotten.
   */
  Cleaner.Cleanable end(Object session, VersionGuard guard) {
    return CLEANER.register(session, () -> releaseAll(guard));
  }

  Operation<I, O, C> open() {
    Operation<I, O, C> op = new Operation<>(engine);
    try {
      all.add(op);
    } catch (Throwable e) {
      op.close();
      throw e;
    }
    return op;
  }

  /** Returns the buffers of an operation that is not used again. */
  void close(Operation<I, O, C> op) {
    all.remove(op);
    op.close();
  }

  @Nullable ReadQueue queue() {
    return queue;
  }

  void setQueue(ReadQueue opened) {
    queue = opened;
  }

  private void releaseAll(VersionGuard guard) {
    // Counters belong to another session as soon as they were returned.
    guard.leave();
    try {
      closeAll(false);
      if (queue != null) {
        queue.close();
      }
    } finally {
      closeAll(true);
      prefetcher.close();
      engine.sessionCounters().close(counters);
    }
  }

  private void closeAll(boolean isUnderWay) {
    for (Operation<I, O, C> op : all) {
      if ((op.disk.tag != ReadQueue.NONE) == isUnderWay) {
        op.close();
      }
    }
  }
}
