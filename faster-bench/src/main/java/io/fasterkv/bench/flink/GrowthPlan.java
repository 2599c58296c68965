package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Many checkpoints of small state.
 *
 * @param checkpoints of each backend and state, at most
 */
record GrowthPlan(List<Backend> backends, List<GrowthState> states, int checkpoints) {
  private static final int STEP = 10;

  int checkpoints(GrowthState state) {
    return Math.min(checkpoints, state.mostCheckpoints());
  }

  /** Whether the table has a row for a checkpoint: 1, 10, 100 and so on, and the last one. */
  boolean isShown(long checkpoint, GrowthState state) {
    return checkpoint == checkpoints(state)
        || LongStream.iterate(1, each -> each <= checkpoint, each -> each * STEP)
            .anyMatch(each -> each == checkpoint);
  }
}
