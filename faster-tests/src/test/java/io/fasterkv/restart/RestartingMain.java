package io.fasterkv.restart;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * Runs jobs on a cluster in this process, each of which fails and restarts many times. Prints
 * {@code attempt=<n> residentBytes=<n>} whenever state is opened. After closing the cluster, it
 * prints {@code native=<boolean>}, whether native access was granted; {@code threads=<names>}, the
 * remaining threads of stores; {@code loaders=<n>}, how many class loaders with the backend can
 * still be reached; and {@code takers=<n>}, how many threads allocate memory for all stores of one
 * such loader.
 */
public final class RestartingMain {
  private static final long PATIENCE_NANOS = 60_000_000_000L;
  private static final long RECORDS = 300_000;
  private static final int KEYS = 5_000;
  private static final String TAKER = "faster-memory";

  private RestartingMain() {}

  /**
   * Runs the jobs.
   *
   * @param args a directory; number of jobs; number of failures of each; bytes to leak at each
   *     attempt; jars that the jobs bring, if any
   */
  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    int jobs = Integer.parseInt(args[1]);
    Failing.failures = Integer.parseInt(args[2]);
    Failing.leakedBytes = Long.parseLong(args[3]);
    List<String> jars = List.of(args).subList(4, args.length);
    Configuration config = config(directory);
    try (MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(config)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(1)
                .build())) {
      cluster.start();
      int port = cluster.getRestAddress().get().getPort();
      for (int i = 0; i < jobs; i++) {
        run(config, port, jars);
      }
    }
    System.out.println("native=" + hasNativeAccess());
    System.out.println("threads=" + awaitNoThread());
    System.out.println("loaders=" + awaitNone(RestartingMain::reachable));
    System.out.println("takers=" + (jars.isEmpty() ? takers() : awaitNone(RestartingMain::takers)));
    System.out.flush();
    System.exit(0);
  }

  /** All classes from the class path have native access, or none do. */
  private static boolean hasNativeAccess() {
    return RestartingMain.class.getModule().isNativeAccessEnabled();
  }

  private static Configuration config(Path directory) {
    Configuration config = new Configuration();
    config.setString("state.backend.type", "io.fasterkv.flink.FasterStateBackendFactory");
    config.setString("state.backend.faster.local-dir", directory.resolve("local").toString());
    config.setString("state.backend.faster.memory.operators-per-slot", "1");
    config.setString("execution.checkpointing.interval", "100 ms");
    config.setString("execution.checkpointing.incremental", "true");
    config.setString(
        "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
    config.setString("restart-strategy.type", "fixed-delay");
    config.setString("restart-strategy.fixed-delay.attempts", "1000000");
    config.setString("restart-strategy.fixed-delay.delay", "0 ms");
    config.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
    config.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
    config.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
    config.set(RestOptions.ADDRESS, "127.0.0.1");
    config.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
    config.set(RestOptions.BIND_PORT, "0");
    return config;
  }

  private static void run(Configuration config, int port, List<String> jars) throws Exception {
    Failing.failed.set(0);
    Configuration job = new Configuration(config);
    job.set(PipelineOptions.JARS, List.of());
    try (StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createRemoteEnvironment(
            "127.0.0.1", port, job, jars.toArray(String[]::new))) {
      env.setParallelism(1);
      env.fromSource(
              new DataGeneratorSource<>(number -> number, RECORDS, Types.LONG),
              WatermarkStrategy.noWatermarks(),
              "numbers")
          .keyBy(number -> number % KEYS)
          .process(new Failing())
          .sinkTo(new DiscardingSink<>());
      env.execute();
    }
  }

  private static List<String> awaitNoThread() throws InterruptedException {
    long begin = System.nanoTime();
    List<String> threads = ofTheStore();
    while (!threads.isEmpty() && System.nanoTime() - begin < PATIENCE_NANOS) {
      Thread.sleep(10);
      threads = ofTheStore();
    }
    return threads;
  }

  private static List<String> ofTheStore() {
    return threads().filter(name -> name.startsWith("faster-") && !name.equals(TAKER)).toList();
  }

  private static long takers() {
    return threads().filter(TAKER::equals).count();
  }

  private static Stream<String> threads() {
    return Stream.of(Thread.getAllStackTraces().keySet().toArray(Thread[]::new))
        .map(Thread::getName);
  }

  private static long awaitNone(LongSupplier count) throws InterruptedException {
    long begin = System.nanoTime();
    long left = count.getAsLong();
    while (left > 0 && System.nanoTime() - begin < PATIENCE_NANOS) {
      System.gc();
      Thread.sleep(50);
      left = count.getAsLong();
    }
    return left;
  }

  private static long reachable() {
    synchronized (Failing.LOADERS) {
      return Failing.LOADERS.stream()
          .map(WeakReference::get)
          .filter(l -> l != null)
          .distinct()
          .count();
    }
  }
}
