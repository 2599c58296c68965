package io.fasterkv.operation;

import io.fasterkv.api.RegionHits;
import io.fasterkv.index.HashIndex;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.OwnThread;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Gives an index that is nearly full memory of the log's, on a thread of its own: half of what the
 * log has, as often as the settings allow. An index without room lets records share entries, and a
 * look-up then reads those of others from disk. That is worth more than half of the log, unless the
 * log has most of what is looked up: then it keeps its memory (decision 0047).
 */
public final class IndexLoans implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("io.fasterkv");

  private static final long ENOUGH = 1000;

  /** Who was not given anything is heard again after that. */
  private static final long PAUSE_NANOS = 100_000_000;

  private final Engine engine;
  private final OffHeapArena arena;
  private final BooleanSupplier isGrown;
  private final int most;
  private final Thread thread;
  private volatile boolean isAsked = true;
  private volatile boolean isClosed;

  /**
   * Creates a thread that {@link #start} starts.
   *
   * @param arena has the log's memory
   * @param isGrown whether the index has all memory that is its own
   * @param most how often the log may be halved
   */
  public IndexLoans(Engine engine, OffHeapArena arena, BooleanSupplier isGrown, int most) {
    this.engine = engine;
    this.arena = arena;
    this.isGrown = isGrown;
    this.most = most;
    thread = engine.log().failure().thread("faster-index-loans", this::run);
  }

  public void start() {
    engine.index().onScarce(this::ask);
    thread.start();
  }

  /** Ends the thread, and a loan that is under way. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  /** Called within operations, again and again. */
  private void ask() {
    if (!isAsked) {
      isAsked = true;
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    for (int loans = 0; loans < most && canLend(); loans++) {
      if (!awaitNeed() || !lend()) {
        return;
      }
    }
  }

  private boolean canLend() {
    return engine.log().canHalve() && engine.index().canTakeOver();
  }

  /** False if the store is closing. */
  private boolean awaitNeed() {
    Uses before = uses();
    while (awaitScarcity()) {
      Uses since = uses().since(before);
      if (since.areTold()) {
        if (!since.areOfTheLog()) {
          return true;
        }
        before = uses();
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return false;
  }

  private Uses uses() {
    RegionHits hits = engine.chainSteps().regionHits();
    long inMemory = hits.mutable() + hits.readOnly();
    return new Uses(inMemory, hits.disk(), engine.index().newestTable().entries());
  }

  /** How often operations have found a key in memory and on disk, and entries that are new. */
  private record Uses(long inMemory, long onDisk, long entries) {
    Uses since(Uses before) {
      return new Uses(inMemory - before.inMemory, onDisk - before.onDisk, entries - before.entries);
    }

    private long hits() {
      return inMemory + onDisk;
    }

    /** Whether they are enough to tell something. */
    boolean areTold() {
      return hits() >= ENOUGH || entries >= ENOUGH;
    }

    /** Whether the log's memory has most of what is asked for; a state that is loaded has none. */
    boolean areOfTheLog() {
      return hits() >= ENOUGH && inMemory > onDisk;
    }
  }

  /** False if the store is closing. */
  private boolean awaitScarcity() {
    while (!isClosed) {
      isAsked = false;
      if (isGrown.getAsBoolean() && engine.index().newestTable().isOverflowScarce()) {
        return true;
      }
      if (!isAsked) {
        LockSupport.park(this);
      }
    }
    return false;
  }

  private boolean lend() {
    HybridLog log = engine.log();
    long bytes = log.halve(this::goesOn);
    if (bytes == 0) {
      return false;
    }
    HashIndex index = engine.index();
    index.sizeLock().lock();
    try {
      new IndexResizer(engine).finish();
      long taken = index.takeOver(arena, HybridLog.MEMORY, bytes);
      LOG.log(
          Level.INFO, "the index was nearly full and got memory of the log''s: bytes={0}", taken);
    } finally {
      index.sizeLock().unlock();
    }
    return true;
  }

  /** A log that has failed moves no more, and the index takes nothing in. */
  private boolean goesOn() {
    return !isClosed && !engine.log().hasFailed();
  }
}
