package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.cluster.job.CountingJob;
import io.fasterkv.cluster.job.CountingPlan;
import io.fasterkv.cluster.job.SavepointJobs;
import io.fasterkv.flink.FasterStateBackend;
import io.fasterkv.packaging.JarOfTests;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests batch jobs of the State Processor API: one reads a job's state from checkpoints and
 * savepoints, the other writes a savepoint that a job starts from.
 */
@ExtendWith(SharedCluster.class)
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class StateProcessorIT {
  private static final int NUMBERS = 100_000;
  private static final int KEYS = 5_000;
  private static final int PARALLELISM = 3;

  /** One reader, so that the numbers emitted so far are always those from 0 up to some number. */
  private static final CountingSize SIZE = new CountingSize(NUMBERS, KEYS, 300, 0, 1);

  private static final Pattern COUNTED = Pattern.compile("count=([0-9]+) ");

  private StandaloneCluster cluster;
  private Path directory;
  private int reads;

  @BeforeEach
  void findCluster(StandaloneCluster shared) {
    cluster = shared;
    directory = shared.directory().resolve("processor");
  }

  @Test
  void stateIsRead() throws Exception {
    RunningJob job = submit("read", Map.of());
    job.awaitRunning();
    job.awaitAnotherCheckpoint();
    job.awaitAnotherCheckpoint();
    String checkpoint = job.cancelAndRetain();
    checkRead(checkpoint, new FasterStateBackend());

    job = submit("read", Map.of("execution.state-recovery.path", checkpoint));
    job.awaitRunning();
    job.awaitAnotherCheckpoint();
    String savepoint = job.stop(directory, "NATIVE");
    checkRead(savepoint, new FasterStateBackend());

    job = submit("read", Map.of("execution.state-recovery.path", savepoint));
    job.awaitRunning();
    job.awaitAnotherCheckpoint();
    savepoint = job.stop(directory, "CANONICAL");
    checkRead(savepoint, new FasterStateBackend());
    checkRead(savepoint, new EmbeddedRocksDBStateBackend());

    job = submit("read", Map.of("execution.state-recovery.path", savepoint));
    job.finish();
    job.checkResults();
  }

  /** Reads a savepoint, and checks the count of each key against the total of all counts. */
  private void checkRead(String savepoint, StateBackend backend) throws Exception {
    Path results = directory.resolve("results-" + reads++);
    execute(env -> SavepointJobs.read(env, savepoint, backend, results.toString()));
    Set<String> found = RunningJob.facts(results);
    long counted = found.stream().mapToLong(StateProcessorIT::count).sum();
    assertThat(counted).isBetween((long) KEYS, NUMBERS - 1L);
    assertThat(found).isEqualTo(prefix(counted));
  }

  private static long count(String fact) {
    Matcher matcher = COUNTED.matcher(fact);
    assertThat(matcher.find()).as(fact).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  private static Set<String> prefix(long numbers) {
    Set<String> facts = new TreeSet<>();
    for (long key = 0; key < KEYS; key++) {
      long count = 0;
      long sum = 0;
      for (long number = key; number < numbers; number += KEYS) {
        count++;
        sum += number;
      }
      String fact = CountingPlan.fact(key, count, sum, true);
      facts.add(fact + " timers=[" + Long.MAX_VALUE + "]");
    }
    return facts;
  }

  /** The savepoint has counted each number once, and the job counts each once more. */
  @Test
  void writtenSavepointIsStartedFrom() throws Exception {
    CountingPlan plan = new CountingPlan(NUMBERS, KEYS, 1, 0, "", "");
    for (String backend : new String[] {SharedCluster.FASTER, "rocksdb"}) {
      String savepoint = directory.resolve("written-for-" + backend).toUri().toString();
      execute(env -> SavepointJobs.write(env, plan, new FasterStateBackend(), savepoint));
      RunningJob job =
          submit(
              "write-" + backend,
              Map.of("execution.state-recovery.path", savepoint, "state.backend.type", backend));
      job.awaitRunning();
      job.finish();
      job.checkResults(2);
    }
  }

  private RunningJob submit(String name, Map<String, String> settings) throws Exception {
    Path checkpoints = cluster.directory().resolve("checkpoints");
    return RunningJob.submit(cluster, SIZE, directory.resolve(name), checkpoints, settings);
  }

  /** Adds operators to a job. */
  private interface Building {
    void into(StreamExecutionEnvironment env) throws Exception;
  }

  private void execute(Building building) throws Exception {
    Path jar = JarOfTests.of(CountingJob.class, directory.resolve("batch.jar"));
    Configuration config = cluster.configuration();
    config.setString("execution.runtime-mode", "BATCH");
    try (StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createRemoteEnvironment(
            config.get(RestOptions.ADDRESS),
            config.get(RestOptions.PORT),
            config,
            jar.toString())) {
      env.setParallelism(PARALLELISM);
      building.into(env);
      env.execute("state processor");
    }
  }
}
