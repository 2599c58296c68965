package io.fasterkv.bench.nexmark;

import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.nexmark.sql.Query;
import java.util.List;

/** The queries of Nexmark. */
public final class NexmarkSuite implements JobSuite {
  /** Also created by the processes of runs. */
  public NexmarkSuite() {}

  @Override
  public String name() {
    return "nexmark";
  }

  @Override
  public String jobTitle() {
    return "query";
  }

  @Override
  public List<Query> jobs() {
    return List.of(Query.values());
  }
}
