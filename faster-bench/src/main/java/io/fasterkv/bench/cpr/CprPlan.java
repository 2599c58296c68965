package io.fasterkv.bench.cpr;

import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import io.fasterkv.bench.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * How large and how long everything is.
 *
 * @param keys how many a store is loaded with
 * @param threads that run operations
 * @param unit all times are multiples of it: a second, or less in a rehearsal
 * @param rounds how often each ratio is taken
 * @param streamLength keys made beforehand for each thread
 */
record CprPlan(long keys, int threads, Duration unit, int rounds, int streamLength) {
  private static final int INTERVALS_IN_A_UNIT = 10;

  /** For files large enough that opening and forcing them does not matter. */
  CprPlan withTwiceTheKeys() {
    return new CprPlan(2 * keys, threads, unit, rounds, streamLength);
  }

  /**
   * Leaves a processor to the threads of the checkpoint, if there is more than one: what an
   * operation waits for is the store then, and not its turn.
   */
  CprPlan withAProcessorToSpare() {
    int most = Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    return new CprPlan(keys, Math.min(threads, most), unit, rounds, streamLength);
  }

  /** So many units. */
  long nanos(double units) {
    return (long) (units * unit.toNanos());
  }

  /** How long one point of a plot is. */
  long intervalNanos() {
    return nanos(1) / INTERVALS_IN_A_UNIT;
  }

  /** The keys of all threads, the same in every run. */
  List<KeyStream> streams(Workload workload, Distribution distribution) {
    return Parallel.run(
        threads,
        thread ->
            (Callable<KeyStream>)
                () -> KeyStream.make(workload, distribution, keys, streamLength, thread + 1));
  }
}
