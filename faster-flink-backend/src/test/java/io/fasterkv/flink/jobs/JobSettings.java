package io.fasterkv.flink.jobs;

import io.fasterkv.flink.FasterStateBackendFactory;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.backend.EvictingBackendFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.StateBackendFactory;

/** How a job stores and checkpoints its state, set only by configuration, as users do. */
enum JobSettings {
  /** All state in memory, in full checkpoints. */
  FULL(FasterStateBackendFactory.class, TestSettings.ROOMY, false),
  /** All state on disk before each access, in incremental checkpoints. */
  INCREMENTAL(EvictingBackendFactory.class, TestSettings.TINY, true),
  /** Like {@link #INCREMENTAL}, with many parts of checkpoints merged into one file by Flink. */
  FILE_MERGING(EvictingBackendFactory.class, TestSettings.TINY, true),
  /** Flink's changelog on top, which requests checkpoints of its own. */
  CHANGELOG(FasterStateBackendFactory.class, TestSettings.TINY, true);

  private final Class<? extends StateBackendFactory<?>> backend;
  private final TestSettings store;
  private final boolean isIncremental;

  JobSettings(
      Class<? extends StateBackendFactory<?>> backend, TestSettings store, boolean isIncremental) {
    this.backend = backend;
    this.store = store;
    this.isIncremental = isIncremental;
  }

  /** That many, which differ from run to run; a test's name says which. */
  static List<JobSettings> some(int count) {
    List<JobSettings> all = new ArrayList<>(List.of(values()));
    Collections.shuffle(all);
    return all.subList(0, count);
  }

  /** The configuration of a job whose checkpoints are below {@code directory}. */
  Configuration config(Path directory) {
    Configuration config = store.config();
    config.set(StateBackendOptions.STATE_BACKEND, backend.getName());
    config.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        directory.resolve("checkpoints").toUri().toString());
    config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, isIncremental);
    config.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    config.setString("execution.checkpointing.interval", "50 ms");
    // With any backend, one failover in some hundred leaves Flink 2.3 with a checkpoint that it
    // never triggers: see docs/FLINK.md, Troubleshooting.
    config.setString("execution.checkpointing.timeout", "20 s");
    config.setString("restart-strategy.type", "fixed-delay");
    config.setString("restart-strategy.fixed-delay.attempts", "1000");
    config.setString("restart-strategy.fixed-delay.delay", "1 ms");
    if (this == FILE_MERGING) {
      config.setString("execution.checkpointing.file-merging.enabled", "true");
      config.setString("execution.checkpointing.file-merging.across-checkpoint-boundary", "true");
    }
    if (this == CHANGELOG) {
      config.setString("state.changelog.enabled", "true");
      config.setString("state.changelog.storage", "filesystem");
      config.setString("state.changelog.dstl.dfs.base-path", directory.resolve("dstl").toString());
      config.setString("state.changelog.periodic-materialize.interval", "150 ms");
    }
    return config;
  }
}
