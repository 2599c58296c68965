package io.fasterkv.operation.session;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.memory.StackReserve;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.search.DiskSearch;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A session's operations that wait for the disk, each for one read of the session's queue at the
 * device, and those that wait for scratch memory. Their number, and so the size of their buffers,
 * is limited: half of the scratch memory is left to checkpoints, scans and compaction.
 */
final class PendingOperations<I, O, C> {
  static final int MAX_PENDING = 64;

  private final Engine engine;
  private final DiskSearch disk;
  private final Deque<Operation<I, O, C>> idle = new ArrayDeque<>();

  /** Operations that wait for scratch memory and have no read in progress. */
  private final Deque<Operation<I, O, C>> waiting = new ArrayDeque<>(MAX_PENDING + 1);

  /** Operations by the tag of their read. */
  private final List<@Nullable Operation<I, O, C>> underWay =
      new ArrayList<>(Collections.nCopies(MAX_PENDING, null));

  private final BitSet tags = new BitSet(MAX_PENDING);
  private final SessionOperations<I, O, C> operations;
  private final @Nullable Arrivals arrivals;

  /**
   * @param arrivals notified of each record that arrives; null if the session's thread polls
   */
  PendingOperations(
      Engine engine,
      DiskSearch disk,
      SessionOperations<I, O, C> operations,
      @Nullable Arrivals arrivals) {
    this.engine = engine;
    this.disk = disk;
    this.operations = operations;
    this.arrivals = arrivals;
  }

  int count() {
    return tags.cardinality() + waiting.size();
  }

  /** Whether other operations than this one are pending. */
  boolean isOther(Operation<I, O, C> op) {
    return count() > (op.disk.tag == ReadQueue.NONE ? 0 : 1);
  }

  /** Whether there are operations that wait for memory, so that no arrival will continue them. */
  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** An idle operation; null if a pending one must end first. */
  @Nullable Operation<I, O, C> idle() {
    Operation<I, O, C> op = idle.pollLast();
    boolean mustWait =
        count() >= MAX_PENDING
            || (count() > 0 && !engine.buffers().leavesHalf(Operation.firstBytes(engine)));
    if (op != null || mustWait) {
      return op;
    }
    try {
      return operations.open();
    } catch (OutOfBudget e) {
      if (count() == 0) {
        throw e;
      }
      return null;
    }
  }

  /** Makes an operation pending and starts its first read. */
  void start(Operation<I, O, C> op) {
    disk.aim(op);
    read(op);
  }

  /** Makes an operation wait for scratch memory, whether or not it was pending. */
  void later(Operation<I, O, C> op) {
    releaseTag(op);
    waiting.addLast(op);
  }

  /** Starts the next read of an operation, whose place has been set. */
  void read(Operation<I, O, C> op) {
    // An arrival that another thread cannot handle is handled by a caller of this method.
    StackReserve.require();
    MemorySegment target = disk.target(op);
    ReadQueue queue = queue();
    if (op.disk.tag == ReadQueue.NONE) {
      int tag = tags.nextClearBit(0);
      tags.set(tag);
      underWay.set(tag, op);
      op.disk.tag = tag;
    }
    try {
      queue.read(op.disk.tag, op.disk.from, target);
    } catch (Throwable e) {
      // The queue did not accept the read, so waiting for its end would never return.
      releaseTag(op);
      throw e;
    }
  }

  /**
   * Takes the next operation that can continue: its record has arrived, or it may request scratch
   * memory again. Returns null if there is none, or none is pending.
   */
  @Nullable Operation<I, O, C> next(boolean wait) {
    if (count() > 0) {
      // This thread continues or ends each operation that it takes out.
      StackReserve.require();
    }
    if (!tags.isEmpty()) {
      int tag = queue().next(wait && waiting.isEmpty());
      if (tag != ReadQueue.NONE) {
        Operation<I, O, C> op = Objects.requireNonNull(underWay.get(tag));
        op.disk.failure = failure();
        return op;
      }
    }
    return waiting.pollFirst();
  }

  /** Why the read taken out last has failed, for its operation. */
  private @Nullable IOException failure() {
    try {
      return queue().failure();
    } catch (Throwable e) {
      return StoreFailure.asIoException(e);
    }
  }

  /** Takes an ended operation back; keeps its buffers unless they have grown or memory is short. */
  void end(Operation<I, O, C> op) {
    releaseTag(op);
    op.clear();
    if (!op.isGrown() && engine.buffers().leavesHalf(0)) {
      idle.addLast(op);
    } else {
      operations.close(op);
    }
  }

  private void releaseTag(Operation<I, O, C> op) {
    if (op.disk.tag != ReadQueue.NONE) {
      underWay.set(op.disk.tag, null);
      tags.clear(op.disk.tag);
      op.disk.tag = ReadQueue.NONE;
    }
  }

  /** Opened by the first read: most sessions never have a pending one. */
  private ReadQueue queue() {
    ReadQueue queue = operations.queue();
    if (queue == null) {
      LogDevice device = engine.log().device();
      queue = arrivals == null ? device.readQueue(MAX_PENDING) : arrivingReads(device, arrivals);
      operations.setQueue(queue);
    }
    return queue;
  }

  /**
   * Only a running read keeps the session reachable: a session that nothing refers to is forgotten
   * when its reads have ended.
   */
  private static ReadQueue arrivingReads(LogDevice device, Arrivals arrivals) {
    WeakReference<Arrivals> session = new WeakReference<>(arrivals);
    return ReadQueue.over(
        device,
        () -> {
          // The session is using this queue, so it is reachable.
          Arrivals owner = session.get();
          return owner == null ? null : owner::arrived;
        });
  }
}
