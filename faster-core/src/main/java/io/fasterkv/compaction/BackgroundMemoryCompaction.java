package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.MemoryReserve;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes room in a log without a device, on a thread of its own: when a session waits for room, and
 * earlier if the log is three quarters full and has grown since the last run. A run ends when the
 * log is half empty. A store without writes is left alone.
 */
final class BackgroundMemoryCompaction implements AutoCloseable {
  private static final long LOOK_NANOS = 10_000_000;

  /** Scratch memory either becomes free within a second or is in use for long. */
  private static final int MAX_FAILURES = 100;

  private final HybridLog log;
  private final MemoryReserve room;
  private final MemoryCompactor compactor;
  private final Thread thread;
  private long tailAfterRun;
  private int failures;
  private volatile boolean isClosed;

  /** Creates a thread that {@link #start} starts. */
  BackgroundMemoryCompaction(Engine engine, MemoryReserve room, MemoryCompactor compactor) {
    log = engine.log();
    this.room = room;
    this.compactor = compactor;
    thread = log.failure().thread("faster-memory-compaction", this::run);
  }

  public void start() {
    // Attend before the thread runs, so that sessions wait for it instead of failing.
    room.setCompactor(thread);
    thread.start();
  }

  /** Ends the thread after its current page. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  private void run() {
    try {
      while (!isClosed) {
        if (room.mayGain() && !room.isHeldUp() && (room.isWanted() || isGettingFull())) {
          runCompaction();
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
    long capacity = room.capacityBytes();
    return tail - log.beginAddress() > capacity / 4 * 3 && tail - tailAfterRun >= capacity / 8;
  }

  private void runCompaction() {
    try {
      compactor.compact(room.capacityBytes() / 2, () -> isClosed);
      failures = 0;
    } catch (OutOfBudget e) {
      failures++;
      if (failures >= MAX_FAILURES) {
        // Waiting sessions receive the failure; a later request starts another run.
        failures = 0;
        room.runFailed(e);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    tailAfterRun = log.tailAddress();
  }
}
