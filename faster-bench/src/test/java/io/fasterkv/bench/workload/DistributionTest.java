package io.fasterkv.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DistributionTest {
  private static final int KEYS = 1_000;
  private static final int CHOICES = 200_000;

  private static long[] sortedCounts(Distribution distribution) {
    long[] counts = new long[KEYS];
    for (long key : distribution.choose(KEYS, CHOICES, new SplittableRandom(7))) {
      counts[(int) key]++;
    }
    Arrays.sort(counts);
    return counts;
  }

  @ParameterizedTest
  @EnumSource(Distribution.class)
  void theSameSeedChoosesTheSameKeysAndAnotherSeedOthers(Distribution distribution) {
    long[] keys = distribution.choose(KEYS, 500, new SplittableRandom(1));

    assertThat(distribution.choose(KEYS, 500, new SplittableRandom(1))).isEqualTo(keys);
    assertThat(distribution.choose(KEYS, 500, new SplittableRandom(2))).isNotEqualTo(keys);
  }

  @Test
  void uniformChoosesAllKeysAlike() {
    long[] counts = sortedCounts(Distribution.UNIFORM);

    // Each key occurs 200 times on average, with a standard deviation of 14.
    assertThat(counts[0]).isGreaterThan(200 - 6 * 14);
    assertThat(counts[KEYS - 1]).isLessThan(200 + 6 * 14);
  }

  @Test
  void zipfChoosesRanksByTheirInverse() {
    long[] counts = sortedCounts(Distribution.ZIPF);
    double zeta = 0;
    for (int rank = 1; rank <= KEYS; rank++) {
      zeta += Math.pow(rank, -0.99);
    }

    assertThat(counts[KEYS - 1] / (double) CHOICES).isCloseTo(1 / zeta, within(0.01));
    assertThat(counts[KEYS - 2] / (double) CHOICES)
        .isCloseTo(Math.pow(2, -0.99) / zeta, within(0.01));
    double tenth = Arrays.stream(counts, KEYS - KEYS / 10, KEYS).sum() / (double) CHOICES;
    double expected = 0;
    for (int rank = 1; rank <= KEYS / 10; rank++) {
      expected += Math.pow(rank, -0.99) / zeta;
    }
    assertThat(tenth).isCloseTo(expected, within(0.03));
  }

  @Test
  void aHotsetTakesNineInTenAtAnyMomentAndMovesOverAllKeys() {
    long[] keys = Distribution.HOTSET.choose(KEYS, CHOICES, new SplittableRandom(7));
    // During each hundredth of the stream, the hot fifth moves by a hundredth of the keys.
    long[] moment = Arrays.copyOf(keys, CHOICES / 100);
    long[] counts = new long[KEYS];
    for (long key : moment) {
      counts[(int) key]++;
    }
    Arrays.sort(counts);
    double hottest = Arrays.stream(counts, KEYS - KEYS / 5, KEYS).sum() / (double) moment.length;

    assertThat(hottest).isCloseTo(0.9, within(0.05));
    long[] all = sortedCounts(Distribution.HOTSET);
    assertThat(all[KEYS - 1]).as("in the long run no key is hotter").isLessThan(2 * 200);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 100, 1_000, 1_025})
  void aPermutationReachesEveryNumberOnce(long size) {
    Permutation permutation = new Permutation(size, 42);
    BitSet reached = new BitSet();
    for (long i = 0; i < size; i++) {
      reached.set((int) permutation.apply(i));
    }

    assertThat(reached.cardinality()).isEqualTo((int) size);
    assertThat(reached.length()).isEqualTo((int) size);
  }
}
