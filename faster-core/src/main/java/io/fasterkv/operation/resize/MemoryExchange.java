package io.fasterkv.operation.resize;

import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.state.StoreFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Moves memory between the store and others that share it, and changes the store's budget by as
 * much. What it releases comes first from what the index has not taken and does not need for its
 * next growth, then from the log, then from what that growth needs. Each release has a thread of
 * its own, since it waits for the log's flush and for all epochs. Safe for all threads.
 */
public final class MemoryExchange implements AutoCloseable {
  private final Engine engine;
  private final OffHeapArena arena;
  private final long mostBytes;
  private final @Nullable IndexGrowth growth;

  /** The thread of the last release. */
  private @Nullable Thread releaser;

  /** Sums since the store was opened; each has one writer at a time. */
  private volatile long acceptedBytes;

  private volatile long releasedBytes;
  private volatile boolean isReleasing;
  private volatile boolean isClosed;

  /**
   * @param arena has the log's memory
   * @param mostBytes up to which the budget may rise
   * @param growth has the index's spare memory; null if there is none
   */
  public MemoryExchange(
      Engine engine, OffHeapArena arena, long mostBytes, @Nullable IndexGrowth growth) {
    this.mostBytes = mostBytes;
    this.growth = growth;
    this.engine = engine;
    this.arena = arena;
  }

  /** Bytes that could be released now; 0 while a release is in progress. */
  public synchronized long releasableBytes() {
    return isClosed || isReleasing ? 0 : logReleasableBytes() + spareBytes();
  }

  /** Bytes that the log could release. */
  public long logReleasableBytes() {
    return engine.log().quota().releasableBytes();
  }

  /**
   * Releases up to {@code bytes} of what the index has not taken and does not need; returns how
   * many bytes are no longer the store's. Waits only while the log is accepting memory.
   */
  public synchronized long releaseSpare(long bytes) {
    if (growth == null || isClosed || isReleasing) {
      return 0;
    }
    long released = growth.releaseSpare(Math.min(bytes, spareIndexBytes()));
    releasedBytes += released;
    return released;
  }

  /**
   * Starts to release {@code bytes}, or what it can, and returns at once; false if it releases
   * nothing: there is nothing to release, a release is in progress, the store is closing, or no
   * thread can be started.
   *
   * @param atMostNanos after this time the log stops waiting for its flush and releases nothing;
   *     what the index has released still counts. The wait for epochs has no limit
   * @param released called once, on another thread, with the number of bytes that are no longer the
   *     store's. It must not throw or wait
   */
  public synchronized boolean release(long bytes, long atMostNanos, LongConsumer released) {
    if (releasableBytes() == 0) {
      return false;
    }
    Thread last = releaser != null && releaser.isAlive() ? releaser : null;
    long deadline = System.nanoTime() + atMostNanos;
    StoreFailure failure = engine.log().failure();
    Thread thread =
        failure.thread("faster-memory-release", () -> run(last, bytes, deadline, released));
    isReleasing = true;
    OwnThread.tryStart(thread, "the store releases no memory", failure.logger());
    if (thread.getState() == Thread.State.NEW) {
      isReleasing = false;
      return false;
    }
    releaser = thread;
    return true;
  }

  /** Bytes that could be accepted now; 0 while a release is in progress. */
  public synchronized long acceptableBytes() {
    if (isClosed || isReleasing || isStopped()) {
      return 0;
    }
    long ofIndex = growth == null ? 0 : growth.acceptableBytes();
    return Math.max(
        ofIndex, Math.clamp(mostBytes - arena.budget().limitBytes(), 0, logAcceptableBytes()));
  }

  /** Bytes that the log could take, whatever the budget; 0 while a release is in progress. */
  public long logAcceptableBytes() {
    boolean isPossible = !isClosed && !isReleasing && !isStopped();
    return isPossible ? engine.log().quota().acceptableBytes() : 0;
  }

  /**
   * Gives the log up to {@code bytes} more memory, in whole pages, and touches it; returns how many
   * bytes the log has accepted.
   */
  public synchronized long acceptForLog(long bytes) {
    long most = Math.min(acceptableBytes(), engine.log().quota().acceptableBytes());
    long accepted = give(Math.min(bytes, most));
    acceptedBytes += accepted;
    return accepted;
  }

  /**
   * Gives the index up to {@code bytes}, which are spare until it grows; returns how many bytes the
   * index has accepted.
   */
  public synchronized long acceptForIndex(long bytes) {
    long accepted = growth == null ? 0 : growth.accept(Math.min(bytes, acceptableBytes()));
    acceptedBytes += accepted;
    return accepted;
  }

  /**
   * Gives the log up to {@code bytes} of what the index has not taken and does not need; returns
   * how many bytes the log has received. The budget stays.
   */
  public synchronized long moveSpareToLog(long bytes) {
    if (growth == null || isClosed || isReleasing || isStopped()) {
      return 0;
    }
    long most = Math.min(spareIndexBytes(), engine.log().quota().acceptableBytes());
    long moved = growth.releaseSpare(Math.min(bytes, most));
    long accepted = give(moved);
    growth.addSpare(moved - accepted);
    return accepted;
  }

  private long give(long wanted) {
    if (wanted <= 0) {
      return 0;
    }
    AtomicLong accepted = new AtomicLong();
    arena.raiseLimit(HybridLog.MEMORY, wanted);
    try {
      engine.log().quota().raise(wanted, accepted::setPlain);
    } catch (Throwable e) {
      StoreFailure failure = engine.log().failure();
      failure.logger().log(Level.WARNING, "the log has not taken all memory offered to it", e);
    } finally {
      arena.lowerLimit(HybridLog.MEMORY, wanted - accepted.getPlain());
    }
    return accepted.getPlain();
  }

  /** Bytes that the index lacks; 0 unless it is nearly full and fills up. */
  public long indexLackBytes() {
    return growth == null ? 0 : growth.lackBytes();
  }

  /** Sum of what was accepted. */
  public long acceptedBytes() {
    return acceptedBytes;
  }

  /** Sum of what was released. */
  public long releasedBytes() {
    return releasedBytes;
  }

  /** A log whose device is full or has failed cannot use more memory. */
  private boolean isStopped() {
    return engine.log().failure().isSet() || engine.log().room().isRefused();
  }

  /** Rejects new calls, and waits until one in progress has ended. */
  @Override
  public void close() {
    Thread last;
    synchronized (this) {
      isClosed = true;
      last = releaser;
    }
    if (last != null) {
      OwnThread.awaitEnd(last);
    }
  }

  /** Bytes that the index has not taken and does not need for its next growth. */
  public long spareIndexBytes() {
    return growth == null ? 0 : growth.unneededBytes();
  }

  private long spareBytes() {
    return growth == null ? 0 : growth.spareBytes();
  }

  private void run(@Nullable Thread last, long bytes, long deadline, LongConsumer released) {
    Logger logger = engine.log().failure().logger();
    long done = 0;
    try {
      if (last != null) {
        OwnThread.awaitEnd(last);
      }
      long unneeded = Math.min(bytes, spareIndexBytes());
      done = ofIndex(unneeded);
      done += ofLog(bytes - unneeded, deadline);
      done += ofIndex(bytes - done);
    } catch (Throwable e) {
      // What was not released stays the store's, which goes on.
      logger.log(Level.WARNING, "a release of memory to other stores has failed", e);
    } finally {
      releasedBytes += done;
      // First, since the receiver may ask again at once.
      isReleasing = false;
      released.accept(done);
    }
    if (done > 0) {
      logger.log(Level.DEBUG, "released memory to other stores: bytes=" + done);
    }
  }

  private long ofIndex(long bytes) {
    return growth == null ? 0 : growth.releaseSpare(bytes);
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
    arena.lowerLimit(HybridLog.MEMORY, released);
    return released;
  }
}
