package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.MemoryRoom;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.Engine;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes room in a log without a device on a thread of its own: when a session waits for it, and
 * ahead of that when the log is three quarters full and has grown since the last pass. A pass ends
 * when the log is half empty. Nothing happens in a store that nobody writes to.
 */
public final class BackgroundMemoryCompaction implements AutoCloseable {
  private static final long LOOK_NANOS = 10_000_000;

  /** Scratch memory that others have comes free in a second, or is theirs for good. */
  private static final int MAX_FAILURES = 100;

  private final HybridLog log;
  private final MemoryCompactor compactor;
  private final Thread thread;
  private long tailAfterPass;
  private int failures;
  private volatile boolean isClosed;

  /** Creates a thread that {@link #start} starts. */
  public BackgroundMemoryCompaction(Engine engine, MemoryCompactor compactor) {
    log = engine.log();
    this.compactor = compactor;
    thread = log.failure().thread("faster-memory-compaction", this::run);
  }

  public void start() {
    // Before it runs, so that sessions wait for it and are not refused.
    log.room().attend(thread);
    thread.start();
  }

  /** Ends the thread after the page it is at. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  private void run() {
    MemoryRoom room = log.room();
    try {
      while (!isClosed) {
        if (room.isWorthATry() && !room.isHeldUp() && (room.isWanted() || isGettingFull())) {
          pass();
        } else {
          LockSupport.parkNanos(LOOK_NANOS);
        }
      }
    } finally {
      room.leave();
    }
  }

  private boolean isGettingFull() {
    long tail = log.tailAddress();
    long capacity = log.room().capacityBytes();
    return tail - log.beginAddress() > capacity / 4 * 3 && tail - tailAfterPass >= capacity / 8;
  }

  private void pass() {
    try {
      compactor.pass(log.room().capacityBytes() / 2, () -> isClosed);
      failures = 0;
    } catch (OutOfBudget e) {
      failures++;
      if (failures >= MAX_FAILURES) {
        // Who waits for room is told; who asks after that brings about another pass.
        failures = 0;
        log.room().passFailed(e);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    tailAfterPass = log.tailAddress();
  }
}
