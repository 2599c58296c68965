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
 */
public final class SpanPaths {
  private final Engine engine;
  private @Nullable IndexTable table;
  private @Nullable MethodHandle constructor;

  public SpanPaths(Engine engine) {
    this.engine = engine;
  }

  /** Creates a path for a session; an unusable one while index or version are changing. */
  @SuppressWarnings("unchecked")
  <I, O, C> SpanPath<I, O, C> path(SpanValues<I, O, C> values, SessionCounters.Stripe counters) {
    IndexTable now = engine.index().quietTable();
    return now == null
        ? SpanPath.none(false)
        : (SpanPath<I, O, C>) StoreClass.make(constructor(now), values, counters);
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
    }
    return made;
  }
}
