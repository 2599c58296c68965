package io.fasterkv.bench.flink;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** How the time of a slice is measured. */
enum Clock {
  /** Elapsed time. */
  wall,
  /** Processor time of the calling thread, for machines that others use too. */
  cpu;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  long nanos() {
    return this == wall ? System.nanoTime() : THREADS.getCurrentThreadCpuTime();
  }
}
