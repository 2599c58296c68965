package io.fasterkv.bench.nexmark.sql;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobMeter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;

/**
 * The queries of Nexmark that Flink's SQL runs: all but 6. Each is a file beside the tables' file.
 */
public enum Query implements BenchJob {
  Q0,
  Q1,
  Q2,
  Q3,
  Q4,
  Q5,
  Q7,
  Q8,
  Q9,
  Q10,
  Q11,
  Q12,
  Q13,
  Q14,
  Q15,
  Q16,
  Q17,
  Q18,
  Q19,
  Q20,
  Q21,
  Q22,
  Q23;

  /** Those whose speed depends on state. */
  private static final Set<Query> STATEFUL =
      Set.of(Q4, Q5, Q7, Q8, Q9, Q11, Q12, Q15, Q16, Q17, Q18, Q19, Q20, Q23);

  private static final String DIRECTORY = "/io/fasterkv/bench/nexmark/";

  @Override
  public boolean isStateful() {
    return STATEFUL.contains(this);
  }

  @Override
  public boolean isRepeatable() {
    return this != Q12;
  }

  @Override
  public JobGraph graph(JobMeter meter, Configuration settings) {
    return QueryGraph.of(this, meter, settings);
  }

  @Override
  public String toString() {
    return "q" + name().substring(1);
  }

  /** Its SQL, without the first line, a comment. */
  String sql() {
    return withoutComments(read(this + ".sql"));
  }

  /** The statements that create the tables and views of a run. */
  static List<String> tables(String run) {
    String all = withoutComments(read("tables.sql")).replace("'RUN'", "'" + run + "'");
    return Arrays.stream(all.split(";")).filter(statement -> !statement.isBlank()).toList();
  }

  private static String withoutComments(String text) {
    return text.replaceAll("(?m)^--.*$", "").strip();
  }

  private static String read(String file) {
    try (InputStream in = Query.class.getResourceAsStream(DIRECTORY + file)) {
      if (in == null) {
        throw new IllegalStateException("a query is not in this program: file=" + file);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException("a query cannot be read: file=" + file, e);
    }
  }
}
