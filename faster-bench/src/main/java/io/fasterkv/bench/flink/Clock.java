package io.fasterkv.bench.flink;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What the time of a slice is. */
enum Clock {
  /** What passes on the wall. */
  wall,
  /** What the calling thread has of a processor, for machines that others use too. */
  cpu;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  long nanos() {
    return this == wall ? System.nanoTime() : THREADS.getCurrentThreadCpuTime();
  }
}
