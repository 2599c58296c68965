package io.fasterkv.flink.backend;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;

/** Creates {@link EvictingStateBackend} from the configuration of a job. */
public final class EvictingBackendFactory implements StateBackendFactory<EvictingStateBackend> {
  /** Flink calls this constructor by reflection. */
  public EvictingBackendFactory() {}

  @Override
  public EvictingStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
    return new EvictingStateBackend(config).configure(config, classLoader);
  }
}
