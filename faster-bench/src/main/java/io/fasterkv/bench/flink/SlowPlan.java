package io.fasterkv.bench.flink;

/**
 * Uploads to slow storage, and restores from it.
 *
 * @param state how much there is, on which backends, in how much memory
 * @param settleNanos a restored backend is steady when it has read nothing for so long
 */
record SlowPlan(LargePlan state, long settleNanos) {}
