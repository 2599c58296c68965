package io.fasterkv.bench.args;

import java.util.List;

/** A command whose JVM depends on its arguments. */
public interface JvmNeeds {
  /** What any program needs. */
  long BASE_MIB = 512;

  /** Options for the JVM that runs the command. */
  List<String> jvmOptions();

  /** Options for a JVM with this many bytes of heap in addition to what any program needs. */
  static List<String> heap(long bytes) {
    return List.of("-Xmx" + (BASE_MIB + (bytes >> 20)) + "m");
  }
}
