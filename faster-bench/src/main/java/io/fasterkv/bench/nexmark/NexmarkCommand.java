package io.fasterkv.bench.nexmark;

import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.nexmark.sql.Query;
import io.fasterkv.bench.runs.Benchmark;
import io.fasterkv.bench.runs.JobOptions;
import io.fasterkv.bench.runs.ReportOptions;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code ./bench nexmark}. */
@Command(
    name = "nexmark",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "The queries of Nexmark, as Flink SQL jobs, on several state backends.",
    description = {
      "",
      "Each run is a job with checkpoints, on a cluster of its own: one JVM, or several with"
          + " --cluster. Backends"
          + " take turns, query after query and round after round. A source of this project"
          + " creates the events with Nexmark's published distributions; the sink counts the"
          + " rows of the result and keeps a hash that does not depend on their order. Runs with"
          + " different results fail the benchmark (q12 has windows of processing time: its"
          + " results are not compared). The tables show medians over the rounds, ratios within"
          + " the rounds, geometric means of the ratios over the stateful queries, and whether"
          + " goals are met. With --quick a run has 5,000 events, and a backend's runs"
          + " share a process.",
      ""
    },
    footer = {"", ReportOptions.COLUMNS, "", ReportOptions.EXIT_CODES})
public final class NexmarkCommand implements Callable<Integer>, JvmNeeds {
  private static final NexmarkSuite SUITE = new NexmarkSuite();

  @Option(
      names = "--queries",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = QueryConverter.class,
      description = "One or more of q0 to q23, without q6. Default: all.")
  List<Query> queries = SUITE.jobs();

  @Mixin JobOptions options = new JobOptions();

  @Mixin ReportOptions reports = new ReportOptions();

  /** A query's name. */
  static final class QueryConverter implements ITypeConverter<Query> {
    @Override
    public Query convert(String value) {
      return SUITE.jobs().stream()
          .filter(query -> query.toString().equals(value))
          .findFirst()
          .orElseThrow(() ->
              new TypeConversionException(
                  "'" + value + "' is not allowed, allowed=q0 to q23, without q6"));
    }
  }

  @Override
  public List<String> jvmOptions() {
    return options.jvmOptions();
  }

  @Override
  public Integer call() throws Exception {
    return new Benchmark(SUITE, options, reports).run(queries);
  }
}
