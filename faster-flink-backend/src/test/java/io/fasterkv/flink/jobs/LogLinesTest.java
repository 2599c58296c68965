package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.FasterStateBackendFactory;
import io.fasterkv.flink.config.FasterOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.event.Level;

/**
 * Tests that all log lines of a job's stores and backends name the operator and the subtask, and
 * reach only SLF4J.
 */
@Timeout(300)
class LogLinesTest {
  @TempDir private static Path local;

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(() -> LocalClusters.configuration(local));

  private static final List<String> SUBTASKS =
      List.of("counts (1/2): ", "counts (2/2): ", "sums (1/2): ", "sums (2/2): ");

  /** Any operator and subtask, since stores of other tests in this process may end late. */
  private static final Pattern NAMED = Pattern.compile("\\w+ \\(\\d+/\\d+\\): ");

  /** The state of these keys is larger than the memory of a store. */
  private static final long KEYS = 80_000;

  private static final long PAUSE_NANOS = 10_000_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Path FULL = Path.of("/dev/full");

  private static volatile boolean isOpen;

  @RegisterExtension
  private final LoggerAuditingExtension log =
      new LoggerAuditingExtension("io.fasterkv", Level.DEBUG);

  private final PrintStream standardError = System.err;
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final Platform platform = new Platform();

  private @Nullable JobClient job;

  @TempDir private Path directory;

  /** Collects lines that reach the JDK's own logging, which writes to standard error. */
  private static final class Platform extends Handler {
    private final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    public void publish(LogRecord record) {
      if (String.valueOf(record.getLoggerName()).startsWith("io.fasterkv")) {
        lines.add(record.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  /** Blocks all records until it is open. */
  private static final class Gate implements RateLimiter<NumberSequenceSplit> {
    private static final Executor LATER =
        CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS);

    @Override
    public CompletionStage<Void> acquire(int records) {
      return isOpen
          ? CompletableFuture.completedFuture(null)
          : CompletableFuture.runAsync(() -> {}, LATER).thenCompose(none -> acquire(records));
    }
  }

  @BeforeEach
  void listen() {
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    java.util.logging.Logger.getLogger("").addHandler(platform);
  }

  @AfterEach
  void cancelAndStopListening() throws Exception {
    cancel();
    System.setErr(standardError);
    java.util.logging.Logger.getLogger("").removeHandler(platform);
  }

  private Configuration config() {
    return JobSettings.INCREMENTAL
        .config(directory)
        .set(StateBackendOptions.STATE_BACKEND, FasterStateBackendFactory.class.getName())
        .set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.resolve("stores").toString()));
  }

  private void cancel() throws Exception {
    if (job != null && !job.getJobStatus().get().isGloballyTerminalState()) {
      job.cancel().get();
      while (!job.getJobStatus().get().isGloballyTerminalState()) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private void start(Configuration config) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
    env.setParallelism(2);
    env.fromSource(
            new DataGeneratorSource<>(
                number -> number, Long.MAX_VALUE, readers -> new Gate(), Types.LONG),
            WatermarkStrategy.noWatermarks(),
            "numbers")
        .uid("numbers")
        .map(new Failures.Fail())
        .keyBy(number -> number % KEYS)
        .process(new CountOfKey())
        .name("counts")
        .uid("counts")
        .keyBy(number -> number % KEYS)
        .process(new CountOfKey())
        .name("sums")
        .uid("sums")
        .sinkTo(new DiscardingSink<>());
    job = env.executeAsync();
  }

  private List<String> lines() {
    return log.getMessages();
  }

  /** Waits until each subtask has logged a line with each of these starts. */
  private void awaitFromEach(String... starts) {
    for (String start : starts) {
      for (String subtask : SUBTASKS) {
        await(() -> count(subtask + start) > 0);
        assertThat(count(subtask + start)).as("%s%s in %s", subtask, start, lines()).isPositive();
      }
    }
  }

  private long count(String start) {
    return lines().stream().filter(line -> line.startsWith(start)).count();
  }

  private static void await(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean() && System.nanoTime() - start < PATIENCE.toNanos()) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void assertAllAreNamedAndNothingIsElsewhere() {
    assertThat(lines()).allMatch(line -> NAMED.matcher(line).lookingAt());
    assertThat(platform.lines).isEmpty();
    assertThat(written.toString(StandardCharsets.UTF_8)).doesNotContain("fasterkv");
  }

  @Tag("slow")
  @Test
  void ofCheckpointsFailuresAndSavepoints(@InjectMiniCluster MiniCluster cluster) throws Exception {
    isOpen = true;
    Failures.plan(1);
    Configuration config = config();
    start(config);
    awaitFromEach(
        "opened a state store: ",
        "wrote an incremental checkpoint: ",
        "restored an incremental checkpoint: ",
        "reused the local copy of a checkpoint's log: ");
    JobClient restored = Objects.requireNonNull(job);
    CommonTestUtils.waitForAllTaskRunning(cluster, restored.getJobID(), false);
    String savepoint =
        restored
            .stopWithSavepoint(
                false, directory.resolve("savepoints").toString(), SavepointFormatType.CANONICAL)
            .get();
    start(config.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint));
    awaitFromEach("restored a full snapshot: ");
    cancel();
    assertAllAreNamedAndNothingIsElsewhere();
  }

  @Tag("slow")
  @Test
  void ofAFullDisk() throws Exception {
    isOpen = false;
    Failures.plan(0);
    Configuration config = config();
    // Otherwise the first checkpoint would start at once, and create the file.
    config.removeConfig(CheckpointingOptions.CHECKPOINTING_INTERVAL);
    start(config);
    awaitFromEach("opened a state store: ");
    for (Path store : stores()) {
      Files.createSymbolicLink(store.resolve("log").resolve("log.0"), FULL);
    }
    isOpen = true;
    // When an operator's writes wait, the next operator gets no records, so one line is enough.
    await(() -> lines().stream().anyMatch(line -> line.contains("the disk is full; ")));
    assertThat(lines()).anyMatch(line -> line.contains("the disk is full; "));
    cancel();
    assertAllAreNamedAndNothingIsElsewhere();
  }

  private List<Path> stores() throws IOException {
    try (Stream<Path> stores = Files.list(directory.resolve("stores"))) {
      List<Path> found = new ArrayList<>(stores.toList());
      assertThat(found).hasSize(SUBTASKS.size());
      return found;
    }
  }
}
