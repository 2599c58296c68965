package io.fasterkv.bench.job;

import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.CheckpointingMode;

/** Flink's settings for a run, the same for all backends. */
final class JobSettings {
  private static final String LOOPBACK = "127.0.0.1";
  private static final int REMEMBERED_CHECKPOINTS = 100_000;
  private static final Duration RESTART_DELAY = Duration.ofMillis(1);

  private JobSettings() {}

  /** Checkpoints of the run below its directory. */
  static Path checkpoints(Path directory) {
    return directory.resolve("checkpoints");
  }

  /** Settings of a cluster with one task manager, and of its job. */
  static Configuration of(JobPlan plan, Path directory) {
    Configuration c = new Configuration();
    c.set(
        StateBackendOptions.STATE_BACKEND,
        plan.isWrong() ? FaultyBackend.Factory.class.getName() : plan.backend().type());
    c.set(FaultyBackend.RIGHT, plan.backend().type());
    c.setString("state.backend.forst.primary-dir", "local-dir");
    c.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, new MemorySize(plan.memoryBytes()));
    c.set(TaskManagerOptions.NUM_TASK_SLOTS, plan.parallelism());
    c.set(CoreOptions.DEFAULT_PARALLELISM, plan.parallelism());
    c.set(PipelineOptions.OBJECT_REUSE, true);

    c.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(plan.checkpointMillis()));
    c.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
    c.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    c.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, "file://" + checkpoints(directory));
    c.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    c.set(WebOptions.CHECKPOINTS_HISTORY_SIZE, REMEMBERED_CHECKPOINTS);

    c.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    c.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, plan.failures().size());
    c.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_DELAY);

    c.set(CoreOptions.TMP_DIRS, directory.resolve("tmp").toString());
    c.set(RestOptions.BIND_PORT, "0");
    c.set(RestOptions.ADDRESS, LOOPBACK);
    c.set(RestOptions.BIND_ADDRESS, LOOPBACK);
    c.set(JobManagerOptions.BIND_HOST, LOOPBACK);
    c.set(TaskManagerOptions.BIND_HOST, LOOPBACK);
    return c;
  }
}
