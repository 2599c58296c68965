package io.fasterkv.cluster;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Gives tests a {@link StandaloneCluster} of three TaskManagers with two slots each. All classes of
 * a run share the cluster, which ends after the last class. A failed test shows the logs of all
 * processes, and no test leaves a job behind.
 */
final class SharedCluster
    implements ParameterResolver, TestExecutionExceptionHandler, AfterEachCallback {
  static final String FASTER = "io.fasterkv.flink.FasterStateBackendFactory";
  private static final int TASK_MANAGERS = 3;
  private static final Path DIRECTORY =
      Path.of(System.getProperty("faster.work", "target"), "shared").toAbsolutePath();

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == StandaloneCluster.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return cluster(context);
  }

  /** Returns the cluster, and starts it for the first test. */
  private static StandaloneCluster cluster(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(Namespace.create(SharedCluster.class))
        .getOrComputeIfAbsent(
            StandaloneCluster.class, ignored -> started(), StandaloneCluster.class);
  }

  private static StandaloneCluster started() {
    try {
      FileUtils.deleteDirectory(DIRECTORY.toFile());
      StandaloneCluster cluster = new StandaloneCluster(DIRECTORY, TASK_MANAGERS, settings());
      try {
        Await.until(
            TASK_MANAGERS + " TaskManagers have registered",
            () -> {
              cluster.check();
              return cluster.rest().taskManagers() == TASK_MANAGERS;
            });
        return cluster;
      } catch (AssertionError | Exception failure) {
        String logs = cluster.logs();
        cluster.close();
        throw new AssertionError(failure.getMessage() + "\n" + logs, failure);
      }
    } catch (Exception failure) {
      throw new AssertionError("the cluster did not start", failure);
    }
  }

  private static Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>();
    settings.put("taskmanager.numberOfTaskSlots", "2");
    settings.put("taskmanager.memory.task.heap.size", "192m");
    settings.put("taskmanager.memory.managed.size", "128m");
    settings.put("taskmanager.memory.network.min", "32m");
    settings.put("taskmanager.memory.network.max", "32m");
    // From Flink's own config.yaml: the State Processor API writes with Kryo, which needs this.
    settings.put("env.java.opts.all", "--add-opens=java.base/java.lang=ALL-UNNAMED");
    settings.put("state.backend.type", FASTER);
    settings.put("execution.checkpointing.dir", uri("checkpoints"));
    settings.put("execution.checkpointing.savepoint-dir", uri("savepoints"));
    settings.put("execution.checkpointing.interval", "500 ms");
    // After a failover Flink 2.3 may wait in vain; see docs/FLINK.md, Troubleshooting.
    settings.put("execution.checkpointing.timeout", "60 s");
    settings.put("execution.checkpointing.incremental", "true");
    settings.put(
        "execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    settings.put("state.changelog.storage", "filesystem");
    settings.put("state.changelog.dstl.dfs.base-path", uri("changelog"));
    settings.put("web.refresh-interval", "100 ms");
    settings.put("metrics.fetcher.update-interval", "500 ms");
    settings.put("restart-strategy.type", "fixed-delay");
    settings.put("restart-strategy.fixed-delay.attempts", "20");
    settings.put("restart-strategy.fixed-delay.delay", "300 ms");
    return settings;
  }

  private static String uri(String name) {
    return DIRECTORY.resolve(name).toUri().toString();
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    if (failure instanceof TestAbortedException) {
      throw failure;
    }
    throw new AssertionError(failure.getMessage() + "\n" + cluster(context).logs(), failure);
  }

  /** Cancels all jobs, and waits until they have ended and all TaskManagers have registered. */
  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    StandaloneCluster cluster = cluster(context);
    Await.until(
        "no job runs, and " + TASK_MANAGERS + " TaskManagers have registered",
        () -> {
          cluster.check();
          for (JobID job : cluster.rest().unfinished()) {
            cluster.rest().cancel(job);
          }
          return cluster.rest().unfinished().isEmpty()
              && cluster.rest().taskManagers() == TASK_MANAGERS;
        });
  }
}
