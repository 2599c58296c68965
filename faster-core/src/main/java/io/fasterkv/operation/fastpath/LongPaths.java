package io.fasterkv.operation.fastpath;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexTable;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.version.SessionCounters;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Creates the fast paths of one store's sessions on {@code long} keys: {@link LongMemoryPath} with
 * this store's memory as its constants. It creates one class for each class of functions, so that
 * each call site calls only one kind of function, and new classes after the index was resized.
 */
public final class LongPaths {
  public static final LongPath NONE = new LongPath.None();

  private final Engine engine;
  private final Map<Class<?>, MethodHandle> constructors = new HashMap<>();
  private @Nullable IndexTable table;

  public LongPaths(Engine engine) {
    this.engine = engine;
  }

  /** Creates a path for a session; {@link #NONE} while the index is being resized. */
  public LongPath path(
      LongFunctions<?> functions, EpochUser user, SessionCounters.Stripe counters) {
    IndexTable now = engine.index().quietTable();
    if (now == null) {
      return NONE;
    }
    return (LongPath)
        StoreClass.make(
            constructor(now, functions.getClass()),
            functions,
            user,
            counters,
            new BlindAppend(engine, counters));
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
        SessionCounters.Stripe.class,
        BlindAppend.class);
  }
}
