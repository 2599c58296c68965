package io.fasterkv.bench.soak;

/**
 * What was seen in one stretch of time.
 *
 * @param seconds since the begin, at the end of the sample
 * @param recordsPerSecond that were done
 * @param medianMicros of a record, from when it was due to when it was done
 * @param tailMicros the 99.9th percentile of the same
 * @param highestMicros the longest of the same
 * @param checkpointMillis from the barrier until the checkpoint was written
 * @param residentBytes of the process
 * @param localBytes of the backend's files
 * @param checkpointBytes of the checkpoint's files
 */
record SoakSample(
    double seconds,
    double recordsPerSecond,
    double medianMicros,
    double tailMicros,
    double highestMicros,
    double checkpointMillis,
    long residentBytes,
    long localBytes,
    long checkpointBytes) {}
