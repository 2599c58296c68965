package io.fasterkv.operation.resize;

import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.state.StoreFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
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
   * Starts to release {@code bytes}, or what it can, and gives up after some time; returns false if
   * it releases nothing, since the store is closing, releases memory already, or can start no
   * thread.
   *
   * @param atMostNanos a wait for the log ends after this time
   * @param given called once, on another thread, with the number of bytes that were released; they
   *     are no longer the store's. It must not throw
   */
  public synchronized boolean give(long bytes, long atMostNanos, LongConsumer given) {
    if (possibleBytes() == 0) {
      return false;
    }
    Thread last = giver;
    long deadline = System.nanoTime() + atMostNanos;
    StoreFailure failure = engine.log().failure();
    Thread thread = failure.thread("faster-memory-gift", () -> run(last, bytes, deadline, given));
    isGiving = true;
    OwnThread.tryStart(thread, "the store gives no memory", failure.logger());
    if (thread.getState() == Thread.State.NEW) {
      isGiving = false;
      return false;
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

  private void run(@Nullable Thread last, long bytes, long deadline, LongConsumer given) {
    Logger logger = engine.log().failure().logger();
    long released = 0;
    try {
      if (last != null) {
        OwnThread.awaitEnd(last);
      }
      released = ofIndex(bytes / 2);
      released += ofLog(bytes - released, deadline);
      released += ofIndex(bytes - released);
    } catch (Throwable e) {
      // The log keeps what it has not released; the store goes on.
      logger.log(Level.WARNING, "a gift of memory to other stores has failed", e);
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
    logger.log(Level.INFO, line);
  }

  private long ofIndex(long bytes) {
    return growth == null ? 0 : growth.giveUp(bytes, arena.budget());
  }

  /** A log whose device is full or has failed would have to wait, and its writers with it. */
  private long ofLog(long bytes, long deadline) {
    HybridLog log = engine.log();
    long released =
        log.quota()
            .release(
                bytes,
                () ->
                    !isClosed
                        && !log.failure().isSet()
                        && !log.room().isRefused()
                        && System.nanoTime() - deadline < 0);
    arena.giveUp(HybridLog.MEMORY, released);
    return released;
  }
}
