package io.fasterkv.bench.job;

import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.io.Serializable;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;

/** A job that reads events and has a result; its text is its name in arguments and reports. */
@JsonSerialize(using = ToStringSerializer.class)
public interface BenchJob extends Serializable {
  /** Says whether its speed depends on state, so that it counts for means. */
  boolean isStateful();

  /** Says whether its result is the same in every run: windows of processing time are not. */
  boolean isRepeatable();

  /** The job of a run, with these settings of the cluster and the job. */
  JobGraph graph(JobMeter meter, Configuration settings);
}
