package io.fasterkv.inject;

import java.util.function.IntPredicate;

/**
 * A run to perform.
 *
 * @param seed of the workload
 * @param setting number of the store's setting, 0 to {@link Setting#COUNT} less one
 * @param error the class of the injected Error
 * @param hits selects the points
 * @param visit number of the first visit of these points that throws, from 1 on; 0 for never
 * @param times number of consecutive visits that throw
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
