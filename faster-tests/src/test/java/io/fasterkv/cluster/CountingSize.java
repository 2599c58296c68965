package io.fasterkv.cluster;

/**
 * The size of a counting job.
 *
 * @param numbers how many numbers the job counts; a multiple of {@code keys}
 * @param keys how many remainders the job groups them by
 * @param perSecond numbers a second that each reader emits after a burst, until the limit is lifted
 * @param pauseMicros how long a task pauses for each number, until the limit is lifted
 * @param parallelism of all tasks
 */
record CountingSize(long numbers, long keys, int perSecond, int pauseMicros, int parallelism) {}
