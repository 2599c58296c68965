package io.fasterkv.bench.cpr.rows;

import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.cpr.experiment.CprOutput;
import io.fasterkv.bench.cpr.experiment.CprPart;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.process.Commands;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Measures what the code for checkpoints costs while there is none, compared with the store without
 * it.
 */
public final class RestRow implements CprPart {
  private static final String NAME = "throughput at rest, 50:50 Zipf, against the code before CPR";
  private static final double WANTED = 0.97;
  private static final long HEAP_BYTES = 256L << 20;

  private final CprPlan plan;
  private final int forks;
  private final @Nullable Path jar;
  private final String revision;

  /**
   * @param jar the store without that code, or null to compile it
   * @param revision the revision to compile
   */
  public RestRow(CprPlan plan, int forks, @Nullable Path jar, String revision) {
    this.plan = plan;
    this.forks = forks;
    this.jar = jar;
    this.revision = revision;
  }

  @Override
  public int steps() {
    return forks;
  }

  @Override
  public List<Goal> run(CprOutput output) throws IOException {
    Path baseline;
    try {
      baseline =
          jar != null
              ? jar.toRealPath()
              : BaselineClasses.compile(revision, output.work().directory("baseline"));
    } catch (IOException e) {
      return List.of(
          Goal.atLeast(
              NAME,
              WANTED,
              null,
              "no baseline, give one with --baseline-jar: "
                  + Optional.ofNullable(e.getMessage()).orElse("").lines().findFirst().orElse("")));
    }
    List<Double> medians = new ArrayList<>();
    for (int fork = 0; fork < forks; fork++) {
      int number = fork;
      medians.add(
          output.step("at rest, fork " + (fork + 1), to -> fork(baseline, to, number).median()));
    }
    return List.of(
        Goal.atLeast(
            NAME,
            WANTED,
            Spread.of(medians),
            forks
                + " JVMs, each the median of "
                + plan.rounds()
                + " rounds, against "
                + (jar != null ? jar.getFileName() : revision)));
  }

  private Spread fork(Path baseline, Path directory, int number) throws IOException {
    List<String> options = new ArrayList<>(JvmNeeds.heap(HEAP_BYTES));
    options.add("-XX:+UseTransparentHugePages");
    String printed =
        Commands.run(
            Commands.java(
                RestFork.class, options, RestFork.arguments(baseline, directory, number, plan)));
    return Spread.of(
        printed
            .lines()
            .filter(line -> line.startsWith(RestFork.RESULT))
            .map(line -> Double.valueOf(line.substring(RestFork.RESULT.length())))
            .toList());
  }
}
