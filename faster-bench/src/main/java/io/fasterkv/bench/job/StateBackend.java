package io.fasterkv.bench.job;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Where a job keeps its state. */
public enum StateBackend {
  /** This project's store. */
  FASTER("io.fasterkv.flink.FasterStateBackendFactory"),
  /** Objects on the JVM's heap. */
  HASHMAP("hashmap"),
  /** RocksDB through JNI. */
  ROCKSDB("rocksdb"),
  /**
   * Flink's fork of RocksDB for disaggregated state, here with local files and synchronous calls.
   */
  FORST("forst");

  private final String type;

  StateBackend(String type) {
    this.type = type;
  }

  /** What Flink's {@code state.backend.type} is set to. */
  String type() {
    return type;
  }

  /** The backend of a name, in lower case. */
  public static Optional<StateBackend> named(String name) {
    return Arrays.stream(values()).filter(b -> b.toString().equals(name)).findFirst();
  }

  /** All names, as an error message lists them. */
  public static String names() {
    return Arrays.stream(values()).map(StateBackend::toString).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
