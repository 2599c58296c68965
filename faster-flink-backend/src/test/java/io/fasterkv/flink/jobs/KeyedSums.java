package io.fasterkv.flink.jobs;

import java.util.List;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Computes a count, a sum and a maximum of each key in three kinds of state, and emits them at the
 * end.
 */
final class KeyedSums extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;
  private static final long KEYS = 700;

  private transient ValueState<Long> count;
  private transient ReducingState<Long> sum;
  private transient AggregatingState<Long, Long> most;

  static long key(long number) {
    return number % KEYS;
  }

  /** How many of the numbers 0 to {@code numbers} - 1 have this key. */
  static long count(long numbers, long key) {
    return (numbers - key + KEYS - 1) / KEYS;
  }

  static List<String> expected(long numbers) {
    return Residue.of(numbers, KEYS)
        .map(key -> fact(key.rest(), key.count(), key.sum(), key.most()))
        .toList();
  }

  private static String fact(long key, long count, long sum, long most) {
    return "sum of " + key + ": " + count + " numbers, " + sum + ", at most " + most;
  }

  @Override
  public void open(OpenContext context) {
    count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    sum =
        getRuntimeContext()
            .getReducingState(new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG));
    most =
        getRuntimeContext()
            .getAggregatingState(new AggregatingStateDescriptor<>("most", new Most(), Types.LONG));
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) throws Exception {
    Long before = count.value();
    count.update(before == null ? 1 : before + 1);
    sum.add(number);
    most.add(number);
    context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
      throws Exception {
    out.collect(fact(context.getCurrentKey(), count.value(), sum.get(), most.get()));
  }

  private static final class Most implements AggregateFunction<Long, Long, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    public Long createAccumulator() {
      return Long.MIN_VALUE;
    }

    @Override
    public Long add(Long value, Long most) {
      return Math.max(value, most);
    }

    @Override
    public Long getResult(Long most) {
      return most;
    }

    @Override
    public Long merge(Long one, Long other) {
      return Math.max(one, other);
    }
  }
}
