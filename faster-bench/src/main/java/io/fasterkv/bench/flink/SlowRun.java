package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.slow.SlowFileSystem;
import io.fasterkv.bench.slow.Traffic;
import io.fasterkv.bench.workload.WrongAnswer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/**
 * Loads state into all backends; then, in turn, uploads all of it to {@link SlowFileSystem}, as the
 * first checkpoint after a restore in NO_CLAIM mode does; then, in turn, restores it, and reads
 * values of random keys until the backend has read nothing from the storage for a while. Each
 * backend uses its default number of streams.
 */
final class SlowRun {
  /** A backend that is not steady after this time never will be. */
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(180);

  private final SlowPlan plan;
  private final WorkDirectory work;
  private final Traffic traffic = SlowFileSystem.traffic();
  private final Map<Backend, KeyedStateHandle> checkpoints = new LinkedHashMap<>();
  private final List<SlowResult> results = new ArrayList<>();

  SlowRun(SlowPlan plan, WorkDirectory work) {
    this.plan = plan;
    this.work = work;
  }

  /** The number of steps that {@link #run} reports. */
  static int steps(SlowPlan plan) {
    return plan.state().backends().size() * (1 + plan.state().rounds());
  }

  /** Runs the plan. */
  List<SlowResult> run(Progress progress) throws Exception {
    String what = ", values of " + plan.state().valueBytes() + ", ";
    try {
      for (Backend kind : plan.state().backends()) {
        progress.begin("uploads to slow storage" + what + kind);
        uploads(kind);
        progress.step();
      }
      for (int round = 1; round <= plan.state().rounds(); round++) {
        for (Backend kind : plan.state().backends()) {
          progress.begin("round " + round + ", restore from slow storage" + what + kind);
          restore(kind);
          progress.step();
        }
      }
      return results;
    } finally {
      for (KeyedStateHandle checkpoint : checkpoints.values()) {
        checkpoint.discardState();
      }
    }
  }

  private LargeState open(Backend kind, String name, Collection<KeyedStateHandle> handles)
      throws Exception {
    return new LargeState(
        plan.state(), kind, work.directory(kind + "-" + name), OpenBackend.wholeRange(), handles);
  }

  /** Takes a checkpoint in each round and keeps the last one. */
  private void uploads(Backend kind) throws Exception {
    Path directory = work.directory(kind + "-slow-checkpoints");
    try (LargeState state = open(kind, "slow-state", List.of())) {
      state.load();
      for (int round = 1; round <= plan.state().rounds(); round++) {
        Quiet.awaitWithDisk();
        traffic.reset();
        long begin = System.nanoTime();
        KeyedStateHandle uploaded = upload(state, round, directory);
        add(SlowRow.upload, kind, (System.nanoTime() - begin) / 1e6);
        add(SlowRow.uploadStreams, kind, traffic.mostStreams());
        state.backend().notifyCheckpointComplete(round);
        KeyedStateHandle before = checkpoints.put(kind, uploaded);
        if (before != null) {
          before.discardState();
        }
      }
    }
  }

  private static KeyedStateHandle upload(LargeState state, int id, Path directory)
      throws Exception {
    RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
        state
            .backend()
            .snapshot(
                id,
                id,
                OpenBackend.checkpointsIn(SlowFileSystem.path(directory)),
                new CheckpointOptions(
                    CheckpointType.FULL_CHECKPOINT,
                    CheckpointStorageLocationReference.getDefault()));
    snapshot.run();
    KeyedStateHandle handle = snapshot.get().getJobManagerOwnedSnapshot();
    if (handle == null) {
      throw new WrongAnswer("a checkpoint is empty: id=" + id);
    }
    return handle;
  }

  private void restore(Backend kind) throws Exception {
    KeyedStateHandle checkpoint = checkpoints.get(kind);
    if (checkpoint == null) {
      throw new IllegalStateException("not uploaded: backend=" + kind);
    }
    Quiet.awaitWithDisk();
    traffic.reset();
    SplittableRandom random = new SplittableRandom(11);
    long begin = System.nanoTime();
    try (LargeState restored = open(kind, "slow-restored", List.of(checkpoint))) {
      restored.readAny(random);
      long first = System.nanoTime();
      add(SlowRow.firstRecord, kind, (first - begin) / 1e6);
      add(SlowRow.readBeforeFirst, kind, traffic.readBytes() / 1e6);
      ReadRates rates = readUntilSteady(restored, random, first);
      long toSteady = first - begin + rates.nanosToSteady(plan.settleNanos());
      add(SlowRow.nineTenths, kind, toSteady / 1e6);
      add(SlowRow.steadyReads, kind, rates.steady(plan.settleNanos()));
      add(SlowRow.restoreStreams, kind, traffic.mostStreams());
    }
  }

  private ReadRates readUntilSteady(LargeState state, SplittableRandom random, long begin)
      throws Exception {
    ReadRates rates = new ReadRates(begin);
    long now = begin;
    long busy = begin;
    // Twice as long, so that the final measurement does not include the warm-up.
    while (now - busy < 2 * plan.settleNanos() && now - begin < MOST_NANOS) {
      state.readAny(random);
      now = System.nanoTime();
      rates.add(now);
      if (traffic.openStreams() > 0) {
        busy = now;
      }
    }
    return rates;
  }

  private void add(SlowRow row, Backend kind, double measured) {
    SlowResult result =
        results.stream()
            .filter(each -> each.row() == row && each.backend() == kind)
            .findFirst()
            .orElse(null);
    if (result == null) {
      result = SlowResult.empty(plan, row, kind);
      results.add(result);
    }
    result.measured().add(measured);
  }
}
