package io.fasterkv.bench.flink;

/**
 * Uploads to slow storage, and restores from it.
 *
 * @param state the amount of state, the backends, and their memory
 * @param settleNanos time without a read after which a restored backend counts as steady
 */
record SlowPlan(LargePlan state, long settleNanos) {}
