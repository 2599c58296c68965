package io.fasterkv.bench.job;

import com.sun.management.OperatingSystemMXBean;
import io.fasterkv.bench.process.ProcessMemory;
import java.lang.management.ManagementFactory;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.client.program.MiniClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;

/** A cluster in this process, whose processor time and memory include those of the measurement. */
final class LocalCluster implements JobCluster {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final MiniCluster cluster;
  private final ClusterClient<?> client;

  private LocalCluster(MiniCluster cluster, Configuration settings) {
    this.cluster = cluster;
    client = new MiniClusterClient(settings, cluster);
  }

  /** Starts it with one task manager. */
  static LocalCluster start(JobPlan plan, Configuration settings) throws Exception {
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(plan.parallelism())
                .withRandomPorts()
                .build());
    try {
      cluster.start();
      return new LocalCluster(cluster, settings);
    } catch (Exception e) {
      cluster.closeAsync().join();
      throw e;
    }
  }

  @Override
  public ClusterClient<?> client() {
    return client;
  }

  @Override
  public long cpuNanos() {
    return SYSTEM.getProcessCpuTime();
  }

  @Override
  public long peakBytes() {
    return ProcessMemory.peakBytes();
  }

  @Override
  public void close() {
    cluster.closeAsync().join();
  }
}
