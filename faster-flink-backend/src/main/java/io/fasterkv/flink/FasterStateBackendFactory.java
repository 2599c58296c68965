package io.fasterkv.flink;

import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;

/**
 * What a configuration names: {@code state.backend.type:
 * io.fasterkv.flink.FasterStateBackendFactory}. The options are those of {@link
 * io.fasterkv.flink.config.FasterOptions}.
 */
public final class FasterStateBackendFactory implements StateBackendFactory<FasterStateBackend> {

  /** For Flink, which makes the factory by reflection. */
  public FasterStateBackendFactory() {}

  /**
   * Makes a backend with the settings of a configuration.
   *
   * @throws IllegalConfigurationException if an option is out of range; the message names it
   */
  @Override
  public FasterStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
    return new FasterStateBackend().configure(config, classLoader);
  }
}
