package io.fasterkv.bench.job;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;

/** A job for plans of tests that run none. */
enum TestJob implements BenchJob {
  NONE;

  @Override
  public boolean isStateful() {
    return false;
  }

  @Override
  public boolean isRepeatable() {
    return true;
  }

  @Override
  public JobGraph graph(JobMeter meter, Configuration settings) {
    throw new UnsupportedOperationException("this job is not run");
  }
}
