package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fasterkv.cluster.job.CountingPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests a job with functions and state in Python on the cluster: a TaskManager is killed, and the
 * job continues from a savepoint; its counts must be exact. {@code -Dfaster.python} names the
 * interpreter; without PyFlink the test is skipped.
 */
@ExtendWith(SharedCluster.class)
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class PyFlinkIT {
  private static final long NUMBERS = 50_000;
  private static final long KEYS = 500;

  /** Prefixes of the settings that the client needs. */
  private static final List<String> OF_THE_JOB =
      List.of("execution.", "restart-strategy.", "state.");

  private static final Pattern JOB = Pattern.compile("job=([0-9a-f]{32})");

  private Path directory;
  private String jar = "";

  @Test
  void pythonCountsAreExact(StandaloneCluster cluster) throws Exception {
    directory = cluster.directory().resolve("python");
    findPyFlink();
    CountingPlan plan =
        new CountingPlan(
            NUMBERS,
            KEYS,
            0,
            0,
            directory.resolve("gate").toString(),
            directory.resolve("results").toString());

    RunningJob first = submit(cluster, plan, Map.of());
    first.awaitRunning();
    first.awaitAnotherCheckpoint();
    first.killTaskManager();
    first.awaitAnotherCheckpoint();
    String savepoint = first.stop(directory, "NATIVE");

    RunningJob last = submit(cluster, plan, Map.of("execution.state-recovery.path", savepoint));
    last.awaitRunning();
    last.finish();
    Set<String> expected = new TreeSet<>();
    for (long key = 0; key < KEYS; key++) {
      expected.add(plan.fact(key, 1));
    }
    assertThat(facts()).isEqualTo(expected);
  }

  /** Skips the test if PyFlink is not installed. */
  private void findPyFlink() throws Exception {
    Python.Ended ended;
    try {
      ended =
          Python.run(
              directory.resolve("find.log"),
              "-c",
              "import glob, os, pyflink; print('found ' + glob.glob("
                  + "os.path.dirname(pyflink.__file__) + '/opt/flink-python-*.jar')[0])");
    } catch (IOException absent) {
      ended = new Python.Ended(-1, absent.getMessage());
    }
    assumeTrue(
        ended.status() == 0,
        ("PyFlink is not installed, its test is skipped: python=%s, found=%s; install it with"
                + " pip install apache-flink==2.3.0, or name an interpreter with -Dfaster.python")
            .formatted(Python.executable(), ended.output().strip()));
    jar = ended.output().replaceAll("(?s).*found ", "").strip();
  }

  private RunningJob submit(StandaloneCluster cluster, CountingPlan plan, Map<String, String> added)
      throws Exception {
    Path script = directory.resolve("count.py");
    Files.write(script, getClass().getResourceAsStream("count.py").readAllBytes());
    Configuration config = cluster.configuration();
    Map<String, String> settings = new TreeMap<>(config.toMap());
    settings.keySet().removeIf(name -> OF_THE_JOB.stream().noneMatch(name::startsWith));
    settings.putAll(added);
    settings.put("parallelism.default", "2");
    for (String name : List.of("python.executable", "python.client.executable")) {
      settings.put(name, Python.executable());
    }
    List<String> arguments =
        new ArrayList<>(
            List.of(
                script.toString(),
                config.get(RestOptions.ADDRESS) + ":" + config.get(RestOptions.PORT),
                jar,
                Long.toString(plan.numbers()),
                Long.toString(plan.keys()),
                plan.gate(),
                Path.of(plan.results()).toUri().toString()));
    settings.forEach((name, value) -> arguments.add(name + "=" + value));
    Python.Ended ended =
        Python.run(directory.resolve("client.log"), arguments.toArray(String[]::new));
    Matcher matcher = JOB.matcher(ended.output());
    assertThat(matcher.find()).as("the client has submitted a job: %s", ended).isTrue();
    return RunningJob.of(
        cluster,
        plan,
        cluster.directory().resolve("checkpoints"),
        JobID.fromHexString(matcher.group(1)));
  }

  private Set<String> facts() throws IOException {
    Set<String> facts = new TreeSet<>();
    try (Stream<Path> files = Files.walk(directory.resolve("results"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        facts.addAll(Files.readAllLines(file));
      }
    }
    return facts;
  }
}
