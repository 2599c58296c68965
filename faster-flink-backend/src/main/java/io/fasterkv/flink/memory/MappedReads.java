package io.fasterkv.flink.memory;

import org.jspecify.annotations.Nullable;

/**
 * Decides whether stores read from mapped files. The system owns the pages of a mapped file and
 * reclaims them when it needs memory. But they count as resident memory of the process, and YARN
 * ends a container by that number (decision 0048).
 */
public final class MappedReads {
  private static final String YARN_CONTAINER = "CONTAINER_ID";
  private static final String YARN_PREFIX = "container_";

  private MappedReads() {}

  /**
   * The configured value; by default true except under YARN, whose NodeManager names the container
   * to its processes.
   */
  public static boolean areWanted(@Nullable Boolean configured) {
    if (configured != null) {
      return configured;
    }
    String container = System.getenv(YARN_CONTAINER);
    return container == null || !container.startsWith(YARN_PREFIX);
  }
}
