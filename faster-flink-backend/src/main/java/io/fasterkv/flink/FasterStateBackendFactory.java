package io.fasterkv.flink;

import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;

/**
 * Creates backends by configuration: {@code state.backend.type:
 * io.fasterkv.flink.FasterStateBackendFactory}. {@link io.fasterkv.flink.config.FasterOptions} has
 * the options.
 */
public final class FasterStateBackendFactory implements StateBackendFactory<FasterStateBackend> {

  /** Called by Flink by reflection. */
  public FasterStateBackendFactory() {}

  /**
   * Creates a backend with the settings of a configuration.
   *
   * @throws IllegalConfigurationException if an option is out of range; the message names it
   */
  @Override
  public FasterStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
    return new FasterStateBackend().configure(config, classLoader);
  }
}
