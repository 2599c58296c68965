package io.fasterkv.cluster.job;

import java.util.Arrays;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;

/** The state of a key: a count, a sum in parts, and bytes that are derived from key and count. */
final class Counted {
  private static final int PARTS = 4;
  private static final int FILLING_BYTES = 200;

  private final ValueState<Long> count;
  private final MapState<Integer, Long> sums;
  private final ValueState<byte[]> filling;

  Counted(RuntimeContext context) {
    count = context.getState(new ValueStateDescriptor<>("count", Types.LONG));
    sums = context.getMapState(new MapStateDescriptor<>("sums", Types.INT, Types.LONG));
    filling =
        context.getState(
            new ValueStateDescriptor<>(
                "filling", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
  }

  /** Counts a number of the current key. */
  void add(long key, long number) throws Exception {
    Long before = count.value();
    long now = before == null ? 1 : before + 1;
    count.update(now);
    int part = (int) (now % PARTS);
    Long sum = sums.get(part);
    sums.put(part, sum == null ? number : sum + number);
    filling.update(bytes(key, now));
  }

  /** The state of the current key, as text. */
  String fact(long key) throws Exception {
    long total = 0;
    for (long sum : sums.values()) {
      total += sum;
    }
    long counted = count.value();
    boolean isWhole = Arrays.equals(filling.value(), bytes(key, counted));
    return CountingPlan.fact(key, counted, total, isWhole);
  }

  private static byte[] bytes(long key, long count) {
    byte[] bytes = new byte[FILLING_BYTES];
    Arrays.fill(bytes, (byte) (31 * key + count));
    return bytes;
  }
}
