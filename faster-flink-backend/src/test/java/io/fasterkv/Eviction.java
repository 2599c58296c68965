package io.fasterkv;

import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;
import java.lang.reflect.Method;

/**
 * Lets a store forget what it has in memory, as if the log had grown past it: all that was written
 * is on disk only. For one thread, in no operation.
 */
public final class Eviction {
  private final Engine engine;
  private final Object marks;
  private final Method advanceHead;
  private final Object turns;
  private final Method moveHead;
  private long evictedUntil;

  public Eviction(FasterStore store) {
    engine = StoreInsides.engine(store);
    marks = StoreInsides.field(engine.log(), "marks");
    turns = StoreInsides.field(engine.log(), "turns");
    try {
      advanceHead = marks.getClass().getDeclaredMethod("advanceHead", long.class);
      moveHead = turns.getClass().getDeclaredMethod("moveHead");
    } catch (NoSuchMethodException e) {
      throw new LinkageError(e.getMessage(), e);
    }
    advanceHead.setAccessible(true);
    moveHead.setAccessible(true);
  }

  /** From now on whoever asks for a record that there is reads it from disk. */
  public void evict() {
    HybridLog log = engine.log();
    if (log.tailAddress() == evictedUntil) {
      return;
    }
    long end = engine.foldOver();
    // Not awaitFlushed, which lets go of the processor for longer than this takes.
    while (log.flushedAddress() < end) {
      log.assist();
      Thread.onSpinWait();
    }
    try {
      // As HybridLog.truncate, without what it drops.
      advanceHead.invoke(marks, end);
      moveHead.invoke(turns);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
    evictedUntil = end;
  }
}
