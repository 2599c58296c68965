package io.fasterkv.operation.resize;

import io.fasterkv.api.statistics.RegionHits;
import io.fasterkv.index.HashIndex;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Gives memory of the log to an index that is nearly full, on a thread of its own: half of what the
 * log has, or as much as the index can use if that is less, as often as the settings allow. Without
 * room in the index, records share entries, and a lookup then reads other keys' records from disk.
 * The memory is then worth more in the index, unless most lookups are answered from the log's
 * memory; in that case the log keeps it (decision 0047).
 */
public final class IndexLoans implements AutoCloseable {
  private static final long ENOUGH = 1000;

  private static final long LOOK_NANOS = 10_000_000;

  /** How long an index waits for memory of other stores before the log lends to it. */
  private static final long OTHERS_NANOS = 200_000_000;

  /** After a refusal, requests are ignored for this time. */
  private static final long PAUSE_NANOS = 100_000_000;

  private final Engine engine;
  private final OffHeapArena arena;
  private final BooleanSupplier isGrown;
  private final int most;
  private final boolean mayAccept;
  private final Thread thread;
  private volatile boolean isAsked = true;
  private volatile boolean isClosed;

  /**
   * Creates a thread that {@link #start} starts.
   *
   * @param arena has the log's memory
   * @param isGrown whether the index has all of its own memory
   * @param most how often the log may be halved
   * @param mayAccept whether the index may get memory from other stores first
   */
  public IndexLoans(
      Engine engine, OffHeapArena arena, BooleanSupplier isGrown, int most, boolean mayAccept) {
    this.mayAccept = mayAccept;
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

  /** Ends the thread and a loan in progress. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  /** Called repeatedly within operations. */
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
    return engine.log().quota().canHalve() && engine.index().takeableBytes() > 0;
  }

  /** Waits for a request; returns false if the store is closing. */
  private boolean awaitNeed() {
    Uses before = usesBefore();
    while (awaitScarcity()) {
      if (mayAccept && !isScarceAfter(OTHERS_NANOS)) {
        continue;
      }
      Uses since = usesSince(before);
      if (since.areTold()) {
        if (!since.areOfTheLog()) {
          return true;
        }
        before = usesBefore();
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return false;
  }

  /**
   * Hits first, and in {@link #usesSince} last: the hits are then those of a time that covers the
   * entries' time, however long this thread waits for a processor between the two.
   */
  private Uses usesBefore() {
    RegionHits hits = hits();
    return Uses.of(hits, entries());
  }

  private Uses usesSince(Uses before) {
    long entries = entries();
    return Uses.of(hits(), entries).since(before);
  }

  private RegionHits hits() {
    return engine.sessionCounters().regionHits();
  }

  private long entries() {
    return engine.index().newestTable().entries();
  }

  /** How often operations have found a key in memory and on disk, and how many entries are new. */
  private record Uses(long inMemory, long onDisk, long entries) {
    static Uses of(RegionHits hits, long entries) {
      return new Uses(hits.mutable() + hits.readOnly(), hits.disk(), entries);
    }

    Uses since(Uses before) {
      return new Uses(inMemory - before.inMemory, onDisk - before.onDisk, entries - before.entries);
    }

    private long hits() {
      return inMemory + onDisk;
    }

    /** Whether there are enough of them to decide. */
    boolean areTold() {
      return hits() >= ENOUGH || entries >= ENOUGH;
    }

    /**
     * Whether most lookups are answered from the log's memory; there are none while state is being
     * loaded.
     */
    boolean areOfTheLog() {
      return hits() >= ENOUGH && inMemory > onDisk;
    }
  }

  /** Waits for some time; returns early, with false, if entries are no longer scarce. */
  private boolean isScarceAfter(long nanos) {
    long deadline = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = deadline - System.nanoTime()) {
      if (isClosed || !engine.index().isScarce()) {
        return false;
      }
      LockSupport.parkNanos(Math.min(left, LOOK_NANOS));
    }
    return engine.index().isScarce();
  }

  /** Waits until entries are scarce; returns false if the store is closing. */
  private boolean awaitScarcity() {
    while (!isClosed) {
      isAsked = false;
      if (isGrown.getAsBoolean() && engine.index().isScarce()) {
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
    HashIndex index = engine.index();
    long bytes = log.quota().halve(index.takeableBytes(), this::goesOn);
    if (bytes == 0) {
      return false;
    }
    index.sizeLock().lock();
    try {
      new IndexResizer(engine).finish();
      long taken = index.takeOver(arena, HybridLog.MEMORY, bytes);
      String line = "the index was nearly full and received memory from the log: bytes=" + taken;
      log.failure().logger().log(Level.INFO, line);
    } finally {
      index.sizeLock().unlock();
    }
    return true;
  }

  /** A failed log no longer moves, and the index then takes nothing. */
  private boolean goesOn() {
    return !isClosed && !engine.log().failure().isSet();
  }
}
