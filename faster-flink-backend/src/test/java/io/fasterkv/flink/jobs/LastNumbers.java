package io.fasterkv.flink.jobs;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.flink.streaming.api.functions.windowing.RichWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.util.Collector;

/** Emits, after each number, the size of the window of its key's last numbers, up to a limit. */
final class LastNumbers extends RichWindowFunction<Long, String, Long, GlobalWindow> {
  private static final long serialVersionUID = 1L;
  private static final long KEYS = 48;

  /** More numbers than fit in one record of a store with small pages. */
  static final long MOST = 150;

  static long key(long number) {
    return number % KEYS;
  }

  static List<String> expected(long numbers) {
    Map<Long, Long> counts = new HashMap<>();
    return LongStream.range(0, numbers)
        .map(LastNumbers::key)
        .mapToObj(key -> fact(key, Math.min(MOST, counts.merge(key, 1L, Long::sum))))
        .toList();
  }

  private static String fact(long key, long count) {
    return "last of " + key + ": " + count;
  }

  @Override
  public void apply(Long key, GlobalWindow window, Iterable<Long> numbers, Collector<String> out) {
    Set<Long> distinct = new HashSet<>();
    long count = 0;
    for (Long number : numbers) {
      distinct.add(number);
      count++;
    }
    out.collect(distinct.size() == count ? fact(key, count) : "one of them twice: " + numbers);
  }
}
