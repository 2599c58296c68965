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
      // The JVM was told to deny access; the line that the store logs names the flag.
    }
  }
}
