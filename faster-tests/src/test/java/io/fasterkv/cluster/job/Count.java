package io.fasterkv.cluster.job;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Counts, and registers a timer for the end of time, at which it emits its counts. */
final class Count extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;

  private final Brake brake;
  private transient Counted counted;

  Count(Brake brake) {
    this.brake = brake;
  }

  @Override
  public void open(OpenContext context) {
    counted = new Counted(getRuntimeContext());
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) throws Exception {
    brake.apply();
    counted.add(context.getCurrentKey(), number);
    context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
      throws Exception {
    out.collect(counted.fact(context.getCurrentKey()));
  }
}
