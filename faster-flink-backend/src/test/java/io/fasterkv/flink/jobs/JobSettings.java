package io.fasterkv.flink.jobs;

import io.fasterkv.flink.FasterStateBackendFactory;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateBackendOptions;

/** How a job keeps and checkpoints its state: all by configuration, as users do. */
enum JobSettings {
  /** All state in memory, in full checkpoints. */
  FULL(TestSettings.ROOMY, false, false),
  /** Nearly all state on disk, in incremental checkpoints. */
  INCREMENTAL(TestSettings.TINY, true, false),
  /** Flink's changelog above, which asks for checkpoints of its own. */
  CHANGELOG(TestSettings.TINY, true, true);

  private final TestSettings store;
  private final boolean isIncremental;
  private final boolean hasChangelog;

  JobSettings(TestSettings store, boolean isIncremental, boolean hasChangelog) {
    this.store = store;
    this.isIncremental = isIncremental;
    this.hasChangelog = hasChangelog;
  }

  /** The configuration of a job whose checkpoints are below {@code directory}. */
  Configuration config(Path directory) {
    Configuration config = store.config();
    config.set(StateBackendOptions.STATE_BACKEND, FasterStateBackendFactory.class.getName());
    config.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        directory.resolve("checkpoints").toUri().toString());
    config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, isIncremental);
    config.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    config.setString("execution.checkpointing.interval", "50 ms");
    config.setString("restart-strategy.type", "fixed-delay");
    config.setString("restart-strategy.fixed-delay.attempts", "1000");
    config.setString("restart-strategy.fixed-delay.delay", "1 ms");
    if (hasChangelog) {
      config.setString("state.changelog.enabled", "true");
      config.setString("state.changelog.storage", "filesystem");
      config.setString("state.changelog.dstl.dfs.base-path", directory.resolve("dstl").toString());
      config.setString("state.changelog.periodic-materialize.interval", "150 ms");
    }
    return config;
  }
}
