package io.fasterkv.bench.report;

import org.jspecify.annotations.Nullable;

/**
 * A measurement and its target.
 *
 * @param measured null if it could not be measured
 * @param isUpperBound whether less is better
 * @param note why it was not measured, or a remark; may be empty
 */
public record Goal(
    String name,
    String unit,
    double wanted,
    boolean isUpperBound,
    @Nullable Spread measured,
    String note) {

  /** A ratio with a lower bound. */
  public static Goal atLeast(String name, double wanted, @Nullable Spread measured, String note) {
    return new Goal(name, "x", wanted, false, measured, note);
  }

  /** A value with an upper bound. */
  public static Goal atMost(
      String name, String unit, double wanted, @Nullable Spread measured, String note) {
    return new Goal(name, unit, wanted, true, measured, note);
  }

  /** Whether the median meets the target. */
  public boolean isMet() {
    return measured != null
        && (isUpperBound ? measured.median() <= wanted : measured.median() >= wanted);
  }

  /** The text of the last column. */
  public String verdict() {
    return measured == null ? "not measured" : isMet() ? "met" : "not met";
  }
}
