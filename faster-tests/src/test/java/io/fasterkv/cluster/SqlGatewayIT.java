package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests a statement set through the SQL gateway: aggregates, joins, windows, top-n, deduplication.
 * The job moves between rocksdb and this backend through canonical savepoints, at changing
 * parallelism. Each sink writes a change log; the sum of its changes must equal the result of plain
 * Java.
 */
@ExtendWith(SharedCluster.class)
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class SqlGatewayIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ROCKSDB = "rocksdb";
  private static final String FASTER_OPENED = "opened a state store";
  private static final int SHOWN = 20;
  private static final int SLOWLY = 400;
  private static final int FAST = 1_000_000;

  /** Two a second, so that sources of some hundred records a second have read some. */
  private static final int CHECKPOINTS = 6;

  @Test
  void statementsMoveFromRocksdbAndBack(StandaloneCluster cluster) throws Exception {
    Path directory = cluster.directory().resolve("sql");
    try (SqlGateway gateway = new SqlGateway(cluster)) {
      Leg first = new Leg(cluster, gateway, ROCKSDB, 2, SLOWLY);
      String savepoint = first.run(directory, "").stop(false);
      Leg second = new Leg(cluster, gateway, SharedCluster.FASTER, 3, SLOWLY);
      savepoint = second.run(directory, savepoint).stop(true);
      Leg third = new Leg(cluster, gateway, ROCKSDB, 2, SLOWLY);
      savepoint = third.run(directory, savepoint).stop(false);
      Leg last = new Leg(cluster, gateway, SharedCluster.FASTER, 2, FAST);
      last.run(directory, savepoint).awaitFinished();
    }
    Map<String, Map<String, Integer>> expected = SqlQueries.expected();
    for (Map.Entry<String, Map<String, Integer>> table : expected.entrySet()) {
      Map<String, Integer> found = sumOfChanges(directory.resolve(table.getKey()));
      assertThat(difference(table.getValue(), found)).as(table.getKey()).isEmpty();
      assertThat(found).as(table.getKey()).hasSameSizeAs(table.getValue());
    }
  }

  /** Some of the rows whose counts differ. */
  private static List<String> difference(
      Map<String, Integer> expected, Map<String, Integer> found) {
    return Stream.concat(expected.keySet().stream(), found.keySet().stream())
        .distinct()
        .filter(row -> !expected.getOrDefault(row, 0).equals(found.getOrDefault(row, 0)))
        .limit(SHOWN)
        .map(row ->
            "%s: expected=%d, found=%d"
                .formatted(row, expected.getOrDefault(row, 0), found.getOrDefault(row, 0)))
        .toList();
  }

  /** Each row with the number of its additions minus the number of its removals. */
  private static Map<String, Integer> sumOfChanges(Path table) throws Exception {
    Map<String, Integer> rows = new TreeMap<>();
    try (Stream<Path> files = Files.list(table)) {
      for (Path file : files.toList()) {
        assertThat(file.getFileName().toString()).startsWith("part-");
        for (String line : Files.readAllLines(file)) {
          JsonNode change = JSON.readTree(line);
          boolean isAdded = change.path("op").asText().equals("c");
          String row = change.path(isAdded ? "after" : "before").toString();
          rows.merge(row, isAdded ? 1 : -1, Integer::sum);
        }
      }
    }
    rows.values().removeIf(count -> count == 0);
    return rows;
  }

  /** One job of the sequence. */
  private static final class Leg {
    private final StandaloneCluster cluster;
    private final boolean isFaster;
    private final SqlGateway.Session session;
    private final int perSecond;
    private JobID job;
    private long opened;

    Leg(
        StandaloneCluster cluster,
        SqlGateway gateway,
        String backend,
        int parallelism,
        int perSecond)
        throws Exception {
      this.cluster = cluster;
      this.isFaster = backend.equals(SharedCluster.FASTER);
      this.perSecond = perSecond;
      session =
          gateway.open(
              new HashMap<>(
                  Map.of(
                      "state.backend.type",
                      backend,
                      "parallelism.default",
                      Integer.toString(parallelism),
                      "table.dml-sync",
                      "false")));
    }

    Leg run(Path directory, String savepoint) throws Exception {
      opened = cluster.logged(FASTER_OPENED);
      if (!savepoint.isEmpty()) {
        session.execute("SET 'execution.state-recovery.path' = '" + savepoint + "'");
      }
      for (String statement : SqlQueries.tables(directory, perSecond)) {
        session.execute(statement);
      }
      SqlGateway.Result started = session.execute(SqlQueries.statementSet());
      job = JobID.fromHexString(started.rows().getFirst().getFirst());
      return this;
    }

    /** Waits for some checkpoints of the running job, and stops it with a canonical savepoint. */
    String stop(boolean killed) throws Exception {
      awaitCheckpoints(CHECKPOINTS);
      if (killed) {
        cluster.replaceTaskManager(cluster.rest().taskManagers(job).iterator().next());
        Await.until(
            "the JobManager has seen the failure", () -> !cluster.rest().failures(job).isEmpty());
        awaitCheckpoints(CHECKPOINTS);
      }
      SqlGateway.Result stopped = session.execute("STOP JOB '" + job + "' WITH SAVEPOINT");
      checkBackend();
      return stopped.rows().getFirst().getFirst();
    }

    private void awaitCheckpoints(int count) throws Exception {
      long wanted = cluster.rest().completed(job) + count;
      Await.until(
          count + " more checkpoints of the SQL job are complete",
          () -> {
            cluster.check();
            assertThat(cluster.rest().jobState(job)).isNotIn(ClusterRest.ENDED);
            return cluster.rest().completed(job) >= wanted;
          });
    }

    void awaitFinished() throws Exception {
      Await.until(
          "the SQL job has finished",
          () -> {
            cluster.check();
            assertThat(cluster.rest().jobState(job)).isNotIn("FAILED", "CANCELED");
            return cluster.rest().jobState(job).equals("FINISHED");
          });
      checkBackend();
    }

    private void checkBackend() throws Exception {
      assertThat(cluster.logged(FASTER_OPENED) > opened).isEqualTo(isFaster);
    }
  }
}
