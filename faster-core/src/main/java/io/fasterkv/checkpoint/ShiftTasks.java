package io.fasterkv.checkpoint;

import io.fasterkv.epoch.Phase;
import java.util.List;

/** The steps of a version shift, in their order. */
final class ShiftTasks {
  static final List<ShiftTask> ALL =
      List.of(new Prepare(), new InProgress(), new WaitPending(), new WaitFlush());

  private ShiftTasks() {}

  /**
   * Operations learn that a shift is near. Pending updates are given the latches of their buckets,
   * so that nothing of the next version goes before them.
   */
  private static final class Prepare implements ShiftTask {
    @Override
    public Phase phase() {
      return Phase.PREPARE;
    }

    @Override
    public void before(ShiftRun run) {
      run.start();
      run.engine().index().disquiet();
    }

    @Override
    public void after(ShiftRun run) {
      run.engine().versions().latchPending(run.version());
    }
  }

  /**
   * New operations belong to the next version. When no older operation is left, every session has
   * crossed to it.
   */
  private static final class InProgress implements ShiftTask {
    @Override
    public Phase phase() {
      return Phase.IN_PROGRESS;
    }

    @Override
    public void after(ShiftRun run) {
      run.engine().versions().crossAll(run.version() + 1);
    }
  }

  /**
   * The driver completes the version's pending operations, even if their sessions are idle. Then
   * the commit point of each session is known.
   */
  private static final class WaitPending implements ShiftTask {
    @Override
    public Phase phase() {
      return Phase.WAIT_PENDING;
    }

    @Override
    public void after(ShiftRun run) {
      run.engine().versions().endPending(run.version());
      run.points(run.engine().versions().points(run.version() + 1));
    }
  }

  /** Nothing of the version changes any more. */
  private static final class WaitFlush implements ShiftTask {
    @Override
    public Phase phase() {
      return Phase.WAIT_FLUSH;
    }

    @Override
    public void before(ShiftRun run) {
      run.end();
    }

    @Override
    public void after(ShiftRun run) {
      run.engine().index().quiet();
      run.awaitFrozen();
    }
  }
}
