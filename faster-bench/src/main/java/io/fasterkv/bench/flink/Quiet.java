package io.fasterkv.bench.flink;

import com.sun.management.OperatingSystemMXBean;
import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Waits until the background work of all backends has ended, as far as their processor time shows:
 * one backend's postponed compaction must not run during another one's measurement.
 */
final class Quiet {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private static final long LOOK_MILLIS = 100;
  private static final int LOOKS = 2;

  /**
   * A process is quiet if it uses less than this share of a processor; Linux counts in hundredths
   * of a second.
   */
  private static final double SHARE = 0.15;

  /** Background work that lasts longer is assumed not to end. */
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

  private Quiet() {}

  /** Returns true when this process has been quiet for two checks, or false after ten seconds. */
  static boolean await() throws InterruptedException {
    return await(SYSTEM::getProcessCpuTime);
  }

  /** Like the first one, but also waits until what was written is on the disk. */
  static boolean awaitWithDisk() throws InterruptedException, IOException {
    boolean isQuiet = await();
    sync();
    return isQuiet;
  }

  /** Like {@link #awaitWithDisk()}, for backends with processes of their own. */
  static boolean awaitWithDisk(Collection<BackendProcess> backends)
      throws InterruptedException, IOException {
    boolean isQuiet =
        await(() -> backends.stream().mapToLong(BackendProcess::processorNanos).sum());
    sync();
    return isQuiet;
  }

  /**
   * Otherwise the system would write one backend's data to disk during another one's measurement.
   */
  private static void sync() throws IOException {
    Commands.run(List.of("sync"));
  }

  private static boolean await(LongSupplier processorNanos) throws InterruptedException {
    long begin = System.nanoTime();
    int quiet = 0;
    while (quiet < LOOKS && System.nanoTime() - begin < MOST_NANOS) {
      long wall = System.nanoTime();
      long spent = processorNanos.getAsLong();
      Thread.sleep(LOOK_MILLIS);
      double share = (double) (processorNanos.getAsLong() - spent) / (System.nanoTime() - wall);
      quiet = share < SHARE ? quiet + 1 : 0;
    }
    return quiet == LOOKS;
  }
}
