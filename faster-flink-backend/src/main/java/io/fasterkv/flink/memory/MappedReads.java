package io.fasterkv.flink.memory;

import org.jspecify.annotations.Nullable;

/**
 * Whether stores read what is on disk from mapped files. The pages of these are the system's, which
 * takes them back when it needs them, but count as resident memory of the process; and YARN ends a
 * container by that (decision 0048).
 */
public final class MappedReads {
  private static final String YARN_CONTAINER = "CONTAINER_ID";
  private static final String YARN_PREFIX = "container_";

  private MappedReads() {}

  /**
   * As configured, or else true outside of YARN, whose NodeManager names each container to the
   * processes in it.
   */
  public static boolean areWanted(@Nullable Boolean configured) {
    if (configured != null) {
      return configured;
    }
    String container = System.getenv(YARN_CONTAINER);
    return container == null || !container.startsWith(YARN_PREFIX);
  }
}
