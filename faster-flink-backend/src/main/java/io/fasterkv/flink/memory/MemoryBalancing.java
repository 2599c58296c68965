package io.fasterkv.flink.memory;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** The thread that moves memory between the stores of a slot while these are open. */
final class MemoryBalancing implements AutoCloseable {
  /** Time between two looks: an index that fills up needs memory soon. */
  private static final long LOOK_MILLIS = 50;

  private static final Logger LOGGER = System.getLogger("io.fasterkv.flink");

  private final SlotMemory memory;
  private final Thread thread =
      Thread.ofPlatform().daemon().name("faster-slot-memory").unstarted(this::run);

  private MemoryBalancing(SlotMemory memory) {
    this.memory = memory;
  }

  /** Starts to balance a slot's memory. */
  static MemoryBalancing start(SlotMemory memory) {
    MemoryBalancing balancing = new MemoryBalancing(memory);
    balancing.thread.start();
    return balancing;
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(LOOK_MILLIS);
        memory.balance();
      }
    } catch (InterruptedException closed) {
      // No store of the slot is open any more.
    } catch (Throwable e) {
      LOGGER.log(Level.WARNING, "the stores of the slot keep the memory that they have now", e);
    }
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
