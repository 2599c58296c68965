package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.cluster.evolve.Account;
import io.fasterkv.cluster.evolve.EvolvingJob;
import io.fasterkv.cluster.evolve.Totals;
import io.fasterkv.cluster.job.CountingJob;
import io.fasterkv.cluster.job.CountingPlan;
import io.fasterkv.packaging.JarOfTests;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.tools.ToolProvider;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ChildFirstClassLoader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a job whose second version starts from a savepoint of its first. Two classes of its state
 * have other fields, one serialized by Flink and one by Avro. Flink rejects a third version that
 * cannot read the state.
 */
@ExtendWith(SharedCluster.class)
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class SchemaEvolutionIT {
  private static final int KEYS = 1_000;
  private static final int PER_SECOND = 300;
  private static final CountingSize SIZE = new CountingSize(100_000, KEYS, PER_SECOND, 0, 2);
  private static final CountingSize WIDER = new CountingSize(100_000, KEYS, PER_SECOND, 0, 3);

  /**
   * Checkpoints, two a second, until each of two readers has emitted all keys. Flink's number of
   * read records can stop for good after a TaskManager was killed.
   */
  private static final int UNTIL_ALL_HAVE_COUNTED = 2 * KEYS / PER_SECOND + 6;

  private StandaloneCluster cluster;
  private Path directory;

  @BeforeEach
  void findCluster(StandaloneCluster shared) {
    cluster = shared;
  }

  @ParameterizedTest
  @ValueSource(strings = {"CANONICAL", "NATIVE"})
  void stateOfTheFirstVersionIsThatOfTheSecond(String format) throws Exception {
    directory = cluster.directory().resolve("evolution-" + format);
    RunningJob first = submit(SIZE, "", "");
    first.awaitRunning();
    first.awaitCheckpoints(UNTIL_ALL_HAVE_COUNTED);
    String savepoint = first.stop(directory, format);

    checkRefused(submit(SIZE, savepoint, "third"));

    RunningJob second = submit(WIDER, savepoint, "second");
    second.awaitRunning();
    second.awaitAnotherCheckpoint();
    second.killTaskManager();
    second.awaitAnotherCheckpoint();
    String checkpoint = second.cancelAndRetain();

    RunningJob last = submit(SIZE, checkpoint, "second");
    last.awaitRunning();
    last.finish();
    last.checkResults();
  }

  private void checkRefused(RunningJob job) throws Exception {
    job.await("the state is rejected", () -> !cluster.rest().failures(job.id()).isEmpty());
    JsonNode failure = cluster.rest().failures(job.id()).get(0);
    assertThat(failure.path("stacktrace").asText())
        .contains(
            "StateMigrationException",
            "the new state serializer is not compatible with the old one: state=value");
    job.cancel();
  }

  /**
   * Submits a job.
   *
   * @param version the version of its state classes, or empty for the first
   */
  private RunningJob submit(CountingSize size, String from, String version) throws Exception {
    Path replaced = directory.resolve("classes-" + version);
    if (!version.isEmpty()) {
      compile(version, Account.class, replaced);
      compile(version, Totals.class, replaced);
    }
    Path job = JarOfTests.of(CountingJob.class, directory.resolve("job.jar"));
    Path evolving = JarOfTests.of(EvolvingJob.class, directory.resolve("evolving.jar"), replaced);
    Map<String, String> settings =
        from.isEmpty() ? Map.of() : Map.of("execution.state-recovery.path", from);
    Path checkpoints = cluster.directory().resolve("checkpoints");
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (ChildFirstClassLoader loader =
        new ChildFirstClassLoader(
            new URL[] {evolving.toUri().toURL()}, before, new String[0], failure -> {})) {
      thread.setContextClassLoader(loader);
      RunningJob.Program program =
          new RunningJob.Program(List.of(job, evolving), (env, plan) -> build(loader, env, plan));
      return RunningJob.submit(cluster, size, directory, checkpoints, settings, program);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static void build(ClassLoader loader, StreamExecutionEnvironment env, CountingPlan plan)
      throws Exception {
    loader
        .loadClass(EvolvingJob.class.getName())
        .getMethod("build", StreamExecutionEnvironment.class, CountingPlan.class)
        .invoke(null, env, plan);
  }

  private static void compile(String version, Class<?> type, Path classes) throws Exception {
    Files.createDirectories(classes);
    Path source = classes.resolve(type.getSimpleName() + ".java");
    try (InputStream in = type.getResourceAsStream(version + "/" + source.getFileName())) {
      Files.write(source, in.readAllBytes());
    }
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-classpath",
                System.getProperty("java.class.path"),
                "-d",
                classes.toString(),
                source.toString());
    assertThat(status).as("exit code of javac").isZero();
  }
}
