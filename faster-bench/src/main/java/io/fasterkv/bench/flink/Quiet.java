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
 * Waits until what goes on in the background of all backends is over, as far as one can tell by the
 * processor time that they take: compaction that one backend has put off must not be done in the
 * time of another.
 */
final class Quiet {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private static final long LOOK_MILLIS = 100;
  private static final int LOOKS = 2;

  /**
   * All is quiet if they take less than this share of a processor; Linux counts in hundredths of a
   * second.
   */
  private static final double SHARE = 0.15;

  /** What goes on for longer than that goes on for ever. */
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

  private Quiet() {}

  /** Returns true when this process has been quiet for two looks, or false after ten seconds. */
  static boolean await() throws InterruptedException {
    return await(SYSTEM::getProcessCpuTime);
  }

  /** As the first one, and until what was written is on the disk. */
  static boolean awaitWithDisk() throws InterruptedException, IOException {
    boolean isQuiet = await();
    sync();
    return isQuiet;
  }

  /** As {@link #awaitWithDisk()}, of backends with processes of their own. */
  static boolean awaitWithDisk(Collection<BackendProcess> backends)
      throws InterruptedException, IOException {
    boolean isQuiet =
        await(() -> backends.stream().mapToLong(BackendProcess::processorNanos).sum());
    sync();
    return isQuiet;
  }

  /** What a backend has written, the system must not bring to the disk in the time of another. */
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
