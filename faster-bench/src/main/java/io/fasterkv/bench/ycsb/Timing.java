package io.fasterkv.bench.ycsb;

import java.time.Duration;

/**
 * How long to measure.
 *
 * @param warmup each row, once, before the first round
 * @param slice each row in each round
 * @param rounds how often all rows take their turn
 * @param streamLength how many keys each thread has before it starts again
 * @param seed of the keys
 */
public record Timing(Duration warmup, Duration slice, int rounds, int streamLength, long seed) {}
