package io.fasterkv.cluster;

/**
 * How much a job counts.
 *
 * @param numbers how many; a multiple of {@code keys}
 * @param keys how many remainders they are counted by
 * @param perSecond numbers a second that each of the readers gives, after a burst, until it is let
 *     go
 * @param parallelism of all tasks
 */
record CountingSize(long numbers, long keys, int perSecond, int parallelism) {}
