package io.fasterkv.bench.start;

import io.fasterkv.bench.args.Backend;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** What starts. */
enum Subject {
  /** This project's store. */
  STORE,
  /** A map of the JDK. */
  MAP,
  /** This project's backend. */
  FASTER,
  /** Flink's heap backend. */
  HASHMAP,
  /** Flink's RocksDB backend. */
  ROCKSDB;

  /** Its steps, in an empty directory. */
  Steps steps(StartPlan plan, Path directory) {
    return switch (this) {
      case STORE -> new StoreSteps(plan, directory);
      case MAP -> new MapSteps(plan);
      case FASTER -> new BackendSteps(plan, Backend.FASTER, directory);
      case HASHMAP -> new BackendSteps(plan, Backend.HASHMAP, directory);
      case ROCKSDB -> new BackendSteps(plan, Backend.ROCKSDB, directory);
    };
  }

  /** The baseline without files or a budget: a map for the store, the heap for a backend. */
  Subject onHeap() {
    return isBackend() ? HASHMAP : MAP;
  }

  boolean isBackend() {
    return this != STORE && this != MAP;
  }

  static Optional<Subject> named(String name) {
    return Arrays.stream(values()).filter(s -> s.toString().equals(name)).findFirst();
  }

  /** All names, as an error message lists them. */
  static String names() {
    return Arrays.stream(values()).map(Subject::toString).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
