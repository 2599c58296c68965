package io.fasterkv.cluster.evolve;

import io.fasterkv.cluster.job.CountingJob;
import io.fasterkv.cluster.job.CountingPlan;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The counting job, with its counts in objects that Flink and Avro serialize. */
public final class EvolvingJob {
  private EvolvingJob() {}

  /** Adds the job to an environment. */
  public static void build(StreamExecutionEnvironment env, CountingPlan plan) {
    CountingJob.build(env, plan, new Evolve());
  }
}
