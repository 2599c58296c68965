package io.fasterkv.cluster;

import io.fasterkv.packaging.JarOfTests;
import io.fasterkv.packaging.OneJar;
import io.fasterkv.process.Jvm;
import io.fasterkv.process.TiedMain;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint;
import org.apache.flink.runtime.taskexecutor.TaskManagerRunner;
import org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer;

/**
 * A standalone session cluster on the loopback interface. Each process is a separate JVM with
 * Flink's jars and the one jar on its class path. ZooKeeper keeps the JobManager's metadata.
 */
final class StandaloneCluster implements AutoCloseable {
  private static final String LOOPBACK = "127.0.0.1";
  private static final int JOB_MANAGER_MEGABYTES = 256;

  private final Path directory;
  private final List<Path> classPath = new ArrayList<>();
  private final Map<String, String> settings = new TreeMap<>();
  private final List<Jvm> all = new ArrayList<>();
  private final List<Jvm> taskManagers = new ArrayList<>();
  private final Jvm zooKeeper;
  private final ClusterRest rest;
  private Jvm jobManager;
  private int started;

  /**
   * Starts ZooKeeper, a JobManager and TaskManagers of one slot each.
   *
   * @param directory for configuration, logs and the JobManager's files
   * @param added settings in addition to those that a cluster needs
   */
  StandaloneCluster(Path directory, int taskManagers, Map<String, String> added) throws Exception {
    this.directory = directory;
    classPath.addAll(OneJar.flink());
    classPath.add(OneJar.path());
    classPath.add(JarOfTests.of(TiedMain.class, directory.resolve("tied.jar")));
    int zooKeeperPort = freePort();
    int restPort = freePort();
    settings.putAll(base(directory, zooKeeperPort, restPort));
    settings.putAll(added);
    Files.writeString(
        directory.resolve("config.yaml"),
        settings.entrySet().stream()
            .map(setting -> setting.getKey() + ": " + setting.getValue() + "\n")
            .collect(Collectors.joining()));
    Files.writeString(directory.resolve("log4j2.properties"), logging());
    rest = new ClusterRest(restPort);
    try {
      zooKeeper = startZooKeeper(zooKeeperPort);
      jobManager = startJobManager();
      for (int i = 0; i < taskManagers; i++) {
        startTaskManager();
      }
    } catch (Exception | Error failure) {
      close();
      throw failure;
    }
  }

  private static Map<String, String> base(Path directory, int zooKeeperPort, int restPort) {
    Map<String, String> base = new TreeMap<>();
    for (String address : List.of("jobmanager.rpc.address", "jobmanager.bind-host")) {
      base.put(address, LOOPBACK);
    }
    for (String address : List.of("rest.address", "rest.bind-address")) {
      base.put(address, LOOPBACK);
    }
    for (String address : List.of("taskmanager.host", "taskmanager.bind-host")) {
      base.put(address, LOOPBACK);
    }
    base.put("rest.port", Integer.toString(restPort));
    base.put("rest.bind-port", Integer.toString(restPort));
    base.put("high-availability.type", "zookeeper");
    base.put("high-availability.zookeeper.quorum", LOOPBACK + ":" + zooKeeperPort);
    base.put("high-availability.zookeeper.client.session-timeout", "8000 ms");
    base.put("high-availability.storageDir", directory.resolve("ha").toUri().toString());
    base.put("io.tmp.dirs", directory.resolve("tmp").toString());
    base.put("heartbeat.interval", "1000 ms");
    base.put("heartbeat.timeout", "20000 ms");
    base.put("taskmanager.numberOfTaskSlots", "1");
    base.put("taskmanager.cpu.cores", "1");
    base.put("taskmanager.memory.framework.heap.size", "96m");
    base.put("taskmanager.memory.task.heap.size", "96m");
    base.put("taskmanager.memory.framework.off-heap.size", "64m");
    base.put("taskmanager.memory.task.off-heap.size", "0m");
    base.put("taskmanager.memory.network.min", "16m");
    base.put("taskmanager.memory.network.max", "16m");
    base.put("taskmanager.memory.managed.size", "32m");
    base.put("taskmanager.memory.jvm-metaspace.size", "128m");
    base.put("taskmanager.memory.jvm-overhead.min", "64m");
    base.put("taskmanager.memory.jvm-overhead.max", "64m");
    return base;
  }

  private static String logging() {
    return """
    rootLogger.level = INFO
    rootLogger.appenderRef.console.ref = Console
    appender.console.name = Console
    appender.console.type = CONSOLE
    appender.console.layout.type = PatternLayout
    appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %-40.40c{1} - %m%n
    logger.zookeeper.name = org.apache.flink.shaded.zookeeper3
    logger.zookeeper.level = WARN
    """;
  }

  /** A port of the loopback interface on which no process listens now. */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(LOOPBACK))) {
      return socket.getLocalPort();
    }
  }

  /** The settings, for a client that submits jobs. */
  Configuration configuration() {
    return Configuration.fromMap(settings);
  }

  /** The directory of the configuration, the logs and the JobManager's files. */
  Path directory() {
    return directory;
  }

  ClusterRest rest() {
    return rest;
  }

  private Jvm startZooKeeper(int port) throws IOException {
    Path config = directory.resolve("zoo.cfg");
    Files.writeString(
        config,
        """
        dataDir=%s
        clientPort=%d
        clientPortAddress=%s
        tickTime=1000
        admin.enableServer=false
        """
            .formatted(directory.resolve("zookeeper"), port, LOOPBACK));
    return start(
        "zookeeper",
        64,
        List.of(
            FlinkZooKeeperQuorumPeer.class.getName(),
            "--zkConfigFile",
            config.toString(),
            "--peerId",
            "1"));
  }

  private Jvm startJobManager() throws IOException {
    return start(
        "jobmanager-" + started++,
        JOB_MANAGER_MEGABYTES,
        List.of(
            StandaloneSessionClusterEntrypoint.class.getName(),
            "--configDir",
            directory.toString()));
  }

  /** Starts another TaskManager and does not wait for it. */
  void startTaskManager() throws IOException {
    String name = "taskmanager-" + started++;
    taskManagers.add(
        start(
            name,
            heapMegabytes("framework") + heapMegabytes("task"),
            List.of(
                TaskManagerRunner.class.getName(),
                "--configDir",
                directory.toString(),
                "-D",
                "taskmanager.resource-id=" + name)));
  }

  private int heapMegabytes(String of) {
    return MemorySize.parse(settings.get("taskmanager.memory." + of + ".heap.size")).getMebiBytes();
  }

  /** Starts another process with the cluster's class path and configuration. */
  Jvm start(String name, int heapMegabytes, List<String> main) throws IOException {
    List<String> options =
        new ArrayList<>(
            List.of(
                "-Xmx" + heapMegabytes + "m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dlog4j.configurationFile=" + directory.resolve("log4j2.properties")));
    // As in Flink's scripts.
    String added = settings.get("env.java.opts.all");
    if (added != null) {
      options.addAll(List.of(added.split(" ")));
    }
    Jvm jvm =
        Jvm.start(
            name,
            directory.resolve("logs"),
            classPath,
            options,
            main,
            Map.of("FLINK_CONF_DIR", directory.toString()));
    all.add(jvm);
    return jvm;
  }

  /** Kills the oldest TaskManager with SIGKILL, and starts another. */
  void replaceTaskManager() throws Exception {
    taskManagers.removeFirst().kill();
    startTaskManager();
  }

  /** Kills a TaskManager with SIGKILL, and starts another. */
  void replaceTaskManager(String id) throws Exception {
    Jvm killed =
        taskManagers.stream().filter(jvm -> jvm.name().equals(id)).findFirst().orElseThrow();
    taskManagers.remove(killed);
    killed.kill();
    startTaskManager();
  }

  /** Kills the JobManager with SIGKILL, and starts another. */
  void replaceJobManager() throws Exception {
    jobManager.kill();
    jobManager = startJobManager();
  }

  /** Throws if a process that should be running has died. */
  void check() {
    Stream.concat(Stream.of(zooKeeper, jobManager), taskManagers.stream())
        .filter(jvm -> !jvm.isAlive())
        .findFirst()
        .ifPresent(dead -> {
          throw new AssertionError(dead.name() + " has exited");
        });
  }

  /** Number of lines with {@code text} in the output of all processes ever started. */
  long logged(String text) throws IOException {
    long lines = 0;
    for (Jvm jvm : all) {
      lines += jvm.lines().stream().filter(line -> line.contains(text)).count();
    }
    return lines;
  }

  /** The ends of all logs. */
  String logs() {
    return all.stream().map(Jvm::tail).collect(Collectors.joining("\n\n"));
  }

  @Override
  public void close() {
    all.reversed().forEach(Jvm::close);
    rest.close();
  }
}
