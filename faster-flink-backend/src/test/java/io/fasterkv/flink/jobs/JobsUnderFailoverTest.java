package io.fasterkv.flink.jobs;

import io.fasterkv.flink.Seeds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that jobs that fail several times produce the same results as without failures, each result
 * once: Flink's own exactly-once collector collects the results.
 */
@Tag("seeds")
class JobsUnderFailoverTest {
  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @TempDir private Path directory;

  static List<JobSettings> settings() {
    return JobSettings.some(Seeds.part(JobSettings.values().length));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("settings")
  void sumsDistinctAndTopNumbersAreExact(JobSettings settings) throws Exception {
    List<String> expected = new ArrayList<>();
    expected.addAll(KeyedSums.expected(FailingJob.NUMBERS));
    expected.addAll(Distinct.expected(FailingJob.NUMBERS));
    expected.addAll(TopNumbers.expected(FailingJob.NUMBERS));
    FailingJob.check(
        settings.config(directory),
        expected,
        env -> {
          DataStream<Long> numbers = FailingJob.numbers(env, "numbers");
          return numbers
              .keyBy(KeyedSums::key)
              .process(new KeyedSums())
              .union(
                  numbers.keyBy(Distinct::id).process(new Distinct()),
                  numbers.keyBy(TopNumbers::key).process(new TopNumbers()));
        });
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("settings")
  void sessionsAreMergedAndClosedOnce(JobSettings settings) throws Exception {
    FailingJob.check(
        settings.config(directory),
        Sessions.expected(FailingJob.NUMBERS),
        env ->
            FailingJob.numbers(env, "numbers")
                .filter(Sessions::isIn)
                .keyBy(Sessions::key)
                .window(EventTimeSessionWindows.withGap(Duration.ofMillis(Sessions.GAP_MILLIS)))
                .aggregate(new Sessions.CountAndSum(), new Sessions.Tell()));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("settings")
  void windowsEvictExcessElements(JobSettings settings) throws Exception {
    FailingJob.check(
        settings.config(directory),
        LastNumbers.expected(FailingJob.NUMBERS),
        env ->
            FailingJob.numbers(env, "numbers")
                .keyBy(LastNumbers::key)
                .countWindow(LastNumbers.MOST, 1)
                .apply(new LastNumbers()));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("settings")
  void timersFireOnceUnlessTheyWereDeleted(JobSettings settings) throws Exception {
    FailingJob.check(
        settings.config(directory),
        TimersOfKeys.expected(FailingJob.NUMBERS, FailingJob.NUMBERS / FailingJob.PARALLELISM),
        env ->
            FailingJob.numbers(env, "numbers")
                .keyBy(TimersOfKeys::key)
                .process(new TimersOfKeys(FailingJob.NUMBERS / FailingJob.PARALLELISM)));
  }

  @ParameterizedTest
  @MethodSource("settings")
  @Tag("long")
  void joinsOfIntervalsHaveEachPairOnce(JobSettings settings) throws Exception {
    FailingJob.check(
        settings.config(directory),
        PairsInIntervals.expected(FailingJob.NUMBERS),
        env ->
            FailingJob.numbers(env, "left")
                .keyBy(PairsInIntervals::key)
                .intervalJoin(FailingJob.numbers(env, "right").keyBy(PairsInIntervals::key))
                .between(
                    Duration.ofMillis(-PairsInIntervals.DISTANCE),
                    Duration.ofMillis(PairsInIntervals.DISTANCE))
                .process(new PairsInIntervals()));
  }

  @ParameterizedTest
  @MethodSource("settings")
  void asynchronousStateIsExact(JobSettings settings) throws Exception {
    FailingJob.check(
        settings.config(directory),
        AsyncSums.expected(FailingJob.NUMBERS),
        env ->
            FailingJob.numbers(env, "numbers")
                .keyBy(AsyncSums::key)
                .enableAsyncState()
                .process(new AsyncSums()));
  }
}
