package io.fasterkv.checkpoint.shift;

import io.fasterkv.state.Phase;
import java.util.List;

/** The steps of a version shift, in order. */
public final class ShiftTasks {
  public static final List<ShiftTask> ALL =
      List.of(new Prepare(), new InProgress(), new WaitPending(), new WaitFlush());

  private ShiftTasks() {}

  /**
   * Tells operations that a shift is about to start. Takes the latches of pending updates' buckets
   * for them, so that no operation of the next version overtakes them.
   */
  private static final class Prepare implements ShiftTask {
    @Override
    public Phase phase() {
      return Phase.PREPARE;
    }

    @Override
    public void before(ShiftRun run) {
      run.start();
      run.engine().index().hideQuietTable();
    }

    @Override
    public void after(ShiftRun run) {
      run.engine().versions().latchPending(run.version());
    }
  }

  /**
   * New operations belong to the next version. After the last older operation, every session has
   * moved to it.
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
   * Completes the version's pending operations, even if their sessions are idle. Then the commit
   * point of each session is known.
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

  /** Makes the version immutable. */
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
      run.engine().index().showQuietTable();
      run.awaitFrozen();
    }
  }
}
