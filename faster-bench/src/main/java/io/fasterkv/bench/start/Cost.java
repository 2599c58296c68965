package io.fasterkv.bench.start;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * What a step costs.
 *
 * @param millis of elapsed time
 * @param cpuMillis of processor time of the process
 * @param compilationMillis of elapsed time of compiler threads
 * @param classes that were loaded
 */
record Cost(String step, double millis, double cpuMillis, long compilationMillis, long classes) {
  /** What the JVM itself has cost when the program begins. */
  static final String JVM = "JVM";

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** The cost of the process so far. */
  static Cost ofJvm() {
    long millis = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
    return new Cost(JVM, millis, SYSTEM.getProcessCpuTime() / 1e6, compilation(), loaded());
  }

  /** Runs a step. */
  static Cost of(Steps.Step step) throws Exception {
    long cpu = SYSTEM.getProcessCpuTime();
    long compilation = compilation();
    long loaded = loaded();
    long begin = System.nanoTime();
    step.body().run();
    long end = System.nanoTime();
    return new Cost(
        step.name(),
        (end - begin) / 1e6,
        (SYSTEM.getProcessCpuTime() - cpu) / 1e6,
        compilation() - compilation,
        loaded() - loaded);
  }

  private static long compilation() {
    return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
  }

  private static long loaded() {
    return ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
  }
}
