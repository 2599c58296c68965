package io.fasterkv.demo.example;

import org.apache.flink.streaming.api.functions.windowing.WindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Adds the word to a window's count. */
final class WindowResult implements WindowFunction<Long, WindowCount, String, TimeWindow> {
  private static final long serialVersionUID = 1;

  @Override
  public void apply(
      String text, TimeWindow window, Iterable<Long> counts, Collector<WindowCount> out) {
    counts.forEach(count -> out.collect(new WindowCount(text, count)));
  }
}
