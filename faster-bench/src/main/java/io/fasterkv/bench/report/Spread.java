package io.fasterkv.bench.report;

import java.util.List;
import java.util.stream.IntStream;

/** The median, minimum and maximum of at least one measurement. */
public record Spread(double median, double min, double max) {

  /** Computes the spread of measurements in any order. */
  public static Spread of(List<Double> measured) {
    if (measured.isEmpty()) {
      throw new IllegalArgumentException("nothing was measured: measured=0, allowed=1 or more");
    }
    double[] sorted = measured.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1]);
  }

  /** The ratios of measurements of the same rounds, in order. */
  public static Spread ofRatios(List<Double> measured, List<Double> others) {
    return of(
        IntStream.range(0, measured.size())
            .mapToObj(round -> measured.get(round) / others.get(round))
            .toList());
  }
}
