package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;

/** Runs jobs that fail several times, and compares their results with the expected ones. */
final class FailingJob {
  static final int PARALLELISM = 2;
  static final int FAILURES = 3;
  static final long NUMBERS = 12_000;
  private static final int BURST = 1_500;

  private FailingJob() {}

  /** The numbers from 0 up, each with its event time, slightly out of order between two readers. */
  static DataStream<Long> numbers(StreamExecutionEnvironment env, String name) {
    return env.fromSource(
            new DataGeneratorSource<>(
                number -> number, NUMBERS, new Failures.Rate(BURST), Types.LONG),
            WatermarkStrategy.<Long>forMonotonousTimestamps()
                .withTimestampAssigner((number, none) -> Times.of(number)),
            name)
        .uid(name)
        .map(new Failures.Fail());
  }

  /** Runs one job to its end, and checks its results. */
  static void check(
      Configuration config,
      List<String> expected,
      Function<StreamExecutionEnvironment, DataStream<String>> job)
      throws Exception {
    Failures.plan(FAILURES);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
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
