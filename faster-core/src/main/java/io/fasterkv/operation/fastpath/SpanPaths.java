package io.fasterkv.operation.fastpath;

import io.fasterkv.index.IndexTable;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.SpanPath;
import io.fasterkv.operation.version.SessionCounters;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Creates the fast paths of one store's sessions on keys of any length: {@link SpanMemoryPath} with
 * this store's memory as its constants; new ones after the index was resized.
 *
 * <p>A class is compiled anew for each store and each size of its index. A store defines it only
 * after as many operations as gain about what that costs. So the classes of a short job, or of an
 * index that still grows, cost at most as much as they could have gained.
 */
public final class SpanPaths {
  /** The property is for tests, whose stores make few operations. */
  private static final long MOST_WITHOUT =
      Long.getLong("io.fasterkv.operationsBeforeAClass", 1 << 20);

  private final Engine engine;

  /** Operations of all sessions since the last class was defined, while there is none to use. */
  private final LongAdder without = new LongAdder();

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
    return now == null || !hasGainedAClass(now)
        ? null
        : (SpanPath<I, O, C>) StoreClass.make(constructor(now), values, counters);
  }

  private boolean hasGainedAClass(IndexTable now) {
    if (now == table) {
      return true;
    }
    without.increment();
    return without.sum() > MOST_WITHOUT;
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
      without.reset();
    }
    return made;
  }
}
