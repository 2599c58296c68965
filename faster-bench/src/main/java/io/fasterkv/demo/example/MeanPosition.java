package io.fasterkv.demo.example;

import org.apache.flink.api.common.functions.AggregateFunction;

/** The average position of a word in its files. */
public final class MeanPosition implements AggregateFunction<Integer, MeanPosition.Sum, Double> {
  private static final long serialVersionUID = 1;

  /**
   * The data for the average.
   *
   * @param positions the sum of the positions
   * @param count number of positions
   */
  public record Sum(long positions, long count) {}

  @Override
  public Sum createAccumulator() {
    return new Sum(0, 0);
  }

  @Override
  public Sum add(Integer position, Sum sum) {
    return new Sum(sum.positions() + position, sum.count() + 1);
  }

  @Override
  public Double getResult(Sum sum) {
    return (double) sum.positions() / sum.count();
  }

  @Override
  public Sum merge(Sum a, Sum b) {
    return new Sum(a.positions() + b.positions(), a.count() + b.count());
  }
}
