package io.fasterkv.inject;

import java.util.List;

/**
 * The result of a run.
 *
 * @param visits how often each point was visited
 * @param thrown how many Errors were thrown
 * @param failed how many calls ended with one of them as the cause
 * @param succeeded how many calls ended well after the first was thrown
 * @param recoveries how many checkpoints were recovered and checked
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
