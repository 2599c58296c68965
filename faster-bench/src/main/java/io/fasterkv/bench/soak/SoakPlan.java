package io.fasterkv.bench.soak;

import io.fasterkv.bench.demo.Backend;
import java.time.Duration;

/**
 * What is soaked, and for how long.
 *
 * @param memoryBytes managed memory of the backend
 * @param keys that have state at any time
 * @param recordsPerSecond the pace at which records come, whether or not the last one is done
 * @param duration of the whole
 * @param sample how long a sample is, each with one checkpoint
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

  /** A tenth of the samples: then as many things expire as come. */
  Duration timeToLive() {
    return duration.dividedBy(10);
  }
}
