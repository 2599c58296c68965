package io.fasterkv.demo.job;

import io.fasterkv.demo.example.Word;
import io.fasterkv.demo.example.WordCounts;
import io.fasterkv.demo.text.InputPlan;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** Puts the example between a source that can be resumed, a failure on purpose, and a check. */
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
   * Builds the job that reads {@code plan}; its operators keep their names over savepoints.
   *
   * @param runId names the {@link RunControl} of this run
   * @param stage 0 before the savepoint, 1 after it
   */
  public static StreamGraph draw(
      Configuration configuration, InputPlan plan, String runId, int stage) {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    DataStream<Word> words =
        environment
            .fromSource(
                new TextSource(plan, runId), WatermarkStrategy.forMonotonousTimestamps(), "text")
            .uid("text")
            .map(new FailOnce(runId, stage, wordsBeforeSavepoint(plan)))
            .name("fail once")
            .uid("fail-once");
    WordCounts.of(words, Duration.ofMillis(windowWords(plan)))
        .sinkTo(new ResultSink(runId))
        .name("results")
        .uid("results");
    StreamGraph graph = environment.getStreamGraph();
    graph.setJobName("words");
    return graph;
  }
}
