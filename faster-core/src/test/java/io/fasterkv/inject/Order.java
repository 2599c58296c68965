package io.fasterkv.inject;

import java.util.function.IntPredicate;

/**
 * A run to perform.
 *
 * @param seed of the workload
 * @param setting which kind of store, 0 to {@link Setting#COUNT} less one
 * @param error what is thrown
 * @param hits at which points
 * @param visit at which visit of these, from 1 on; 0 for never
 * @param times how many visits in a row
 * @param boundMillis how long a call may take
 */
public record Order(
    long seed,
    int setting,
    Class<? extends Error> error,
    IntPredicate hits,
    long visit,
    long times,
    long boundMillis) {}
