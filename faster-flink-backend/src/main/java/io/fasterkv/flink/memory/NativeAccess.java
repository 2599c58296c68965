package io.fasterkv.flink.memory;

import java.lang.foreign.MemorySegment;

/**
 * Native access of the JVM, which stores use where it is there: memory that is mapped and can be
 * given back in part, huge pages, io_uring, reads of mapped files (decision 0048). Flink starts its
 * JVMs without the flag for it.
 */
public final class NativeAccess {
  private static final String YARN_CONTAINER = "CONTAINER_ID";
  private static final String YARN_PREFIX = "container_";

  private NativeAccess() {}

  /**
   * Asks for it as the load of a native library does, with the same warning of the JVM the first
   * time. Where it is denied, stores say what they go without. YARN may end a container for mapped
   * pages of files, so there only the flag gives it. To be called before a store is opened, by a
   * process that has one; safe for all threads.
   */
  public static void ask() {
    if (!NativeAccess.class.getModule().isNativeAccessEnabled() && isWanted()) {
      callWhatIsRestricted();
    }
  }

  private static boolean isWanted() {
    String container = System.getenv(YARN_CONTAINER);
    boolean isYarn = container != null && container.startsWith(YARN_PREFIX);
    return !isYarn && System.getProperty("os.name", "").equals("Linux");
  }

  @SuppressWarnings("restricted")
  private static void callWhatIsRestricted() {
    try {
      MemorySegment.NULL.reinterpret(0);
    } catch (IllegalCallerException denied) {
      // The JVM was told to; the store's own line names the flag.
    }
  }
}
