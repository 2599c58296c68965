package io.fasterkv.flink.memory;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The heap of the C library, from which stores have their memory if the JVM may not map it for
 * them. What is freed there stays with the process, and with the threads that had it: jobs that
 * start again and again would take more and more.
 */
public final class NativeHeap {
  private static final Logger LOG = LoggerFactory.getLogger(NativeHeap.class);
  private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";
  private static final String TRIM = "systemTrimNativeHeap";

  private NativeHeap() {}

  /**
   * Gives what is free back to the system, as {@code jcmd System.trim_native_heap} does; in less
   * than a millisecond if that is nothing. Does nothing where the JVM has no such command.
   */
  public static void trim() {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      Object told = server.invoke(new ObjectName(COMMANDS), TRIM, new Object[0], new String[0]);
      LOG.debug("memory of a closed store: {}", told);
    } catch (JMException | RuntimeException cause) {
      LOG.debug("memory of a closed store stays with the C library", cause);
    }
  }
}
