package io.fasterkv.demo;

import io.fasterkv.demo.job.StoreReporter;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.CheckpointingMode;

/** Flink's settings for the demo: one task manager, all files in the run's directory. */
final class ClusterSettings {
  /** How many key groups there are, and so the highest parallelism. */
  static final int MAX_PARALLELISM = 128;

  /** The demo cannot be reached from another machine. */
  static final String LOOPBACK = "127.0.0.1";

  private static final String REPORTER = "demo";
  private static final int ALLOWED_RESTARTS = 3;
  private static final Duration RESTART_DELAY = Duration.ofMillis(200);
  private static final int REMEMBERED_CHECKPOINTS = 100_000;

  private ClusterSettings() {}

  /** Returns a directory of the run as a URL for Flink; nothing in it is encoded. */
  static String url(Path run, String name) {
    return "file://" + run.resolve(name);
  }

  /**
   * Returns the settings of a cluster and its job.
   *
   * @param run the run's directory; its name names the run
   * @param parallelism 1 to {@value #MAX_PARALLELISM}
   */
  static Configuration of(DemoOptions options, Path run, int parallelism) {
    Configuration c = new Configuration();
    c.set(StateBackendOptions.STATE_BACKEND, options.backend.backend().type());
    c.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, options.memory);
    c.set(TaskManagerOptions.NUM_TASK_SLOTS, parallelism);
    c.set(CoreOptions.DEFAULT_PARALLELISM, parallelism);
    c.set(PipelineOptions.MAX_PARALLELISM, MAX_PARALLELISM);
    // The functions neither keep nor change elements, and no state is serialized by Kryo.
    c.set(PipelineOptions.OBJECT_REUSE, true);
    c.set(PipelineOptions.GENERIC_TYPES, false);

    c.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, options.checkpointInterval);
    c.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
    c.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    c.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, url(run, "checkpoints"));
    c.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    c.set(WebOptions.CHECKPOINTS_HISTORY_SIZE, REMEMBERED_CHECKPOINTS);

    c.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    c.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, ALLOWED_RESTARTS);
    c.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_DELAY);

    Configuration reporter = MetricOptions.forReporter(c, REPORTER);
    reporter.set(MetricOptions.REPORTER_FACTORY_CLASS, StoreReporter.Factory.class.getName());
    reporter.setString(StoreReporter.RUN_ID, String.valueOf(run.getFileName()));
    c.set(MetricOptions.REPORTERS_LIST, REPORTER);

    c.set(CoreOptions.TMP_DIRS, run.resolve("tmp").toString());
    c.set(RestOptions.BIND_PORT, "0");
    c.set(RestOptions.ADDRESS, LOOPBACK);
    c.set(RestOptions.BIND_ADDRESS, LOOPBACK);
    c.set(JobManagerOptions.BIND_HOST, LOOPBACK);
    c.set(TaskManagerOptions.BIND_HOST, LOOPBACK);
    return c;
  }
}
