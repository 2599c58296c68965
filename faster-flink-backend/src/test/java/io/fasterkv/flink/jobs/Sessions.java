package io.fasterkv.flink.jobs;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Counts and adds up sessions: numbers of a key that are close in time. */
final class Sessions {
  static final long GAP_MILLIS = 80;
  private static final long KEYS = 50;
  private static final long LEFT_OUT = 7;

  private Sessions() {}

  static long key(long number) {
    return number % KEYS;
  }

  /** Whether a number is emitted. Some are omitted, which ends a session of their key. */
  static boolean isIn(long number) {
    return number / KEYS % LEFT_OUT != key(number) % LEFT_OUT;
  }

  static List<String> expected(long numbers) {
    List<String> facts = new ArrayList<>();
    for (long key = 0; key < KEYS; key++) {
      long start = -1;
      long last = -1;
      Tuple2<Long, Long> countAndSum = Tuple2.of(0L, 0L);
      for (long number = key; number < numbers; number += KEYS) {
        if (!isIn(number)) {
          continue;
        }
        long time = Times.of(number);
        if (start >= 0 && time > last + GAP_MILLIS) {
          facts.add(fact(key, start, last + GAP_MILLIS, countAndSum));
          start = -1;
        }
        if (start < 0) {
          start = time;
          countAndSum = Tuple2.of(0L, 0L);
        }
        last = time;
        countAndSum = Tuple2.of(countAndSum.f0 + 1, countAndSum.f1 + number);
      }
      facts.add(fact(key, start, last + GAP_MILLIS, countAndSum));
    }
    return facts;
  }

  private static String fact(long key, long start, long end, Tuple2<Long, Long> countAndSum) {
    return "session of " + key + ": " + start + " to " + end + ", " + countAndSum;
  }

  /** The state of a window. */
  static final class CountAndSum
      implements AggregateFunction<Long, Tuple2<Long, Long>, Tuple2<Long, Long>> {
    private static final long serialVersionUID = 1L;

    @Override
    public Tuple2<Long, Long> createAccumulator() {
      return Tuple2.of(0L, 0L);
    }

    @Override
    public Tuple2<Long, Long> add(Long number, Tuple2<Long, Long> before) {
      return Tuple2.of(before.f0 + 1, before.f1 + number);
    }

    @Override
    public Tuple2<Long, Long> getResult(Tuple2<Long, Long> countAndSum) {
      return countAndSum;
    }

    @Override
    public Tuple2<Long, Long> merge(Tuple2<Long, Long> one, Tuple2<Long, Long> other) {
      return Tuple2.of(one.f0 + other.f0, one.f1 + other.f1);
    }
  }

  /** Emits the result of a session when it closes. */
  static final class Tell
      extends ProcessWindowFunction<Tuple2<Long, Long>, String, Long, TimeWindow> {
    private static final long serialVersionUID = 1L;

    @Override
    public void process(
        Long key, Context context, Iterable<Tuple2<Long, Long>> found, Collector<String> out) {
      TimeWindow window = context.window();
      out.collect(fact(key, window.getStart(), window.getEnd(), found.iterator().next()));
    }
  }
}
