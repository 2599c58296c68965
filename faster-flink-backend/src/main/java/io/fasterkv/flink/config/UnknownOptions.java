package io.fasterkv.flink.config;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds configuration keys with the backend's prefix that name no option, so that misspelled keys
 * are reported. Safe for use by all threads.
 */
public final class UnknownOptions {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownOptions.class);
  private static final String PREFIX = "state.backend.faster.";

  /** Keys that were reported. Each subtask reads the configuration, but one line is enough. */
  private static final Set<String> REPORTED = ConcurrentHashMap.newKeySet();

  private UnknownOptions() {}

  /** Logs one warning for each unknown key, once per process. */
  public static void warn(ReadableConfig config) {
    for (String key : in(config)) {
      if (REPORTED.add(key)) {
        LOG.warn(
            "an option is unknown and has no effect: {}={}, known={}; correct or remove it",
            key,
            config.toMap().get(key),
            known());
      }
    }
  }

  /** The unknown keys, sorted. */
  static List<String> in(ReadableConfig config) {
    Set<String> known = known();
    return config.toMap().keySet().stream()
        .filter(key -> key.startsWith(PREFIX) && !known.contains(key))
        .sorted()
        .toList();
  }

  /** The keys of all options, sorted. */
  static Set<String> known() {
    Set<String> keys = new TreeSet<>();
    Stream.of(FasterOptions.class.getFields())
        .filter(field -> field.getType() == ConfigOption.class)
        .forEach(field -> keys.add(key(field)));
    return keys;
  }

  private static String key(Field option) {
    try {
      return ((ConfigOption<?>) option.get(null)).key();
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("an option is not public: field=" + option, e);
    }
  }
}
