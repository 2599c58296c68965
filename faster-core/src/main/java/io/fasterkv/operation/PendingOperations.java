package io.fasterkv.operation;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * A session's operations that wait for the disk. The device's threads put an operation into the
 * queue when its record has arrived; the session's thread takes it out. How many there are at a
 * time is limited, so that their buffers are: half of the scratch memory is left to checkpoints,
 * scans and compaction.
 */
final class PendingOperations<I, O, C> {
  private static final int MAX_PENDING = 64;

  private final Engine engine;
  private final DiskSearch disk;
  private final BlockingQueue<Operation<I, O, C>> arrived = new LinkedBlockingQueue<>();
  private final Deque<Operation<I, O, C>> idle = new ArrayDeque<>();
  private int count;

  PendingOperations(Engine engine, DiskSearch disk) {
    this.engine = engine;
    this.disk = disk;
  }

  int count() {
    return count;
  }

  /** An operation that is not in use; null when one that is under way must end first. */
  @Nullable Operation<I, O, C> idle() {
    Operation<I, O, C> op = idle.pollLast();
    boolean mustWait =
        count >= MAX_PENDING
            || (count > 0 && !engine.buffers().leavesHalf(Operation.firstBytes(engine)));
    if (op != null || mustWait) {
      return op;
    }
    try {
      return new Operation<>(engine);
    } catch (OutOfBudget e) {
      if (count == 0) {
        throw e;
      }
      return null;
    }
  }

  /** Makes an operation pending and starts its first read. */
  void start(Operation<I, O, C> op) {
    disk.aim(op);
    read(op);
    count++;
  }

  /** Makes an operation pending that needs scratch memory. */
  void startLater(Operation<I, O, C> op) {
    later(op);
    count++;
  }

  /** Lets a pending operation come again after those that have arrived. */
  void later(Operation<I, O, C> op) {
    arrived.add(op);
  }

  /** How many operations can go on now, more or less. */
  int arrivedCount() {
    return arrived.size();
  }

  /** Starts the next read of a pending operation. */
  void read(Operation<I, O, C> op) {
    engine
        .log()
        .device()
        .read(
            op.diskFrom,
            disk.target(op),
            failure -> {
              op.diskFailure = failure;
              arrived.add(op);
            });
  }

  /** The next operation whose record has arrived; null when there is none, or none under way. */
  @Nullable Operation<I, O, C> next(boolean wait) {
    Operation<I, O, C> op = arrived.poll();
    return op == null && wait && count > 0 ? take() : op;
  }

  /** Waits for the next operation whose record arrives; there is one under way. */
  Operation<I, O, C> take() {
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          return arrived.take();
        } catch (InterruptedException e) {
          isInterrupted = true;
        }
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Takes an operation that has ended back. */
  void end(Operation<I, O, C> op) {
    count--;
    op.clear();
    idle.addLast(op);
  }

  void close() {
    idle.forEach(Operation::close);
    idle.clear();
  }
}
