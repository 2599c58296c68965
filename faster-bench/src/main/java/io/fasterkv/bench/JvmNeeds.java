package io.fasterkv.bench;

import java.util.List;

/** A command whose JVM depends on its arguments. */
public interface JvmNeeds {
  /** Options for the JVM that runs the command. */
  List<String> jvmOptions();

  /** Options for a JVM with so many bytes of heap on top of what any program needs. */
  static List<String> heap(long bytes) {
    return List.of("-Xmx" + (JvmOptions.BASE_MIB + (bytes >> 20)) + "m");
  }
}
