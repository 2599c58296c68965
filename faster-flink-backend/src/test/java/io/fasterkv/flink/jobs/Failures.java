package io.fasterkv.flink.jobs;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;

/**
 * The failures of the running job; a process runs only one at a time. A job fails when it processes
 * another record after a checkpoint completed in the same attempt, and its sources are slow until
 * all failures have happened.
 */
final class Failures {
  private static final AtomicInteger LEFT = new AtomicInteger();

  private Failures() {}

  /** Makes the next job fail {@code failures} times. */
  static void plan(int failures) {
    LEFT.set(failures);
  }

  static int left() {
    return LEFT.get();
  }

  /** Passes on numbers, and fails. */
  static final class Fail extends RichMapFunction<Long, Long> implements CheckpointListener {
    private static final long serialVersionUID = 1L;
    private transient boolean isDue;

    @Override
    public void open(OpenContext context) {
      isDue = false;
    }

    @Override
    public Long map(Long number) {
      if (isDue && LEFT.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new IllegalStateException("a failure on purpose");
      }
      return number;
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      isDue = true;
    }
  }

  /**
   * Emits a burst of numbers in each attempt; then emits slowly until all failures have happened.
   */
  static final class Rate implements RateLimiterStrategy<NumberSequenceSplit> {
    private static final long serialVersionUID = 1L;
    private final int burst;

    Rate(int burst) {
      this.burst = burst;
    }

    @Override
    public RateLimiter<NumberSequenceSplit> createRateLimiter(int parallelism) {
      return new SlowUntil(burst, () -> left() == 0);
    }
  }
}
