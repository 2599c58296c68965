package io.fasterkv.bench.jobs;

import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.runs.Benchmark;
import io.fasterkv.bench.runs.JobOptions;
import io.fasterkv.bench.runs.ReportOptions;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code ./bench jobs}. */
@Command(
    name = "jobs",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "DataStream jobs on several state backends.",
    description = {
      "",
      "Each run is a job with checkpoints, on a cluster of its own: one JVM, or several with"
          + " --cluster. Backends"
          + " take turns, job after job and round after round. The jobs read the bids and"
          + " auctions of Nexmark, and their code is in io.fasterkv.bench.jobs.example: windows"
          + " (session-windows, sliding-windows, tumbling-windows), interval-join, process (a"
          + " map, a value with a time to live, timers), top-n, deduplication, broadcast, chain"
          + " (eight stateful operators) and cep. Runs with different results fail the"
          + " benchmark. The tables show medians over the rounds, ratios within the rounds,"
          + " geometric means of the ratios, and whether goals are met. With --quick a run has"
          + " 5,000 events, and a backend's runs share a process.",
      ""
    },
    footer = {"", ReportOptions.COLUMNS, "", ReportOptions.EXIT_CODES})
public final class JobsCommand implements Callable<Integer>, JvmNeeds {
  @Option(
      names = "--jobs",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = JobConverter.class,
      description = "One or more of the jobs above. Default: all.")
  List<StreamJob> jobs = List.of(StreamJob.values());

  @Mixin JobOptions options = new JobOptions();

  @Mixin ReportOptions reports = new ReportOptions();

  /** A job's name. */
  static final class JobConverter implements ITypeConverter<StreamJob> {
    @Override
    public StreamJob convert(String value) {
      return Arrays.stream(StreamJob.values())
          .filter(job -> job.toString().equals(value))
          .findFirst()
          .orElseThrow(() ->
              new TypeConversionException(
                  "'" + value + "' is not allowed, allowed=" + StreamJob.names()));
    }
  }

  @Override
  public List<String> jvmOptions() {
    return options.jvmOptions();
  }

  @Override
  public Integer call() throws Exception {
    return new Benchmark(new JobsSuite(), options, reports).run(jobs);
  }
}
