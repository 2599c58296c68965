package io.fasterkv.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;

/** Queries over the numbers from 0 up, and their results as computed by plain Java. */
final class SqlQueries {
  private static final long NUMBERS = 40_000;
  private static final int GROUPS = 97;
  private static final int WINDOW = 250;
  private static final int BEST = 3;
  private static final int NEAR = 5;
  private static final int DISTINCT = 1000;

  /** Sinks with their columns, all of them BIGINT. */
  private static final Map<String, List<String>> SINKS =
      Map.of(
          "totals", List.of("k", "c", "s", "x", "d"),
          "pairs", List.of("a", "b"),
          "slices", List.of("k", "c", "s"),
          "best", List.of("k", "n"),
          "near", List.of("a", "b"),
          "moving", List.of("n", "s"),
          "firsts", List.of("d", "n"));

  private SqlQueries() {}

  /**
   * Statements that create the source and the sinks. Time starts above 0, since Flink drops a row
   * at time 0 as late.
   */
  static List<String> tables(Path directory, int perSecond) {
    List<String> statements = new ArrayList<>();
    statements.add(
        """
        CREATE TABLE numbers (
          n BIGINT,
          k AS MOD(n, %d),
          ts AS TO_TIMESTAMP_LTZ((n + 1) * 10, 3),
          WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
        ) WITH (
          'connector' = 'datagen',
          'fields.n.kind' = 'sequence',
          'fields.n.start' = '0',
          'fields.n.end' = '%d',
          'rows-per-second' = '%d',
          'scan.parallelism' = '1'
        )\
        """
            .formatted(GROUPS, NUMBERS - 1, perSecond));
    SINKS.forEach((name, columns) ->
        statements.add(
            "CREATE TABLE %s (%s) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'debezium-json')"
                .formatted(
                    name,
                    String.join(" BIGINT, ", columns) + " BIGINT",
                    directory.resolve(name).toUri())));
    return statements;
  }

  /** One job with all queries. */
  static String statementSet() {
    return """
    EXECUTE STATEMENT SET BEGIN
    INSERT INTO totals
      SELECT k, COUNT(*), SUM(n), MAX(n), COUNT(DISTINCT MOD(n, 7)) FROM numbers GROUP BY k;
    INSERT INTO pairs
      SELECT a.n, b.n FROM (SELECT n FROM numbers WHERE MOD(n, 2) = 0) a
      LEFT JOIN (SELECT n FROM numbers WHERE MOD(n, 6) = 1) b ON a.n + 1 = b.n;
    INSERT INTO slices
      SELECT k, COUNT(*), SUM(n)
      FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '2.5' SECOND))
      GROUP BY k, window_start, window_end;
    INSERT INTO best
      SELECT k, n FROM (
        SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY MOD(n * 7919, 100003) DESC) AS r
        FROM numbers)
      WHERE r <= 3;
    INSERT INTO near
      SELECT a.n, b.n FROM numbers a, numbers b
      WHERE a.n + 5 = b.n AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' SECOND;
    INSERT INTO moving
      SELECT n, SUM(n) OVER (
        PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
      FROM numbers;
    INSERT INTO firsts
      SELECT d, n FROM (
        SELECT MOD(n, 1000) AS d, n,
          ROW_NUMBER() OVER (PARTITION BY MOD(n, 1000) ORDER BY ts ASC) AS r
        FROM numbers)
      WHERE r = 1;
    END\
    """;
  }

  /** Each sink's rows, as JSON, with their number of occurrences. */
  static Map<String, Map<String, Integer>> expected() {
    Map<String, Map<String, Integer>> all = new TreeMap<>();
    SINKS.keySet().forEach(name -> all.put(name, new TreeMap<>()));
    for (long k = 0; k < GROUPS; k++) {
      List<Long> group = group(k);
      Set<Long> distinct = new HashSet<>();
      group.forEach(n -> distinct.add(n % 7));
      add(
          all,
          "totals",
          k,
          (long) group.size(),
          sum(group),
          Collections.max(group),
          distinct.size());
      addSlices(all, k, group);
      group.stream()
          .sorted(Comparator.comparingLong((Long n) -> -(n * 7919 % 100_003)))
          .limit(BEST)
          .forEach(n -> add(all, "best", n % GROUPS, n));
      for (int i = 0; i < group.size(); i++) {
        add(all, "moving", group.get(i), sum(group.subList(Math.max(0, i - 2), i + 1)));
      }
    }
    for (long n = 0; n < NUMBERS; n++) {
      if (n % 2 == 0) {
        add(all, "pairs", n, (n + 1) % 6 == 1 ? n + 1 : null);
      }
      if (n + NEAR < NUMBERS) {
        add(all, "near", n, n + NEAR);
      }
      if (n < DISTINCT) {
        add(all, "firsts", n, n);
      }
    }
    return all;
  }

  private static void addSlices(Map<String, Map<String, Integer>> all, long k, List<Long> group) {
    Map<Long, List<Long>> windows = new TreeMap<>();
    group.forEach(n -> windows.computeIfAbsent((n + 1) / WINDOW, w -> new ArrayList<>()).add(n));
    windows.values().forEach(window -> add(all, "slices", k, window.size(), sum(window)));
  }

  private static List<Long> group(long k) {
    return LongStream.range(0, NUMBERS).filter(n -> n % GROUPS == k).boxed().toList();
  }

  private static long sum(List<Long> numbers) {
    return numbers.stream().mapToLong(Long::longValue).sum();
  }

  private static void add(Map<String, Map<String, Integer>> all, String sink, Number... values) {
    StringBuilder row = new StringBuilder("{");
    List<String> columns = SINKS.get(sink);
    for (int i = 0; i < columns.size(); i++) {
      row.append(i == 0 ? "" : ",")
          .append('"')
          .append(columns.get(i))
          .append("\":")
          .append(values[i]);
    }
    all.get(sink).merge(row.append('}').toString(), 1, Integer::sum);
  }
}
