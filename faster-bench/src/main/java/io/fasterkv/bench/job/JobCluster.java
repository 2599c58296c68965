package io.fasterkv.bench.job;

import java.io.IOException;
import org.apache.flink.client.program.ClusterClient;

/** A cluster that runs one job. */
interface JobCluster extends AutoCloseable {
  /** To submit the job with, and to wait for its end. */
  ClusterClient<?> client();

  /**
   * Processor time of all its processes so far, in nanoseconds.
   *
   * @throws IOException if one has ended
   */
  long cpuNanos() throws IOException;

  /** The sum of the most resident memory that each of its processes had, in bytes. */
  long peakBytes();

  @Override
  void close() throws IOException;
}
