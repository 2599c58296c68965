package io.fasterkv.bench.job;

import io.fasterkv.bench.process.ChildJvm;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ConfigurationUtils;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint;
import org.apache.flink.runtime.taskexecutor.TaskManagerRunner;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * A cluster of a job manager and task managers in JVMs of their own, with the options and the class
 * path of this one. What this process does to measure is not part of their figures.
 */
final class ProcessCluster implements JobCluster {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int JOB_MANAGER_MIB = 512;

  private final Path directory;
  private final List<ChildJvm> processes = new ArrayList<>();
  private @Nullable ClusterClient<?> client;

  private ProcessCluster(Path directory) {
    this.directory = directory;
  }

  /**
   * Starts it, and waits until its task managers have registered.
   *
   * @param directory for its configuration, its output and its logs
   * @param settings of a cluster in one process
   */
  static ProcessCluster start(JobPlan plan, Configuration settings, Path directory)
      throws Exception {
    ProcessCluster cluster = new ProcessCluster(Files.createDirectory(directory));
    try {
      cluster.start(plan, settings);
      return cluster;
    } catch (Throwable e) {
      IOUtils.closeQuietly(cluster);
      throw e;
    }
  }

  private void start(JobPlan plan, Configuration settings) throws Exception {
    int taskManagers = JobSettings.taskManagers(plan);
    long heapMib = Runtime.getRuntime().maxMemory() / taskManagers >> 20;
    Configuration ofProcesses = processSettings(plan, settings);
    Files.write(
        directory.resolve(GlobalConfiguration.FLINK_CONF_FILENAME),
        ConfigurationUtils.convertConfigToWritableLines(ofProcesses, false));
    start("jobmanager", StandaloneSessionClusterEntrypoint.class, JOB_MANAGER_MIB, List.of());
    for (int i = 0; i < taskManagers; i++) {
      String name = "taskmanager-" + i;
      String id = TaskManagerOptions.TASK_MANAGER_RESOURCE_ID.key() + "=" + name;
      start(name, TaskManagerRunner.class, heapMib, List.of("-D", id));
    }
    client = new RestClusterClient<>(ofProcesses, "bench");
    awaitTaskManagers(taskManagers);
  }

  private static Configuration processSettings(JobPlan plan, Configuration settings)
      throws IOException {
    InetAddress loopback = InetAddress.getByName(JobSettings.LOOPBACK);
    // Another process may take a port before the job manager does, which then ends.
    try (ServerSocket rpc = new ServerSocket(0, 1, loopback);
        ServerSocket rest = new ServerSocket(0, 1, loopback)) {
      return JobSettings.ofProcesses(plan, settings, rpc.getLocalPort(), rest.getLocalPort());
    }
  }

  private void start(String name, Class<?> main, long heapMib, List<String> added)
      throws IOException {
    Path output = directory.resolve(name + ".log");
    List<String> options =
        new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
    options.add("-Xmx" + heapMib + "m");
    options.add("-Dlog4j2.configurationFile=io/fasterkv/demo/log4j2.xml");
    options.add("-Dio.fasterkv.demo.log=" + output);
    List<String> arguments = new ArrayList<>(List.of("--configDir", directory.toString()));
    arguments.addAll(added);
    processes.add(ChildJvm.start(name, main, options, arguments, output));
  }

  private void awaitTaskManagers(int wanted) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    RestApi rest = new RestApi(client().getWebInterfaceURL());
    while (registered(rest) < wanted) {
      for (ChildJvm process : processes) {
        process.check();
      }
      if (System.nanoTime() > deadline) {
        throw new IOException(
            "the task managers have not registered: seconds=" + PATIENCE.toSeconds());
      }
      processes.getFirst().await(PAUSE);
    }
  }

  private static int registered(RestApi rest) {
    try {
      return rest.get("/taskmanagers").path("taskmanagers").size();
    } catch (IOException e) {
      return 0; // the job manager is starting
    }
  }

  @Override
  public ClusterClient<?> client() {
    ClusterClient<?> started = client;
    if (started == null) {
      throw new IllegalStateException("the cluster has not started");
    }
    return started;
  }

  @Override
  public long cpuNanos() throws IOException {
    long sum = 0;
    for (ChildJvm process : processes) {
      process.check();
      sum += process.cpuNanos();
    }
    return sum;
  }

  @Override
  public long peakBytes() {
    return processes.stream().mapToLong(ChildJvm::peakBytes).sum();
  }

  /** Closes all, even if one fails. */
  @Override
  public void close() throws IOException {
    List<AutoCloseable> all = new ArrayList<>(processes.reversed());
    if (client != null) {
      all.addFirst(client);
    }
    try {
      IOUtils.closeAll(all);
    } catch (Exception e) {
      throw new IOException("a cluster was not closed", e);
    }
  }
}
