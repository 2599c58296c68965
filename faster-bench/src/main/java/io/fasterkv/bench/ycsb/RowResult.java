package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.ycsb.Slice.Outcome;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The measurements of a row.
 *
 * @param outcomes one for each round, in order
 */
public record RowResult(RowSpec spec, List<Outcome> outcomes) {

  /** Millions of operations a second. */
  public Spread mops() {
    return Spread.of(outcomes.stream().map(Outcome::mops).toList());
  }

  /** Bytes allocated on the Java heap for each operation. */
  public double bytesPerOp() {
    return Spread.of(outcomes.stream().map(Outcome::bytesPerOp).toList()).median();
  }

  /** This row's speed as a multiple of another's, round by round. */
  public Spread times(RowResult other) {
    List<Double> ratios =
        IntStream.range(0, outcomes.size())
            .mapToObj(round -> outcomes.get(round).mops() / other.outcomes.get(round).mops())
            .toList();
    return Spread.of(ratios);
  }
}
