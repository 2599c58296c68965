package io.fasterkv.bench.cpr;

import io.fasterkv.bench.report.Csv;

/**
 * A checkpoint in a run.
 *
 * @param beginSeconds when it was asked for
 * @param endSeconds when it was durable
 * @param restMops millions of operations a second before it, over one unit of time
 * @param mops the same from its begin to its end
 */
record Mark(double beginSeconds, double endSeconds, double restMops, double mops) {

  /** What was left of the throughput. */
  double ratio() {
    return mops / restMops;
  }

  double seconds() {
    return endSeconds - beginSeconds;
  }

  /** An empty table of checkpoints. */
  static Csv csv() {
    return new Csv("figure", "series", "begin s", "end s", "Mops before", "Mops during");
  }

  /** Adds this one to such a table. */
  void addTo(Csv csv, String figure, String series) {
    csv.add(figure, series, beginSeconds, endSeconds, restMops, mops);
  }
}
