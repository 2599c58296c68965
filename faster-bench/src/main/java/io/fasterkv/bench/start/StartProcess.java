package io.fasterkv.bench.start;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A JVM that starts one subject. */
final class StartProcess {
  private static final String RESULT = "costs.json";

  private StartProcess() {}

  /** The process: subject, directory, calls, stores and bytes are the arguments. */
  public static void main(String[] arguments) throws Exception {
    Cost jvm = Cost.ofJvm();
    Path directory = Path.of(arguments[1]);
    StartPlan plan =
        new StartPlan(
            Integer.parseInt(arguments[2]),
            Integer.parseInt(arguments[3]),
            Long.parseLong(arguments[4]));
    List<Cost> costs = new ArrayList<>();
    costs.add(jvm);
    try (Steps steps = Subject.named(arguments[0]).orElseThrow().steps(plan, directory)) {
      for (Steps.Step step : steps.all()) {
        costs.add(Cost.of(step));
      }
    }
    new ObjectMapper().writeValue(directory.resolve(RESULT).toFile(), costs);
    System.exit(0); // Flink leaves threads behind.
  }

  /**
   * Runs it to its end.
   *
   * @param directory exists, and is empty
   */
  static List<Cost> run(Subject subject, StartPlan plan, Path directory) throws IOException {
    List<String> options =
        new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
    options.add("-Dlog4j2.configurationFile=io/fasterkv/demo/log4j2.xml");
    options.add("-Dio.fasterkv.demo.log=" + directory.resolve("flink.log"));
    options.add("-Djava.io.tmpdir=" + directory);
    Commands.run(
        Commands.java(
            StartProcess.class,
            options,
            List.of(
                subject.toString(),
                directory.toString(),
                Integer.toString(plan.calls()),
                Integer.toString(plan.stores()),
                Long.toString(plan.memoryBytes()))));
    return new ObjectMapper()
        .readValue(directory.resolve(RESULT).toFile(), new TypeReference<>() {});
  }
}
