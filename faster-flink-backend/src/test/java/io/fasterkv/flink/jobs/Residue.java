package io.fasterkv.flink.jobs;

import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The numbers from 0 up with the same remainder: their count, their sum, and the largest. */
record Residue(long rest, long count, long sum, long most) {
  /** All residues of the numbers below {@code numbers}. */
  static Stream<Residue> of(long numbers, long divisor) {
    return LongStream.range(0, divisor)
        .mapToObj(rest -> {
          long count = (numbers - rest + divisor - 1) / divisor;
          long most = rest + (count - 1) * divisor;
          return new Residue(rest, count, count * (rest + most) / 2, most);
        });
  }
}
