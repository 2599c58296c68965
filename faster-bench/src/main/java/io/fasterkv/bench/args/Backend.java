package io.fasterkv.bench.args;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Where Flink keeps keyed state. */
public enum Backend {
  /** This project's store. */
  FASTER("io.fasterkv.flink.FasterStateBackendFactory", true),
  /** Objects on the JVM's heap. */
  HASHMAP("hashmap", false),
  /** RocksDB through JNI. */
  ROCKSDB("rocksdb", true);

  private final String type;
  private final boolean managedMemory;

  Backend(String type, boolean managedMemory) {
    this.type = type;
    this.managedMemory = managedMemory;
  }

  /** Returns what Flink's {@code state.backend.type} is set to. */
  public String type() {
    return type;
  }

  /** Says whether the state is in Flink's managed memory, so that a budget applies. */
  public boolean usesManagedMemory() {
    return managedMemory;
  }

  public static Optional<Backend> named(String name) {
    return Arrays.stream(values()).filter(b -> b.toString().equals(name)).findFirst();
  }

  /** Returns all names, as an error message lists them. */
  public static String names() {
    return Arrays.stream(values()).map(Backend::toString).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
