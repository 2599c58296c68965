package io.fasterkv.bench.soak;

import io.fasterkv.bench.flink.CheckpointChain;
import io.fasterkv.bench.flink.TakenCheckpoint;
import io.fasterkv.bench.process.ProcessMemory;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Loads a backend and then passes it records at a steady rate; a late record delays those after it.
 * Each sample begins with a checkpoint, which is written while records are processed.
 */
final class SoakRun {
  private static final long HIGHEST_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final int DIGITS = 2;

  private final SoakPlan plan;
  private final WorkDirectory work;
  private final Progress progress;
  private final Histogram nanos = new Histogram(HIGHEST_NANOS, DIGITS);
  private final List<SoakSample> samples = new CopyOnWriteArrayList<>();
  private long begin;
  private long records;

  SoakRun(SoakPlan plan, WorkDirectory work, Progress progress) {
    this.plan = plan;
    this.work = work;
    this.progress = progress;
  }

  /** The samples so far; for any thread. */
  List<SoakSample> samples() {
    return samples;
  }

  /** Runs it. */
  List<SoakSample> run() throws Exception {
    Path local = work.directory("local");
    Path directory = work.directory("checkpoints");
    progress.begin("loading");
    try (SoakState state = new SoakState(plan, local)) {
      state.load();
      CheckpointChain checkpoints = new CheckpointChain(state.backend(), directory);
      checkpoints.next(() -> LockSupport.parkNanos(1_000_000));
      begin = System.nanoTime();
      for (int sample = 1; sample <= plan.samples(); sample++) {
        progress.begin("sample " + sample);
        nanos.reset();
        long before = records;
        TakenCheckpoint taken = checkpoints.next(() -> step(state));
        long end = begin + sample * plan.sample().toNanos();
        while (System.nanoTime() < end) {
          step(state);
        }
        samples.add(
            new SoakSample(
                (System.nanoTime() - begin) / 1e9,
                (records - before) * 1e9 / plan.sample().toNanos(),
                nanos.getValueAtPercentile(50) / 1e3,
                nanos.getValueAtPercentile(99.9) / 1e3,
                nanos.getMaxValue() / 1e3,
                taken.nanos() / 1e6,
                ProcessMemory.residentBytes(),
                WorkDirectory.bytesBelow(local),
                WorkDirectory.bytesBelow(directory),
                taken.files(),
                taken.uploadedBytes()));
        progress.step();
      }
    }
    return samples;
  }

  private void step(SoakState state) throws Exception {
    long due = begin + records * TimeUnit.SECONDS.toNanos(1) / plan.recordsPerSecond();
    for (long early = due - System.nanoTime(); early > 0; early = due - System.nanoTime()) {
      LockSupport.parkNanos(early);
    }
    state.step();
    records++;
    nanos.recordValue(Math.min(System.nanoTime() - due, HIGHEST_NANOS));
  }
}
