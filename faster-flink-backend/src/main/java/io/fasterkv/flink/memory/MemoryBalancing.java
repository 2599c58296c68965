package io.fasterkv.flink.memory;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;

/** The thread that moves memory between the stores of a slot while these are open. */
final class MemoryBalancing implements AutoCloseable {
  /** Time between two looks: an index that fills up needs memory soon. */
  private static final long LOOK_NANOS = 50_000_000;

  private static final String KEEP = "the stores of the slot keep the memory that they have now";

  /** Looks at the stores, and moves memory if that helps. */
  interface Look {
    /** Makes one move at most. */
    void look() throws InterruptedException;
  }

  private final Look look;
  private final Logger logger;
  private final Thread thread =
      Thread.ofPlatform().daemon().name("faster-slot-memory").unstarted(this::run);

  private MemoryBalancing(Look look, Logger logger) {
    this.look = look;
    this.logger = logger;
  }

  /**
   * Starts to balance a slot's memory.
   *
   * @param logger receives a failure, after which nothing is moved any more
   */
  static MemoryBalancing start(Look look, Logger logger) {
    MemoryBalancing balancing = new MemoryBalancing(look, logger);
    try {
      balancing.thread.start();
    } catch (Throwable e) {
      logger.log(Level.WARNING, KEEP, e);
    }
    return balancing;
  }

  private void run() {
    try {
      while (true) {
        look.look();
        LockSupport.parkNanos(this, LOOK_NANOS);
        if (Thread.interrupted()) {
          return;
        }
      }
    } catch (InterruptedException closed) {
      // No store of the slot is open any more.
    } catch (Throwable e) {
      logger.log(Level.WARNING, KEEP, e);
    }
  }

  /** Makes the thread look soon: a store has opened. */
  void wake() {
    LockSupport.unpark(thread);
  }

  /** Whether the thread has neither failed nor ended. */
  boolean isRunning() {
    return thread.isAlive();
  }

  /** Ends the thread. */
  @Override
  public void close() {
    thread.interrupt();
    boolean isInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
