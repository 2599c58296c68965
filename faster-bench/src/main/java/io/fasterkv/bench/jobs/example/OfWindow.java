package io.fasterkv.bench.jobs.example;

import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Emits the key, the end of the window, the count and the sum. */
final class OfWindow
    extends ProcessWindowFunction<
        Tuple2<Long, Long>, Tuple4<Long, Long, Long, Long>, Long, TimeWindow> {
  private static final long serialVersionUID = 1;

  @Override
  public void process(
      Long key,
      Context context,
      Iterable<Tuple2<Long, Long>> sums,
      Collector<Tuple4<Long, Long, Long, Long>> out) {
    for (Tuple2<Long, Long> sum : sums) {
      out.collect(Tuple4.of(key, context.window().getEnd(), sum.f0, sum.f1));
    }
  }
}
