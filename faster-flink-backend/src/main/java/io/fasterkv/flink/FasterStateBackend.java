package io.fasterkv.flink;

import io.fasterkv.flink.backend.FasterKeyedStateBackendBuilder;
import io.fasterkv.flink.backend.Tracking;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.config.UnknownOptions;
import java.io.IOException;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.AbstractManagedMemoryStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.OperatorStateBackend;

/**
 * Keeps keyed state in FASTER stores, one for each subtask of a stateful operator: a hybrid log
 * whose newest part is in off-heap memory and whose rest is on local disk. The memory is leased
 * from the slot's managed memory. Operator state is on the heap, as with Flink's other backends.
 *
 * <p>Named in a configuration through {@link FasterStateBackendFactory}. Immutable after {@link
 * #configure}; safe for use by all threads.
 */
public final class FasterStateBackend extends AbstractManagedMemoryStateBackend
    implements ConfigurableStateBackend {
  private static final long serialVersionUID = 1L;

  /** What the configuration says; the defaults where it says nothing. */
  private final FasterSettings settings;

  /** A backend with default settings. */
  public FasterStateBackend() {
    this(FasterSettings.defaults());
  }

  private FasterStateBackend(FasterSettings settings) {
    this.settings = settings;
  }

  /**
   * A backend with the settings of a configuration. Keys that name no option are logged.
   *
   * @throws IllegalConfigurationException if an option is out of range; the message names it
   */
  @Override
  public FasterStateBackend configure(ReadableConfig config, ClassLoader classLoader) {
    UnknownOptions.warn(config);
    FasterStateBackend configured = new FasterStateBackend(FasterSettings.from(config));
    configured.latencyTrackingConfigBuilder = latencyTrackingConfigBuilder.configure(config);
    configured.sizeTrackingConfigBuilder = sizeTrackingConfigBuilder.configure(config);
    return configured;
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
            getCompressionDecorator(parameters.getEnv().getExecutionConfig()))
        .build();
  }

  @Override
  public OperatorStateBackend createOperatorStateBackend(OperatorStateBackendParameters parameters)
      throws IOException {
    return new DefaultOperatorStateBackendBuilder(
            parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
            parameters.getEnv().getExecutionConfig(),
            true,
            parameters.getStateHandles(),
            parameters.getCancelStreamRegistry())
        .build();
  }

  /** True unless the memory of stores, or of all stores of a slot, has a fixed size. */
  @Override
  public boolean useManagedMemory() {
    return settings.fixedMemoryBytes() == 0 && settings.fixedSlotBytes() == 0;
  }

  /** True: a checkpoint that may not refer to files of earlier ones uploads all of its files. */
  @Override
  public boolean supportsNoClaimRestoreMode() {
    return true;
  }

  /**
   * True for both formats. With incremental checkpoints a native savepoint is the log; with full
   * ones it has the canonical format.
   */
  @Override
  public boolean supportsSavepointFormat(SavepointFormatType formatType) {
    return true;
  }

  @Override
  public String toString() {
    return "FasterStateBackend" + settings;
  }
}
