package io.fasterkv.bench.cpr;

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
}
