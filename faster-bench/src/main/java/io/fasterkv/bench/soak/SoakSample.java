package io.fasterkv.bench.soak;

/**
 * The measurements of one period.
 *
 * @param seconds end of the sample, since the start of the run
 * @param recordsPerSecond records that were processed
 * @param medianMicros time of a record, from when it was due until it was processed
 * @param tailMicros the 99.9th percentile of the same
 * @param highestMicros the maximum of the same
 * @param checkpointMillis from the barrier until the checkpoint was written
 * @param residentBytes of the process
 * @param localBytes of the backend's files
 * @param checkpointBytes of the checkpoint's files
 * @param checkpointFiles that it names
 * @param uploadedBytes of it, of files that no earlier one had
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
    long checkpointBytes,
    int checkpointFiles,
    long uploadedBytes) {}
