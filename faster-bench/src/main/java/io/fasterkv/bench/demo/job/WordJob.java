package io.fasterkv.bench.demo.job;

import io.fasterkv.bench.demo.text.InputPlan;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;

/** Draws the job. */
public final class WordJob {
  private static final int WINDOWS = 40;
  private static final long SMALLEST_WINDOW_WORDS = 500;

  private WordJob() {}

  /**
   * Returns the length of a window, in words of the input and so in milliseconds of Flink's time.
   */
  public static long windowWords(InputPlan plan) {
    return Math.max(SMALLEST_WINDOW_WORDS, plan.words() / WINDOWS);
  }

  /** Returns how far the input is read before the savepoint at the latest, in words. */
  public static long wordsBeforeSavepoint(InputPlan plan) {
    return plan.words() * 9 / 10;
  }

  /**
   * Draws the job that reads {@code plan}; its operators keep their names over savepoints.
   *
   * @param runId names the {@link RunControl} of this run
   * @param stage 0 before the savepoint, 1 after it
   */
  public static StreamGraph draw(
      Configuration configuration, InputPlan plan, String runId, int stage) {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    KeyedStream<Word, String> words =
        environment
            .fromSource(
                new TextSource(plan, runId), WatermarkStrategy.forMonotonousTimestamps(), "text")
            .uid("text")
            .map(new FailOnce(runId, stage, wordsBeforeSavepoint(plan)))
            .name("fail once")
            .uid("fail-once")
            .keyBy(Word::text);
    KeyedStream<WindowCount, String> windows =
        words
            .window(TumblingEventTimeWindows.of(Duration.ofMillis(windowWords(plan))))
            .aggregate(new WindowCounter(), new WindowResult())
            .name("windows")
            .uid("windows")
            .keyBy(WindowCount::text);
    words
        .connect(windows)
        .process(new WordStates())
        .name("words")
        .uid("words")
        .sinkTo(new ResultSink(runId))
        .name("results")
        .uid("results");
    StreamGraph graph = environment.getStreamGraph();
    graph.setJobName("words");
    return graph;
  }
}
