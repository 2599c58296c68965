package io.fasterkv.bench.rows;

import io.fasterkv.bench.report.Spread;
import org.jspecify.annotations.Nullable;

/**
 * A figure against what is wanted of it.
 *
 * @param measured null if it could not be measured
 * @param isUpperBound whether less is better
 * @param note why it was not measured, or what to know about it; empty if nothing
 */
public record Goal(
    String name,
    String unit,
    double wanted,
    boolean isUpperBound,
    @Nullable Spread measured,
    String note) {

  /** A ratio that is wanted to be so large. */
  public static Goal atLeast(String name, double wanted, @Nullable Spread measured, String note) {
    return new Goal(name, "x", wanted, false, measured, note);
  }

  /** A figure that is wanted to be so small. */
  public static Goal atMost(
      String name, String unit, double wanted, @Nullable Spread measured, String note) {
    return new Goal(name, unit, wanted, true, measured, note);
  }

  /** Whether the median is good enough. */
  public boolean isMet() {
    return measured != null
        && (isUpperBound ? measured.median() <= wanted : measured.median() >= wanted);
  }

  /** What the last column says. */
  public String verdict() {
    return measured == null ? "not measured" : isMet() ? "met" : "not met";
  }
}
