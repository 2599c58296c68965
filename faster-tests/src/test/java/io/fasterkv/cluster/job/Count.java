package io.fasterkv.cluster.job;

import java.util.Arrays;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Keeps a count, a sum in parts, bytes that follow from both, and a timer for the end of time. */
final class Count extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;
  private static final int PARTS = 4;
  private static final int FILLING_BYTES = 200;

  private transient ValueState<Long> count;
  private transient MapState<Integer, Long> sums;
  private transient ValueState<byte[]> filling;

  @Override
  public void open(OpenContext context) {
    count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    sums = getRuntimeContext().getMapState(new MapStateDescriptor<>("sums", Types.INT, Types.LONG));
    filling =
        getRuntimeContext()
            .getState(
                new ValueStateDescriptor<>(
                    "filling", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) throws Exception {
    Long before = count.value();
    long now = before == null ? 1 : before + 1;
    count.update(now);
    int part = (int) (now % PARTS);
    Long sum = sums.get(part);
    sums.put(part, sum == null ? number : sum + number);
    filling.update(bytes(context.getCurrentKey(), now));
    context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
      throws Exception {
    long key = context.getCurrentKey();
    long total = 0;
    for (long sum : sums.values()) {
      total += sum;
    }
    long counted = count.value();
    boolean isWhole = Arrays.equals(filling.value(), bytes(key, counted));
    out.collect(CountingPlan.fact(key, counted, total, isWhole));
  }

  private static byte[] bytes(long key, long count) {
    byte[] bytes = new byte[FILLING_BYTES];
    Arrays.fill(bytes, (byte) (31 * key + count));
    return bytes;
  }
}
