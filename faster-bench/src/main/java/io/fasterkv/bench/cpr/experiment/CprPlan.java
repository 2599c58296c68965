package io.fasterkv.bench.cpr.experiment;

import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import io.fasterkv.bench.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * The sizes and durations of all parts.
 *
 * @param keys number of keys that a store is loaded with
 * @param threads threads that run operations
 * @param unit all times are multiples of it: a second, or less in a rehearsal
 * @param rounds how often each ratio is measured
 * @param streamLength number of keys generated in advance for each thread
 */
public record CprPlan(long keys, int threads, Duration unit, int rounds, int streamLength) {
  private static final int INTERVALS_IN_A_UNIT = 10;

  /** Doubles the data, so that opening and forcing files takes a negligible part of the time. */
  public CprPlan withTwiceTheKeys() {
    return new CprPlan(2 * keys, threads, unit, rounds, streamLength);
  }

  /**
   * Leaves a processor to the threads of the checkpoint, if there is more than one: then an
   * operation waits for the store, not for a processor.
   */
  public CprPlan withAProcessorToSpare() {
    int most = Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    return new CprPlan(keys, Math.min(threads, most), unit, rounds, streamLength);
  }

  /** Converts units of time to nanoseconds. */
  public long nanos(double units) {
    return (long) (units * unit.toNanos());
  }

  /** Length of one point of a plot. */
  public long intervalNanos() {
    return nanos(1) / INTERVALS_IN_A_UNIT;
  }

  /** The keys of all threads, the same in every run. */
  public List<KeyStream> streams(Workload workload, Distribution distribution) {
    return Parallel.run(
        threads,
        thread ->
            (Callable<KeyStream>)
                () -> KeyStream.make(workload, distribution, keys, streamLength, thread + 1));
  }
}
