package io.fasterkv.operation.fastpath;

import io.fasterkv.index.IndexTable;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.SpanPath;
import io.fasterkv.operation.version.SessionCounters;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Creates the fast paths of one store's sessions on keys of any length: {@link SpanMemoryPath} with
 * this store's memory as its constants; new ones after the index was resized.
 *
 * <p>A class is compiled anew for each store and each size of its index. A store defines one only
 * after as many operations, counted from the last one, as gain about what that costs. So the
 * classes of a short job, or of an index that still grows, cost at most as much as they could have
 * gained.
 */
public final class SpanPaths {
  /** The property is for tests, whose stores make few operations. */
  private static final long MOST_WITHOUT =
      Long.getLong("io.fasterkv.operationsBeforeAClass", 1 << 20);

  /**
   * A session asks for a class once in this many operations: the sum of all sessions has a lock.
   */
  private static final long ASKS_ONCE_IN = Math.clamp(MOST_WITHOUT, 1, 64);

  private final Engine engine;

  /** Operations of all sessions when the last class was defined. */
  private volatile long operationsBefore;

  private volatile @Nullable IndexTable table;
  private @Nullable MethodHandle constructor;

  public SpanPaths(Engine engine) {
    this.engine = engine;
  }

  /**
   * Creates a path for a session's next operation; null while index or version are changing, or
   * while the store has made too few operations.
   */
  @SuppressWarnings("unchecked")
  <I, O, C> @Nullable SpanPath<I, O, C> path(
      SpanValues<I, O, C> values, SessionCounters.Stripe counters) {
    IndexTable now = engine.index().quietTable();
    return now == null || !hasGainedAClass(now, counters)
        ? null
        : (SpanPath<I, O, C>) StoreClass.make(constructor(now), values, counters);
  }

  private boolean hasGainedAClass(IndexTable now, SessionCounters.Stripe counters) {
    return now == table
        || (counters.operations() % ASKS_ONCE_IN == 0
            && engine.sessionCounters().operations() - operationsBefore >= MOST_WITHOUT);
  }

  private synchronized MethodHandle constructor(IndexTable now) {
    MethodHandle made = constructor;
    if (made == null || now != table) {
      made =
          StoreClass.constructor(
              SpanMemoryPath.class,
              StoreConstants.of(engine, now),
              SpanValues.class,
              SessionCounters.Stripe.class);
      constructor = made;
      table = now;
      operationsBefore = engine.sessionCounters().operations();
    }
    return made;
  }
}
