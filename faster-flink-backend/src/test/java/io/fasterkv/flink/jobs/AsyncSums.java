package io.fasterkv.flink.jobs;

import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.v2.MapState;
import org.apache.flink.api.common.state.v2.MapStateDescriptor;
import org.apache.flink.api.common.state.v2.ReducingState;
import org.apache.flink.api.common.state.v2.ReducingStateDescriptor;
import org.apache.flink.api.common.state.v2.ValueState;
import org.apache.flink.api.common.state.v2.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Counts the numbers of each key, adds them up, and counts how often the last digit was zero, in
 * asynchronous state; emits the results at the end. An adaptor in Flink maps such state to backends
 * without asynchronous state.
 */
final class AsyncSums extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;
  private static final long KEYS = 300;
  private static final long DIGITS = 10;

  private transient ValueState<Long> count;
  private transient ReducingState<Long> sum;
  private transient MapState<Long, Long> digits;

  static long key(long number) {
    return number % KEYS;
  }

  static List<String> expected(long numbers) {
    return Residue.of(numbers, KEYS)
        .map(key ->
            fact(key.rest(), key.count(), key.sum(), key.rest() % DIGITS == 0 ? key.count() : null))
        .toList();
  }

  private static String fact(long key, long count, long sum, Long zeros) {
    return "sum of " + key + ": " + count + " numbers, " + sum + ", zeros " + zeros;
  }

  @Override
  public void open(OpenContext context) {
    count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    sum =
        getRuntimeContext()
            .getReducingState(new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG));
    digits =
        getRuntimeContext().getMapState(new MapStateDescriptor<>("digits", Types.LONG, Types.LONG));
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) {
    long digit = number % DIGITS;
    count.asyncValue().thenCompose(before -> count.asyncUpdate(next(before)));
    sum.asyncAdd(number);
    digits.asyncGet(digit).thenCompose(before -> digits.asyncPut(digit, next(before)));
    context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
  }

  private static long next(Long before) {
    return before == null ? 1 : before + 1;
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<String> out) {
    long key = context.getCurrentKey();
    count
        .asyncValue()
        .thenCombine(sum.asyncGet(), (numbers, all) -> new long[] {numbers, all})
        .thenCombine(digits.asyncGet(0L), (both, zeros) -> fact(key, both[0], both[1], zeros))
        .thenAccept(out::collect);
  }
}
