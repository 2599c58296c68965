package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Jobs that fail several times give what they would have given without, each result once: the
 * results are collected with Flink's own exactly-once collector.
 */
class JobsUnderFailoverTest {
  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  private static final int PARALLELISM = 2;
  private static final int FAILURES = 3;
  private static final long NUMBERS = 12_000;
  private static final int BURST = 1_500;

  @TempDir private Path directory;

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void sumsDistinctAndTopNumbersAreExact(JobSettings settings) throws Exception {
    List<String> expected = new ArrayList<>();
    expected.addAll(KeyedSums.expected(NUMBERS));
    expected.addAll(Distinct.expected(NUMBERS));
    expected.addAll(TopNumbers.expected(NUMBERS));
    check(
        settings,
        expected,
        env -> {
          DataStream<Long> numbers = numbers(env, "numbers");
          return numbers
              .keyBy(KeyedSums::key)
              .process(new KeyedSums())
              .union(
                  numbers.keyBy(Distinct::id).process(new Distinct()),
                  numbers.keyBy(TopNumbers::key).process(new TopNumbers()));
        });
  }

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void sessionsAreMergedAndClosedOnce(JobSettings settings) throws Exception {
    check(
        settings,
        Sessions.expected(NUMBERS),
        env ->
            numbers(env, "numbers")
                .filter(Sessions::isIn)
                .keyBy(Sessions::key)
                .window(EventTimeSessionWindows.withGap(Duration.ofMillis(Sessions.GAP_MILLIS)))
                .aggregate(new Sessions.CountAndSum(), new Sessions.Tell()));
  }

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void windowsEvictWhatIsTooMany(JobSettings settings) throws Exception {
    check(
        settings,
        LastNumbers.expected(NUMBERS),
        env ->
            numbers(env, "numbers")
                .keyBy(LastNumbers::key)
                .countWindow(LastNumbers.MOST, 1)
                .apply(new LastNumbers()));
  }

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void timersFireOnceUnlessTheyWereDeleted(JobSettings settings) throws Exception {
    check(
        settings,
        TimersOfKeys.expected(NUMBERS, NUMBERS / PARALLELISM),
        env ->
            numbers(env, "numbers")
                .keyBy(TimersOfKeys::key)
                .process(new TimersOfKeys(NUMBERS / PARALLELISM)));
  }

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void joinsOfIntervalsHaveEachPairOnce(JobSettings settings) throws Exception {
    check(
        settings,
        PairsInIntervals.expected(NUMBERS),
        env ->
            numbers(env, "left")
                .keyBy(PairsInIntervals::key)
                .intervalJoin(numbers(env, "right").keyBy(PairsInIntervals::key))
                .between(
                    Duration.ofMillis(-PairsInIntervals.DISTANCE),
                    Duration.ofMillis(PairsInIntervals.DISTANCE))
                .process(new PairsInIntervals()));
  }

  /** The numbers from 0 on, each at the time it names, a bit out of order between two readers. */
  private static DataStream<Long> numbers(StreamExecutionEnvironment env, String name) {
    return env.fromSource(
            new DataGeneratorSource<>(
                number -> number, NUMBERS, new Failures.Rate(BURST), Types.LONG),
            WatermarkStrategy.<Long>forMonotonousTimestamps()
                .withTimestampAssigner((number, none) -> Times.of(number)),
            name)
        .uid(name)
        .map(new Failures.Fail());
  }

  private void check(
      JobSettings settings,
      List<String> expected,
      Function<StreamExecutionEnvironment, DataStream<String>> job)
      throws Exception {
    Failures.plan(FAILURES);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(settings.config(directory));
    env.setParallelism(PARALLELISM);
    List<String> results = new ArrayList<>();
    try (CloseableIterator<String> collected = job.apply(env).executeAndCollect()) {
      collected.forEachRemaining(results::add);
    }
    assertThat(Failures.left()).isZero();
    results.sort(null);
    assertThat(results).isEqualTo(expected.stream().sorted().toList());
  }
}
