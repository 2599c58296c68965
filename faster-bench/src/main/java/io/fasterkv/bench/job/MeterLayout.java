package io.fasterkv.bench.job;

/**
 * Where things are in the file of a {@link JobMeter}, in bytes from its start. Each is a long in
 * the byte order of this machine. Counters that a task writes often are 128 bytes apart, on
 * different cache lines. The rest is written seldom, or by atomic additions.
 *
 * <pre>
 *   128              when the pace began, 0 before
 *   128              how many readers have started, those of all attempts
 *   128 a reader     events emitted
 *   128 a sink       when it ended, 0 before | rows added | rows removed | sum of hashes
 *   8 a failure      when a task failed as planned, 0 before
 *   8 a start        when a reader started, 0 before
 *   8 a bucket       latencies counted, see {@link LatencyBuckets}
 * </pre>
 *
 * <p>Moments are those of {@link System#nanoTime}. On Linux it is the system's monotonic clock,
 * which all processes share.
 *
 * @param tasks readers of the source, and the most tasks that the sink has
 * @param failures how many are planned
 */
record MeterLayout(int tasks, int failures) {
  private static final long LINE = 128;

  long paceBegin() {
    return 0;
  }

  long startCount() {
    return LINE;
  }

  long emitted(int reader) {
    return (2 + reader) * LINE;
  }

  /** When a task of the sink ended. */
  long ended(int subtask) {
    return emitted(tasks + subtask);
  }

  long added(int subtask) {
    return ended(subtask) + Long.BYTES;
  }

  long removed(int subtask) {
    return ended(subtask) + 2 * Long.BYTES;
  }

  long sum(int subtask) {
    return ended(subtask) + 3 * Long.BYTES;
  }

  long failed(int failure) {
    return ended(tasks) + (long) failure * Long.BYTES;
  }

  /** How many starts of readers there is space for: those of all attempts. */
  int starts() {
    return tasks * (failures + 1);
  }

  long started(int start) {
    return failed(failures + start);
  }

  long latency(int bucket) {
    return started(starts() + bucket);
  }

  /** The size of the file. */
  long bytes() {
    return latency(LatencyBuckets.COUNT);
  }
}
