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
   * 1 MiB of memory with pages of 4 KiB. The log gets half of the memory, so larger state is mostly
   * on disk. In {@link #backend} all state is on disk before each access, even if it is small.
   */
  TINY,
  /** All state stays in memory, and timers are on the heap. */
  HEAP_TIMERS,
  /** Like {@link #ROOMY}, with incremental checkpoints. */
  ROOMY_INCREMENTAL,
  /** Like {@link #TINY}, with incremental checkpoints. */
  TINY_INCREMENTAL;

  /**
   * The page size in tests, which is not an option of the backend. By default it is the stores'
   * own.
   */
  public static final ConfigOption<MemorySize> PAGE_SIZE =
      ConfigOptions.key("test.page-size")
          .memoryType()
          .defaultValue(new MemorySize(FasterSettings.PAGE_BYTES));

  /** The backend's settings with the page size of tests. */
  public static FasterSettings settings(ReadableConfig config) {
    return FasterSettings.from(config).withPages((int) config.get(PAGE_SIZE).getBytes());
  }

  /**
   * A backend with these stores. With tiny stores, nearly every access finds its records on disk.
   */
  public ConfigurableStateBackend backend() {
    return isTiny()
        ? new EvictingStateBackend(config())
        : new FasterStateBackend().configure(config(), TestSettings.class.getClassLoader());
  }

  /** Whether these are the tiny stores. */
  public boolean isTiny() {
    return this == TINY || this == TINY_INCREMENTAL;
  }

  /** The configuration of these stores. */
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
