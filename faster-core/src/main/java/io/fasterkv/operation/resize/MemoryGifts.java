package io.fasterkv.operation.resize;

import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import java.lang.System.Logger.Level;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Gives memory to others that share it with the store, and lowers the store's budget by as much:
 * half from the log and half from what the index has not taken yet, or all from one of them if the
 * other has too little. Each gift has a thread of its own, since it waits for the log's flush and
 * for all epochs; so a caller is never longer in it than it wants. Safe for all threads.
 */
public final class MemoryGifts implements AutoCloseable {
  private final Engine engine;
  private final OffHeapArena arena;
  private final @Nullable IndexGrowth growth;

  /** The thread of the last gift. */
  private @Nullable Thread giver;

  private volatile boolean isGiving;
  private volatile boolean isClosed;

  /**
   * @param arena has the log's memory
   * @param growth the growth that will take the rest of the index's memory; null if there is none
   */
  public MemoryGifts(Engine engine, OffHeapArena arena, @Nullable IndexGrowth growth) {
    this.growth = growth;
    this.engine = engine;
    this.arena = arena;
  }

  /** Bytes that could be given now; 0 while a gift is in progress. */
  public synchronized long possibleBytes() {
    return isClosed || isGiving ? 0 : engine.log().quota().releasableBytes() + spareBytes();
  }

  /**
   * Starts to release at most {@code bytes}, and gives up after some time; returns false if it
   * releases nothing, since the store is closing or releases memory already.
   *
   * @param atMostNanos a wait for the log ends after this time
   * @param given called once, on another thread, with the number of bytes that were released; they
   *     are no longer the store's. It must not throw
   */
  public synchronized boolean give(long bytes, long atMostNanos, LongConsumer given) {
    if (possibleBytes() == 0) {
      return false;
    }
    long start = System.nanoTime();
    Thread thread =
        engine
            .log()
            .failure()
            .thread("faster-memory-gift", () -> run(bytes, start, atMostNanos, given));
    isGiving = true;
    try {
      thread.start();
    } catch (Throwable e) {
      isGiving = false;
      throw e;
    }
    giver = thread;
    return true;
  }

  /** Rejects new gifts, and ends one in progress. */
  @Override
  public void close() {
    Thread last;
    synchronized (this) {
      isClosed = true;
      last = giver;
    }
    if (last != null) {
      OwnThread.awaitEnd(last);
    }
  }

  private long spareBytes() {
    return growth == null ? 0 : growth.spareBytes();
  }

  private void run(long bytes, long start, long atMostNanos, LongConsumer given) {
    long released = 0;
    try {
      released = ofIndex(bytes / 2);
      released +=
          ofLog(bytes - released, () -> !isClosed && System.nanoTime() - start < atMostNanos);
      released += ofIndex(bytes - released);
    } finally {
      // First, since the receiver may ask again at once.
      isGiving = false;
      given.accept(released);
    }
    String line =
        "the store gave memory to others: bytes="
            + released
            + ", memoryBytes="
            + arena.budget().limitBytes();
    engine.log().failure().logger().log(Level.INFO, line);
  }

  private long ofIndex(long bytes) {
    return growth == null ? 0 : growth.giveUp(bytes, arena.budget());
  }

  private long ofLog(long bytes, BooleanSupplier mayWait) {
    HybridLog log = engine.log();
    long released =
        log.quota().release(bytes, () -> mayWait.getAsBoolean() && !log.failure().isSet());
    arena.giveUp(HybridLog.MEMORY, released);
    return released;
  }
}
