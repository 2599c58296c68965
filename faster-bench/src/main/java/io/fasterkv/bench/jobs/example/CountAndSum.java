package io.fasterkv.bench.jobs.example;

import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.java.tuple.Tuple2;

/** Counts bids and adds their prices. */
final class CountAndSum implements AggregateFunction<Bid, Tuple2<Long, Long>, Tuple2<Long, Long>> {
  private static final long serialVersionUID = 1;

  @Override
  public Tuple2<Long, Long> createAccumulator() {
    return Tuple2.of(0L, 0L);
  }

  @Override
  public Tuple2<Long, Long> add(Bid bid, Tuple2<Long, Long> sum) {
    return Tuple2.of(sum.f0 + 1, sum.f1 + bid.price());
  }

  @Override
  public Tuple2<Long, Long> getResult(Tuple2<Long, Long> sum) {
    return sum;
  }

  @Override
  public Tuple2<Long, Long> merge(Tuple2<Long, Long> a, Tuple2<Long, Long> b) {
    return Tuple2.of(a.f0 + b.f0, a.f1 + b.f1);
  }
}
