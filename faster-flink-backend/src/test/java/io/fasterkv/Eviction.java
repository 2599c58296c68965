package io.fasterkv;

import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import java.lang.reflect.Method;

/**
 * Evicts all records of a store from memory, as if the log had grown past them, so that they are
 * only on disk. For one thread, outside any operation.
 */
public final class Eviction {
  private final Engine engine;
  private final Method beginMoves;
  private long evictedUntil;

  public Eviction(FasterStore store) {
    engine = StoreInsides.engine(store);
    try {
      beginMoves = engine.log().room().getClass().getDeclaredMethod("beginMoves", long.class);
    } catch (NoSuchMethodException e) {
      throw new LinkageError(e.getMessage(), e);
    }
    beginMoves.setAccessible(true);
  }

  /** Evicts all records: every later lookup of an existing record reads from disk. */
  public void evict() {
    HybridLog log = engine.log();
    if (log.tailAddress() == evictedUntil) {
      return;
    }
    long end = engine.foldOver();
    // Does not use awaitFlushed, which yields the processor for longer than the flush takes.
    while (log.flushedAddress() < end) {
      log.assist();
      Thread.onSpinWait();
    }
    try {
      // Like HybridLog.truncate, but drops no records.
      beginMoves.invoke(engine.log().room(), end);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
    evictedUntil = end;
  }
}
