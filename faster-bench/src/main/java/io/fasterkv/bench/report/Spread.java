package io.fasterkv.bench.report;

import java.util.List;

/** The middle and the ends of some measurements, of which there is at least one. */
public record Spread(double median, double min, double max) {

  /** Of measurements in any order. */
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
}
