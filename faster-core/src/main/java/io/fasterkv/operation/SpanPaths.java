package io.fasterkv.operation;

import io.fasterkv.index.IndexTable;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Makes the short ways of one store's sessions on keys of any length: {@link SpanMemoryPath} with
 * this store's memory as its constants, and anew when the index has another size.
 */
public final class SpanPaths {
  private final Engine engine;
  private @Nullable IndexTable table;
  private @Nullable MethodHandle constructor;

  public SpanPaths(Engine engine) {
    this.engine = engine;
  }

  /** A path for a session; one that leads nowhere while index or version are changing. */
  @SuppressWarnings("unchecked")
  <I, O, C> SpanPath<I, O, C> path(SpanValues<I, O, C> values, ChainSteps.Stripe steps) {
    IndexTable now = engine.index().quietTable();
    return now == null
        ? SpanPath.none(false)
        : (SpanPath<I, O, C>) StoreClass.make(constructor(now), values, steps);
  }

  private synchronized MethodHandle constructor(IndexTable now) {
    MethodHandle made = constructor;
    if (made == null || now != table) {
      made =
          StoreClass.constructor(
              SpanMemoryPath.class,
              StoreConstants.of(engine, now),
              SpanValues.class,
              ChainSteps.Stripe.class);
      constructor = made;
      table = now;
    }
    return made;
  }
}
