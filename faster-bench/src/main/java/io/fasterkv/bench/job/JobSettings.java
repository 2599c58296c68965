package io.fasterkv.bench.job;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
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
  static final String LOOPBACK = "127.0.0.1";
  private static final int REMEMBERED_CHECKPOINTS = 100_000;
  private static final Duration RESTART_DELAY = Duration.ofMillis(1);
  private static final int MOST_TASK_MANAGERS = 2;
  private static final MemorySize NETWORK = MemorySize.ofMebiBytes(64);
  private static final MemorySize ANY = MemorySize.ofMebiBytes(64);

  /** Flink needs sizes, but options of the JVM are what counts. */
  private static final List<ConfigOption<MemorySize>> WITHOUT_EFFECT =
      List.of(
          TaskManagerOptions.FRAMEWORK_HEAP_MEMORY,
          TaskManagerOptions.FRAMEWORK_OFF_HEAP_MEMORY,
          TaskManagerOptions.TASK_HEAP_MEMORY,
          TaskManagerOptions.TASK_OFF_HEAP_MEMORY,
          TaskManagerOptions.JVM_METASPACE,
          TaskManagerOptions.JVM_OVERHEAD_MIN,
          TaskManagerOptions.JVM_OVERHEAD_MAX);

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
    c.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, new MemorySize(plan.cluster().memoryBytes()));
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

  /** How many task managers a cluster of processes has. */
  static int taskManagers(JobPlan plan) {
    return Math.min(MOST_TASK_MANAGERS, plan.parallelism());
  }

  /**
   * Settings of a cluster of processes. A slot has as much managed memory and a task manager as
   * much network memory as in a cluster in one process.
   *
   * @param settings of a cluster in one process
   * @param rpcPort of the job manager
   * @param restPort of the job manager
   */
  static Configuration ofProcesses(
      JobPlan plan, Configuration settings, int rpcPort, int restPort) {
    int slots = Math.ceilDiv(plan.parallelism(), taskManagers(plan));
    long managed = plan.cluster().memoryBytes() / plan.parallelism() * slots;
    Configuration c = new Configuration(settings);
    c.set(JobManagerOptions.ADDRESS, LOOPBACK);
    c.set(JobManagerOptions.PORT, rpcPort);
    c.set(RestOptions.PORT, restPort);
    c.set(RestOptions.BIND_PORT, Integer.toString(restPort));
    c.set(TaskManagerOptions.HOST, LOOPBACK);
    c.set(TaskManagerOptions.NUM_TASK_SLOTS, slots);
    c.set(TaskManagerOptions.CPU_CORES, (double) slots);
    c.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, new MemorySize(managed));
    c.set(TaskManagerOptions.NETWORK_MEMORY_MIN, NETWORK);
    c.set(TaskManagerOptions.NETWORK_MEMORY_MAX, NETWORK);
    for (ConfigOption<MemorySize> required : WITHOUT_EFFECT) {
      c.set(required, ANY);
    }
    return c;
  }
}
