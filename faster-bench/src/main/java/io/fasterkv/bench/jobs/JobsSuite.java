package io.fasterkv.bench.jobs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobSuite;
import java.util.List;

/** The DataStream jobs. */
public final class JobsSuite implements JobSuite {
  /** Also created by the processes of runs. */
  public JobsSuite() {}

  @Override
  public String name() {
    return "jobs";
  }

  @Override
  public String jobTitle() {
    return "job";
  }

  @Override
  public List<? extends BenchJob> jobs() {
    return List.of(StreamJob.values());
  }
}
