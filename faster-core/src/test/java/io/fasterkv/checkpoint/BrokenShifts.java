package io.fasterkv.checkpoint;

import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.checkpoint.shift.CheckpointDriver;
import io.fasterkv.checkpoint.shift.ShiftRun;
import io.fasterkv.checkpoint.shift.ShiftTask;
import io.fasterkv.checkpoint.shift.ShiftTasks;
import io.fasterkv.state.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Version shifts that omit a step, kept here to show that tests detect it. */
public final class BrokenShifts {
  private BrokenShifts() {}

  /** Does not complete pending operations of the committed version. */
  public static CheckpointDriver withoutWaitPending(CheckpointDriver sound) {
    List<ShiftTask> steps = new ArrayList<>(ShiftTasks.ALL);
    steps.removeIf(step -> step.phase() == Phase.WAIT_PENDING);
    steps.replaceAll(
        step -> step.phase() == Phase.WAIT_FLUSH ? begun(step, BrokenShifts::point) : step);
    return new CheckpointDriver(sound, steps);
  }

  /** Begins the next version while operations of the old one hold no latch. */
  public static CheckpointDriver withoutPrepare(CheckpointDriver sound) {
    List<ShiftTask> steps = new ArrayList<>(ShiftTasks.ALL);
    steps.removeIf(step -> step.phase() == Phase.PREPARE);
    steps.replaceAll(
        step -> step.phase() == Phase.IN_PROGRESS ? begun(step, ShiftRun::start) : step);
    return new CheckpointDriver(sound, steps);
  }

  /**
   * Requests the sessions' commit points after the next version has begun, instead of when it
   * begins.
   */
  public static CheckpointDriver withLatePoints(
      CheckpointDriver sound, Supplier<SortedMap<String, CommitPoint>> serials) {
    List<ShiftTask> steps = new ArrayList<>(ShiftTasks.ALL);
    steps.replaceAll(step ->
        step.phase() == Phase.WAIT_FLUSH ? begun(step, run -> run.points(serials.get())) : step);
    return new CheckpointDriver(sound, steps);
  }

  /** Ignores that pending updates can fail. */
  public static CheckpointDriver withoutExclusions(CheckpointDriver sound) {
    List<ShiftTask> steps = new ArrayList<>(ShiftTasks.ALL);
    steps.replaceAll(
        step -> step.phase() == Phase.WAIT_FLUSH ? begun(step, BrokenShifts::include) : step);
    return new CheckpointDriver(sound, steps);
  }

  private static void point(ShiftRun run) {
    run.points(run.engine().versions().points(run.version() + 1));
  }

  private static void include(ShiftRun run) {
    SortedMap<String, CommitPoint> points =
        new TreeMap<>(run.engine().versions().points(run.version() + 1));
    points.replaceAll((name, point) -> new CommitPoint(point.serial(), List.of()));
    run.points(points);
  }

  private interface Extra {
    void run(ShiftRun run);
  }

  /** A step with an additional action at its start. */
  private static ShiftTask begun(ShiftTask step, Extra extra) {
    return new ShiftTask() {
      @Override
      public Phase phase() {
        return step.phase();
      }

      @Override
      public void before(ShiftRun run) {
        extra.run(run);
        step.before(run);
      }

      @Override
      public void after(ShiftRun run) {
        step.after(run);
      }
    };
  }
}
