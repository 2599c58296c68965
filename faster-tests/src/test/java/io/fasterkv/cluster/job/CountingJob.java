package io.fasterkv.cluster.job;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;

/** Counts and adds up numbers by their remainders, and emits the results at the end. */
public final class CountingJob {
  private CountingJob() {}

  /** Adds the job to an environment. */
  public static void build(StreamExecutionEnvironment env, CountingPlan plan) {
    build(env, plan, new Count(new Brake(plan.pauseMicros(), plan.gate())));
  }

  /** Adds a job that counts in another way. */
  public static void build(
      StreamExecutionEnvironment env,
      CountingPlan plan,
      KeyedProcessFunction<Long, Long, String> count) {
    long keys = plan.keys();
    env.fromSource(
            new DataGeneratorSource<>(
                number -> number,
                plan.numbers(),
                new GatedRate(plan.perSecond(), plan.gate()),
                Types.LONG),
            WatermarkStrategy.noWatermarks(),
            "numbers")
        .uid("numbers")
        .keyBy(number -> number % keys)
        .process(count)
        .uid("count")
        .sinkTo(new FactSink(plan.results()))
        .uid("facts");
  }
}
