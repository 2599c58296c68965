package io.fasterkv.flink.jobs;

import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Emits the first of all numbers with the same identity. */
final class Distinct extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;
  private static final long FACTOR = 7_919;
  private static final long IDENTITIES = 3_001;

  private transient ValueState<Boolean> isKnown;

  static long id(long number) {
    return number * FACTOR % IDENTITIES;
  }

  static List<String> expected(long numbers) {
    return LongStream.range(0, numbers)
        .map(Distinct::id)
        .distinct()
        .mapToObj(Distinct::fact)
        .toList();
  }

  private static String fact(long id) {
    return "first of " + id;
  }

  @Override
  public void open(OpenContext context) {
    isKnown = getRuntimeContext().getState(new ValueStateDescriptor<>("known", Types.BOOLEAN));
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) throws Exception {
    if (isKnown.value() == null) {
      isKnown.update(true);
      out.collect(fact(context.getCurrentKey()));
    }
  }
}
