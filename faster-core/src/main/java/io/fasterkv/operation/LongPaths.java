package io.fasterkv.operation;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexTable;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the short ways of one store's sessions on {@code long} keys: {@link LongMemoryPath} with
 * this store's memory as its constants; once for each class of functions, so that the functions are
 * called from a place that knows no others, and anew when the index has another size.
 */
public final class LongPaths {
  static final LongPath NONE = new LongPath.None();

  private final Engine engine;
  private final Map<Class<?>, MethodHandle> constructors = new HashMap<>();
  private @Nullable IndexTable table;

  public LongPaths(Engine engine) {
    this.engine = engine;
  }

  /** A path for a session; {@link #NONE} while the index is being resized. */
  LongPath path(LongFunctions<?> functions, EpochUser user, ChainSteps.Stripe steps) {
    IndexTable now = engine.index().quietTable();
    if (now == null) {
      return NONE;
    }
    return (LongPath)
        StoreClass.make(
            constructor(now, functions.getClass()),
            functions,
            user,
            steps,
            new BlindAppend(engine, steps));
  }

  private synchronized MethodHandle constructor(IndexTable now, Class<?> functions) {
    if (now != table) {
      constructors.clear();
      table = now;
    }
    return constructors.computeIfAbsent(functions, any -> define(now));
  }

  private MethodHandle define(IndexTable now) {
    return StoreClass.constructor(
        LongMemoryPath.class,
        StoreConstants.of(engine, now),
        LongFunctions.class,
        EpochUser.class,
        ChainSteps.Stripe.class,
        BlindAppend.class);
  }
}
