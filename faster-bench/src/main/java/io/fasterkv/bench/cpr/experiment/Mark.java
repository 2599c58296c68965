package io.fasterkv.bench.cpr.experiment;

import io.fasterkv.bench.report.Csv;

/**
 * A checkpoint in a run.
 *
 * @param beginSeconds when it was requested
 * @param endSeconds when it was durable
 * @param restMops millions of operations a second before it, over one unit of time
 * @param mops the same from its begin to its end
 */
public record Mark(double beginSeconds, double endSeconds, double restMops, double mops) {

  /** The remaining part of the throughput. */
  public double ratio() {
    return mops / restMops;
  }

  public double seconds() {
    return endSeconds - beginSeconds;
  }

  /** Creates an empty table of checkpoints. */
  public static Csv csv() {
    return new Csv("figure", "series", "begin s", "end s", "Mops before", "Mops during");
  }

  /** Adds this one to such a table. */
  public void addTo(Csv csv, String figure, String series) {
    csv.add(figure, series, beginSeconds, endSeconds, restMops, mops);
  }
}
