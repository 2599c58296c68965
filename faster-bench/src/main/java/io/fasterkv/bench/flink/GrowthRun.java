package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.LongSerializer;

/**
 * Takes many checkpoints of small state that changes all the time, and records how many bytes and
 * files they name. Flink's registry decides which files older checkpoints keep.
 */
final class GrowthRun {
  private final GrowthPlan plan;
  private final WorkDirectory work;

  GrowthRun(GrowthPlan plan, WorkDirectory work) {
    this.plan = plan;
    this.work = work;
  }

  /** The number of steps that {@link #run} reports. */
  static int steps(GrowthPlan plan) {
    return plan.backends().size() * plan.states().size();
  }

  List<GrowthResult> run(Progress progress) throws Exception {
    List<GrowthResult> results = new ArrayList<>();
    for (GrowthState state : plan.states()) {
      for (Backend kind : plan.backends()) {
        progress.begin("checkpoints of " + state + ", " + kind);
        results.addAll(checkpoints(state, kind));
        progress.step();
      }
    }
    return results;
  }

  private List<GrowthResult> checkpoints(GrowthState state, Backend kind) throws Exception {
    List<GrowthResult> results = new ArrayList<>();
    Path directory = work.directory(kind + "-growth");
    Path files = work.directory(kind + "-growth-checkpoints");
    try (OpenBackend<Long> opened =
        OpenBackend.open(
            kind,
            LongSerializer.INSTANCE,
            OpenBackend.Slot.of(state.memoryBytes(), directory),
            TtlTime.STANDING,
            OpenBackend.wholeRange(),
            List.of())) {
      GrowthState.Change change = state.open(opened);
      CheckpointChain chain = new CheckpointChain(opened.backend(), files);
      long uploaded = 0;
      for (long checkpoint = 1; checkpoint <= plan.checkpoints(state); checkpoint++) {
        change.before(checkpoint);
        TakenCheckpoint taken = chain.next(Thread::yield);
        uploaded += taken.uploadedBytes();
        if (plan.isShown(checkpoint, state)) {
          results.add(
              new GrowthResult(
                  state, kind, checkpoint, taken.handle().getStateSize(), taken.files(), uploaded));
        }
      }
    }
    work.delete(directory);
    work.delete(files);
    return results;
  }
}
