package io.fasterkv.flink;

import io.fasterkv.flink.backend.EvictingStateBackend;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.config.TimerPlace;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.ConfigurableStateBackend;

/** The stores that suites run on. */
public enum TestSettings {
  /** Memory leased from the test environment's slot. */
  MANAGED,
  /** All state stays in memory. */
  ROOMY,
  /**
   * 1 MiB of memory in pages of 4 KiB; half of that is the log's, so that larger state is mostly on
   * disk. In {@link #backend} it is there before each access, however small it is.
   */
  TINY,
  /** All state stays in memory, and timers are on the heap. */
  HEAP_TIMERS,
  /** As {@link #ROOMY}, with incremental checkpoints. */
  ROOMY_INCREMENTAL,
  /** As {@link #TINY}, with incremental checkpoints. */
  TINY_INCREMENTAL;

  /** Pages of tests, which are no option of the backend: by default those that all stores have. */
  public static final ConfigOption<MemorySize> PAGE_SIZE =
      ConfigOptions.key("test.page-size")
          .memoryType()
          .defaultValue(new MemorySize(FasterSettings.PAGE_BYTES));

  /** The backend's settings, with the pages of tests. */
  public static FasterSettings settings(ReadableConfig config) {
    return FasterSettings.from(config).withPages((int) config.get(PAGE_SIZE).getBytes());
  }

  /** A backend on such stores. With tiny ones nearly each access finds on disk what it asks for. */
  public ConfigurableStateBackend backend() {
    return isTiny()
        ? new EvictingStateBackend(config())
        : new FasterStateBackend().configure(config(), TestSettings.class.getClassLoader());
  }

  /** Whether these are the tiny stores. */
  public boolean isTiny() {
    return this == TINY || this == TINY_INCREMENTAL;
  }

  /** The configuration of such stores. */
  public Configuration config() {
    Configuration config = new Configuration();
    switch (this) {
      case MANAGED -> config.set(FasterOptions.MINIMUM_MEMORY, MemorySize.parse("1mb"));
      case ROOMY, ROOMY_INCREMENTAL ->
          config.set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(32));
      case HEAP_TIMERS -> {
        config.set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(32));
        config.set(FasterOptions.TIMERS, TimerPlace.HEAP);
      }
      case TINY, TINY_INCREMENTAL -> {
        config.set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(1));
        config.set(PAGE_SIZE, MemorySize.parse("4kb"));
        config.set(FasterOptions.SORT_BUFFER, MemorySize.parse("64kb"));
      }
    }
    config.set(
        CheckpointingOptions.INCREMENTAL_CHECKPOINTS,
        this == ROOMY_INCREMENTAL || this == TINY_INCREMENTAL);
    return config;
  }
}
