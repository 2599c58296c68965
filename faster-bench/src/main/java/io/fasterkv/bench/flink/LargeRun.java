package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;

/**
 * Loads large state into all backends and takes a first checkpoint of each; then, in turn, changes
 * one key in a hundred and takes the next; then, in turn, restores the last one, whole and by
 * halves. Flink's registry decides which files older checkpoints keep.
 */
final class LargeRun {
  private static final int STEADY_PASSES = 3;

  /**
   * A checkpoint takes a tenth of a second, so a processor that is unavailable for 4 ms has a large
   * effect.
   */
  private static final int CHECKPOINTS_IN_A_ROUND = 3;

  private final LargePlan plan;
  private final WorkDirectory work;
  private final Map<Backend, Subject> subjects = new LinkedHashMap<>();
  private final List<LargeResult> results = new ArrayList<>();

  LargeRun(LargePlan plan, WorkDirectory work) {
    this.plan = plan;
    this.work = work;
  }

  /** Number of steps that {@link #run} reports. */
  static int steps(LargePlan plan) {
    return plan.backends().size() * (1 + 2 * plan.rounds());
  }

  /** A backend and its checkpoints. */
  private record Subject(LargeState state, CheckpointChain checkpoints) {
    TakenCheckpoint next(Histogram beside) throws Exception {
      return checkpoints.next(state.updating(beside));
    }
  }

  /** Runs the plan. */
  List<LargeResult> run(Progress progress) throws Exception {
    try {
      for (Backend kind : plan.backends()) {
        progress.begin("loading much state, " + kind);
        subjects.put(kind, load(kind));
        progress.step();
      }
      for (int round = 1; round <= plan.rounds(); round++) {
        for (Backend kind : plan.backends()) {
          progress.begin("round " + round + ", checkpoint, " + kind);
          for (int i = 0; i < CHECKPOINTS_IN_A_ROUND; i++) {
            checkpoint(kind);
          }
          progress.step();
        }
      }
      for (int round = 1; round <= plan.rounds(); round++) {
        for (Backend kind : plan.backends()) {
          progress.begin("round " + round + ", restore, " + kind);
          restore(kind);
          progress.step();
        }
      }
      return results;
    } finally {
      for (Subject subject : subjects.values()) {
        subject.state.close();
      }
    }
  }

  private Subject load(Backend kind) throws Exception {
    LargeState state = open(kind, "state", OpenBackend.wholeRange(), List.of());
    CheckpointChain checkpoints =
        new CheckpointChain(state.backend(), work.directory(kind + "-checkpoints"));
    Subject subject = new Subject(state, checkpoints);
    state.load();
    subject.next(LargeState.newHistogram());
    return subject;
  }

  private LargeState open(
      Backend kind, String name, KeyGroupRange range, Collection<KeyedStateHandle> handles)
      throws Exception {
    return new LargeState(plan, kind, work.directory(kind + "-" + name), range, handles);
  }

  private Subject subject(Backend kind) {
    Subject subject = subjects.get(kind);
    if (subject == null) {
      throw new IllegalStateException("not loaded: backend=" + kind);
    }
    return subject;
  }

  private void checkpoint(Backend kind) throws Exception {
    Subject subject = subject(kind);
    Histogram steady = LargeState.newHistogram();
    Quiet.awaitWithDisk();
    subject.state.change(STEADY_PASSES, steady);
    Histogram beside = LargeState.newHistogram();
    TakenCheckpoint taken = subject.next(beside);
    add(LargeRow.synchronousPhase, kind, taken.synchronousNanos() / 1e6);
    add(LargeRow.checkpointTime, kind, taken.nanos() / 1e6);
    add(LargeRow.uploadedToChanged, kind, (double) taken.uploadedBytes() / plan.changedBytes());
    add(
        LargeRow.latencyToSteady,
        kind,
        (double) beside.getValueAtPercentile(99.9) / steady.getValueAtPercentile(99.9));
  }

  private void restore(Backend kind) throws Exception {
    Quiet.awaitWithDisk();
    List<KeyedStateHandle> whole = List.of(subject(kind).checkpoints.last().handle());
    timed(LargeRow.restore, kind, OpenBackend.wholeRange(), whole).close();
    Path directory = work.directory(kind + "-halves");
    List<KeyedStateHandle> halves = new ArrayList<>();
    for (KeyGroupRange range : LargeState.halves()) {
      try (LargeState half = timed(LargeRow.rescaleOut, kind, range, whole)) {
        KeyedStateHandle handle = half.checkpoint(directory).handle();
        // As Flink does: the half continues with files of the checkpoint it was made from.
        handle.registerSharedStates(subject(kind).checkpoints.registry(), 1);
        halves.add(handle);
      }
    }
    timed(LargeRow.rescaleIn, kind, OpenBackend.wholeRange(), halves).close();
    work.delete(directory);
  }

  /** Opens a backend from checkpoints, and checks it after the clock was stopped. */
  private LargeState timed(
      LargeRow row, Backend kind, KeyGroupRange range, List<KeyedStateHandle> handles)
      throws Exception {
    long begin = System.nanoTime();
    LargeState restored = open(kind, "restored", range, handles);
    double millis = (System.nanoTime() - begin) / 1e6;
    // Of two halves only the first counts.
    if (range.getStartKeyGroup() == 0) {
      add(row, kind, millis);
    }
    restored.check();
    return restored;
  }

  private void add(LargeRow row, Backend kind, double measured) {
    LargeResult result =
        results.stream()
            .filter(each -> each.row() == row && each.backend() == kind)
            .findFirst()
            .orElse(null);
    if (result == null) {
      result = LargeResult.empty(row, kind);
      results.add(result);
    }
    result.measured().add(measured);
  }
}
