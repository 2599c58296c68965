package io.fasterkv.operation;

import io.fasterkv.device.ReadQueue;
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a session has borrowed: its operations' buffers, its queue of reads, its place among the
 * counters. All goes back when the session is closed, or when it was forgotten: nobody refers to it
 * any more. So nothing here refers to the session, and whoever uses what is here from the session
 * keeps it reachable until then, by a fence. Buffers that the device is filling go back when that
 * has ended. Giving back touches no off-heap memory, so it may happen after the store was closed.
 */
final class SessionOperations<I, O, C> {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Engine engine;
  private final ChainSteps.Stripe steps;
  private final GroupTouch touch;

  /** In use or not; one whose buffers went back is not here any more. */
  private final List<Operation<I, O, C>> all = new ArrayList<>();

  private @Nullable ReadQueue queue;

  SessionOperations(Engine engine, ChainSteps.Stripe steps, GroupTouch touch) {
    this.engine = engine;
    this.steps = steps;
    this.touch = touch;
  }

  /**
   * Sees to it that all goes back when {@code session} is closed or forgotten, its part in version
   * shifts too.
   */
  Cleaner.Cleanable end(Object session, VersionGuard guard) {
    return CLEANER.register(session, () -> giveBack(guard));
  }

  Operation<I, O, C> open() {
    Operation<I, O, C> op = new Operation<>(engine);
    try {
      all.add(op);
    } catch (Throwable e) {
      op.close();
      throw e;
    }
    return op;
  }

  /** Gives the buffers of an operation back that is not used again. */
  void close(Operation<I, O, C> op) {
    all.remove(op);
    op.close();
  }

  @Nullable ReadQueue queue() {
    return queue;
  }

  void setQueue(ReadQueue opened) {
    queue = opened;
  }

  private void giveBack(VersionGuard guard) {
    // Counters are somebody else's as soon as they are back.
    guard.leave();
    try {
      closeAll(false);
      if (queue != null) {
        queue.close();
      }
    } finally {
      closeAll(true);
      touch.close();
      engine.chainSteps().close(steps);
    }
  }

  private void closeAll(boolean isUnderWay) {
    for (Operation<I, O, C> op : all) {
      if ((op.readTag != ReadQueue.NONE) == isUnderWay) {
        op.close();
      }
    }
  }
}
