package io.fasterkv.bench.soak;

import io.fasterkv.bench.args.Backend;
import java.time.Duration;

/**
 * The plan of a soak test.
 *
 * @param memoryBytes managed memory of the backend
 * @param keys number of keys with state at any time
 * @param recordsPerSecond the rate at which records arrive, whether or not the last one is done
 * @param duration of the whole run
 * @param sample length of a sample, each with one checkpoint
 */
record SoakPlan(
    Backend backend,
    long memoryBytes,
    int keys,
    int recordsPerSecond,
    Duration duration,
    Duration sample) {

  int samples() {
    return Math.toIntExact(duration.dividedBy(sample));
  }

  /** A tenth of the samples: then as many records expire as are added. */
  Duration timeToLive() {
    return duration.dividedBy(10);
  }
}
