package io.fasterkv.bench.ycsb;

import java.time.Duration;

/**
 * How long to measure.
 *
 * @param warmup of each row, once, before the first round
 * @param slice of each row in each round
 * @param rounds how often all rows take their turn
 * @param streamLength number of keys of each thread before they repeat
 * @param seed of the keys
 */
public record Timing(Duration warmup, Duration slice, int rounds, int streamLength, long seed) {}
