package io.fasterkv.flink.jobs;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Counts the numbers of each key, and passes on the numbers. */
class CountOfKey extends KeyedProcessFunction<Long, Long, Long> {
  private static final long serialVersionUID = 1L;
  private transient ValueState<Long> count;

  @Override
  public void open(OpenContext context) {
    count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
  }

  @Override
  public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
    Long before = count.value();
    count.update(before == null ? 1 : before + 1);
    out.collect(number);
  }

  /** How many numbers the current key has had. */
  final long count() throws Exception {
    return count.value();
  }
}
