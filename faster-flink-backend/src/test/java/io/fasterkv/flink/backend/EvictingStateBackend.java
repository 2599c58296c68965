package io.fasterkv.flink.backend;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.FasterStateBackend;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.records.EvictingRecords;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.map.EntryLife;
import io.fasterkv.flink.records.write.StateRecords;
import java.io.IOException;
import java.util.function.IntFunction;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.jspecify.annotations.Nullable;

/** The backend on {@link EvictingRecords}: each access finds its records on disk. */
public final class EvictingStateBackend extends AbstractStateBackend
    implements ConfigurableStateBackend {
  private static final long serialVersionUID = 1L;

  /** Evictions are rare, since the log must stay short enough for checkpoints in memory. */
  private static final int THEN_EVERY = 1_000;

  private final FasterSettings settings;

  public EvictingStateBackend(ReadableConfig config) {
    settings = TestSettings.settings(config);
  }

  @Override
  public EvictingStateBackend configure(ReadableConfig config, ClassLoader classLoader) {
    EvictingStateBackend configured = new EvictingStateBackend(config);
    configured.latencyTrackingConfigBuilder = latencyTrackingConfigBuilder.configure(config);
    configured.sizeTrackingConfigBuilder = sizeTrackingConfigBuilder.configure(config);
    return configured;
  }

  @Override
  public boolean supportsNoClaimRestoreMode() {
    return new FasterStateBackend().supportsNoClaimRestoreMode();
  }

  @Override
  public boolean supportsSavepointFormat(SavepointFormatType format) {
    return new FasterStateBackend().supportsSavepointFormat(format);
  }

  @Override
  public <K> AbstractKeyedStateBackend<K> createKeyedStateBackend(
      KeyedStateBackendParameters<K> parameters) throws BackendBuildingException {
    Tracking tracking =
        new Tracking(
            latencyTrackingConfigBuilder.setMetricGroup(parameters.getMetricGroup()).build(),
            sizeTrackingConfigBuilder.setMetricGroup(parameters.getMetricGroup()).build());
    return new FasterKeyedStateBackendBuilder<>(
        parameters,
        settings,
        tracking,
        getCompressionDecorator(parameters.getEnv().getExecutionConfig())) {
      @Override
      StateRecords openRecords(
          FasterStore store,
          ValueIncarnations incarnations,
          IntFunction<@Nullable EntryLife> lives) {
        return EvictingRecords.open(store, incarnations, lives, THEN_EVERY);
      }
    }.build();
  }

  @Override
  public OperatorStateBackend createOperatorStateBackend(OperatorStateBackendParameters parameters)
      throws IOException {
    return new FasterStateBackend().createOperatorStateBackend(parameters);
  }
}
