package io.fasterkv.cluster.job;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Counts and adds up numbers by their remainders, and tells the results when all have come. */
public final class CountingJob {
  private CountingJob() {}

  /** Adds the job to an environment. */
  public static void build(StreamExecutionEnvironment env, CountingPlan plan) {
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
        .process(new Count())
        .uid("count")
        .sinkTo(new FactSink(plan.results()))
        .uid("facts");
  }
}
