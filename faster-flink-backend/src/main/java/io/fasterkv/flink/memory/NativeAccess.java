package io.fasterkv.flink.memory;

import java.lang.foreign.MemorySegment;

/**
 * Native access of the JVM, which stores use where it is there: memory that is mapped and can be
 * given back in part, huge pages, reads of mapped files (decision 0048). Flink starts its JVMs
 * without the flag for it.
 */
public final class NativeAccess {
  private NativeAccess() {}

  /**
   * Asks for it as the load of a native library does, with the same warning of the JVM the first
   * time. Where it is not given, stores say what they go without. To be called before a store is
   * opened, by a process that has one; safe for all threads.
   */
  public static void ask() {
    boolean isLinux = System.getProperty("os.name", "").equals("Linux");
    if (isLinux && !NativeAccess.class.getModule().isNativeAccessEnabled()) {
      callWhatIsRestricted();
    }
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
