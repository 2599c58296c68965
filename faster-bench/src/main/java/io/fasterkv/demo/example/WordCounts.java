package io.fasterkv.demo.example;

import java.time.Duration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;

/**
 * Counts words: every kind of keyed state, windows and a timer for each word. Copy this package to
 * start a job of your own; it uses nothing but Flink, and the state backend is a setting.
 */
public final class WordCounts {
  private WordCounts() {}

  /**
   * Returns one summary for each word, which is emitted at the end of the input. The operators have
   * uids, so that their state survives a savepoint.
   *
   * @param input words with their timestamps
   * @param window the length of a window
   */
  public static SingleOutputStreamOperator<WordSummary> of(
      DataStream<Word> input, Duration window) {
    KeyedStream<Word, String> words = input.keyBy(Word::text);
    KeyedStream<WindowCount, String> windows =
        words
            .window(TumblingEventTimeWindows.of(window))
            .aggregate(new WindowCounter(), new WindowResult())
            .name("windows")
            .uid("windows")
            .keyBy(WindowCount::text);
    return words.connect(windows).process(new WordStates()).name("words").uid("words");
  }
}
