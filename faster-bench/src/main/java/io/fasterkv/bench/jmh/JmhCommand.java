package io.fasterkv.bench.jmh;

import io.fasterkv.bench.args.Ranges;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ./bench jmh}. */
@Command(
    name = "jmh",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "The parts by themselves: epochs, index, log, operations, values.",
    description = {
      "",
      "Nanoseconds an operation, and gc.alloc.rate.norm, the bytes an operation allocates.",
      ""
    })
public final class JmhCommand implements Callable<Integer> {
  private static final String ALL = "io\\.fasterkv\\.bench\\.jmh\\.";

  @Parameters(
      arity = "0..1",
      paramLabel = "PATTERN",
      description =
          "A regular expression: only benchmarks whose name it matches, such as LongOperations or"
              + " 'Span.*rmw'.")
  String pattern = ALL;

  @Option(
      names = "--forks",
      paramLabel = "N",
      description = "JVMs for each benchmark: 1 to 100. Default: ${DEFAULT-VALUE}.")
  int forks = 2;

  @Option(
      names = "--iterations",
      paramLabel = "N",
      description =
          "Of a second each, in each JVM, after as many to warm up: 1 to 1000. Default:"
              + " ${DEFAULT-VALUE}.")
  int iterations = 5;

  @Option(names = "--json", paramLabel = "FILE", description = "Write JMH's own format, too.")
  @Nullable Path json;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;

  @Spec @Nullable CommandSpec spec;

  @Override
  public Integer call() throws RunnerException {
    Ranges.between(spec, "--forks", forks, 1, 100);
    Ranges.between(spec, "--iterations", iterations, 1, 1000);
    new Runner(options()).run();
    return 0;
  }

  Options options() {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(pattern)
            .addProfiler(GCProfiler.class)
            .forks(forks)
            .warmupIterations(iterations)
            .warmupTime(TimeValue.seconds(1))
            .measurementIterations(iterations)
            .measurementTime(TimeValue.seconds(1))
            .shouldFailOnError(true)
            .jvmArgs(
                "-Xmx1g", "-XX:+UseTransparentHugePages", "--enable-native-access=ALL-UNNAMED");
    if (json != null) {
      options.resultFormat(ResultFormatType.JSON).result(json.toString());
    }
    return options.build();
  }
}
