package io.fasterkv.bench.runs;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.job.JobRun;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.process.Commands;
import io.fasterkv.bench.profile.Recorder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs jobs in a JVM of their own, so that what the JVM has compiled and how its heap is laid out
 * depend on these runs only. Plans and results are files in the process's directory; its output
 * says what it has done.
 */
final class RunProcess {
  private static final String PLANS = "plans.json";
  private static final String LOG = "flink.log";
  private static final String EVENTS = "events ";
  private static final String RESULT = "result ";
  private static final int SHOWN_LINES = 20;

  private final JobSuite suite;
  private final RunPlan.Mode mode;
  private final ObjectMapper mapper;
  private final AtomicReference<@Nullable Process> running = new AtomicReference<>();

  /** Called while a process runs. */
  interface Listener {
    /** Tells how many events of a job its source has emitted. */
    void events(long events);

    /** Tells the result of the next job. */
    void result(JobPlan plan, JobResult result) throws IOException;
  }

  /** Runs jobs of a suite. */
  RunProcess(JobSuite suite, RunPlan.Mode mode) {
    this.suite = suite;
    this.mode = mode;
    mapper = suite.mapper();
  }

  /**
   * The process. Its arguments are the class of the suite, a directory, and one for recordings if
   * there are to be any.
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    ObjectMapper mapper = JobSuite.of(arguments[0]).mapper();
    Path directory = Path.of(arguments[1]);
    Path profiles = arguments.length > 2 ? Path.of(arguments[2]) : null;
    List<JobPlan> plans =
        mapper.readValue(directory.resolve(PLANS).toFile(), new TypeReference<>() {});
    for (int i = 0; i < plans.size(); i++) {
      Path ofRun = Files.createDirectory(directory.resolve("run-" + i));
      LongConsumer progress = events -> out.println(EVENTS + events);
      JobResult result =
          profiles == null
              ? JobRun.run(plans.get(i), ofRun, progress)
              : recorded(plans.get(i), ofRun, progress, profiles);
      out.println(RESULT + mapper.writeValueAsString(result));
    }
    out.flush();
    // Flink leaves threads behind.
    System.exit(0);
  }

  private static JobResult recorded(
      JobPlan plan, Path directory, LongConsumer progress, Path profiles) throws Exception {
    String name = plan.job() + "-" + plan.backend() + "-" + ProcessHandle.current().pid() + ".jfr";
    try (Recorder recorder = Recorder.start(profiles.resolve(name))) {
      JobResult result = JobRun.run(plan, directory, progress);
      return result.with(recorder.stop());
    }
  }

  /**
   * Runs jobs, one after the other, to their ends.
   *
   * @param directory exists, and is empty
   */
  void run(List<JobPlan> plans, Path directory, Listener listener) throws IOException {
    mapper.writeValue(directory.resolve(PLANS).toFile(), plans);
    Process process =
        new ProcessBuilder(
                Commands.java(RunProcess.class, options(directory), arguments(directory)))
            .redirectErrorStream(true)
            .start();
    running.set(process);
    List<String> output = new ArrayList<>();
    int results = 0;
    int exit;
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(EVENTS)) {
          listener.events(Long.parseLong(line.substring(EVENTS.length())));
        } else if (line.startsWith(RESULT)) {
          JobResult result = mapper.readValue(line.substring(RESULT.length()), JobResult.class);
          listener.result(plans.get(results++), result);
        } else if (output.size() < SHOWN_LINES) {
          output.add(line);
        }
      }
      exit = Commands.await(process);
    } finally {
      process.destroyForcibly();
      running.set(null);
    }
    if (exit != 0 || results != plans.size()) {
      throw failure(plans.get(Math.min(results, plans.size() - 1)), exit, output);
    }
  }

  private List<String> arguments(Path directory) {
    List<String> arguments = new ArrayList<>();
    arguments.add(suite.getClass().getName());
    arguments.add(directory.toString());
    if (mode.profiles() != null) {
      arguments.add(mode.profiles().toAbsolutePath().toString());
    }
    return arguments;
  }

  private List<String> options(Path directory) {
    List<String> options =
        new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
    options.add("-Dlog4j2.configurationFile=io/fasterkv/demo/log4j2.xml");
    options.add("-Dio.fasterkv.demo.log=" + directory.resolve(LOG));
    // The planner and native libraries are unpacked there.
    options.add("-Djava.io.tmpdir=" + directory);
    if (mode.isQuick()) {
      // Most code of such short runs would be compiled by the second compiler in vain.
      options.add("-XX:TieredStopAtLevel=1");
    }
    return options;
  }

  private static IOException failure(JobPlan plan, int exit, List<String> output) {
    return new IOException(
        "the process of a run has failed: job="
            + plan.job()
            + ", backend="
            + plan.backend()
            + ", exit="
            + exit
            + System.lineSeparator()
            + String.join(System.lineSeparator(), output));
  }

  /** Ends the process that is running now; called by another thread. */
  void abort() {
    Process process = running.get();
    if (process != null) {
      process.destroyForcibly();
    }
  }
}
