package io.fasterkv.inject;

import java.util.List;

/**
 * The result of a run.
 *
 * @param visits the number of visits of each point
 * @param thrown the number of Errors thrown
 * @param failed the number of calls that failed because of one of them
 * @param succeeded the number of calls that succeeded after the first Error was thrown
 * @param recoveries the number of checkpoints that were recovered and checked
 * @param faults violations; empty if there are none
 * @param hangs whether a call did not end
 */
public record Report(
    int[] visits,
    int thrown,
    int failed,
    int succeeded,
    int recoveries,
    List<String> faults,
    boolean hangs) {}
