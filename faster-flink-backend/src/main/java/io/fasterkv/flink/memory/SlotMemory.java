package io.fasterkv.flink.memory;

import io.fasterkv.flink.config.FasterOptions;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.jspecify.annotations.Nullable;

/**
 * The part of a slot's memory that is meant for state: all stores of the slot lease from it, and a
 * thread moves memory to those that need it while they are open. Safe for use by all threads.
 */
final class SlotMemory implements AutoCloseable {
  private final SlotLeases leases;
  private final SlotBalance balance;
  private final OpeningPart opening;
  private final Runnable release;

  /** Null until {@link #balanceAlways}. */
  private @Nullable MemoryBalancing balancing;

  /**
   * @param option the option to raise if the memory is too little
   * @param opening how much a store leases
   * @param release called when no store uses the pool any more
   */
  SlotMemory(long bytes, ConfigOption<?> option, OpeningPart opening, Runnable release) {
    this(new SlotLeases(bytes, option.key(), opening), opening, release);
  }

  /**
   * @param longestWait for one other store; the longest wait in all is three times as long
   */
  SlotMemory(
      long bytes,
      ConfigOption<?> option,
      OpeningPart opening,
      Runnable release,
      Duration longestWait) {
    this(new SlotLeases(bytes, option.key(), opening, longestWait), opening, release);
  }

  private SlotMemory(SlotLeases leases, OpeningPart opening, Runnable release) {
    this.leases = leases;
    this.opening = opening;
    this.release = release;
    balance = new SlotBalance(leases);
  }

  /**
   * Leases memory for a store that opens; see {@link SlotLeases}.
   *
   * @param name names the store in messages
   * @throws IOException if less than the minimum can be had; the message says what to change
   */
  SlotLeases.Lease lease(String name, long minimum) throws IOException {
    return leases.lease(name, minimum);
  }

  /**
   * Balances the memory from now on, until it is closed; looks at once if it was called before.
   *
   * @param logger receives a failure, after which nothing is moved any more
   */
  synchronized void balanceAlways(Logger logger) {
    if (balancing != null) {
      balancing.wake();
    } else {
      balancing = MemoryBalancing.start(this::balance, logger);
      if (opening.isOfPool()) {
        logger.log(
            Level.INFO,
            "without native access logs release no memory, and each store has an equal part of the"
                + " slot's memory: bytes="
                + leases.bytes()
                + ", "
                + FasterOptions.OPERATORS.key()
                + "="
                + opening.parts()
                + "; set this option to the number of operators with state, or on Linux start Java"
                + " with --enable-native-access=ALL-UNNAMED");
      }
    }
  }

  /** Whether memory is being balanced: not before the first store, and not after a failure. */
  synchronized boolean isBalanced() {
    return balancing != null && balancing.isRunning();
  }

  /** Makes the next move of memory, if there is one; returns whether there was. */
  boolean balance() throws InterruptedException {
    return balance.balance();
  }

  /** Bytes of the pool. */
  long bytes() {
    return leases.bytes();
  }

  /** Bytes that are leased now: 0 to the pool's size. */
  long leased() {
    return leases.leased();
  }

  @Override
  public void close() {
    MemoryBalancing started;
    synchronized (this) {
      started = balancing;
    }
    try {
      if (started != null) {
        started.close();
      }
    } finally {
      release.run();
    }
  }
}
