package io.fasterkv.flink.memory;

import java.lang.foreign.MemorySegment;

/**
 * Requests the JVM's native access, which stores use if they have it, for mapped memory that can be
 * given back in part, huge pages, and reads of mapped files (decision 0048). Flink starts its JVMs
 * without the flag for it.
 */
public final class NativeAccess {
  private NativeAccess() {}

  /**
   * Requests native access as loading a native library does, with the JVM's usual warning the first
   * time. If it is denied, stores log what they do without. Must be called before the process opens
   * a store. Safe for all threads.
   */
  public static void request() {
    if (isLinux() && !NativeAccess.class.getModule().isNativeAccessEnabled()) {
      callWhatIsRestricted();
    }
  }

  /** Whether logs can return part of their memory while their stores are open. */
  static boolean isGranted() {
    return isLinux() && NativeAccess.class.getModule().isNativeAccessEnabled();
  }

  private static boolean isLinux() {
    return System.getProperty("os.name", "").equals("Linux");
  }

  @SuppressWarnings("restricted")
  private static void callWhatIsRestricted() {
    try {
      MemorySegment.NULL.reinterpret(0);
    } catch (IllegalCallerException denied) {
      // The JVM was told to deny access; the line that the store logs names the flag.
    }
  }
}
