package io.fasterkv.checkpoint.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ReadRunsTest {
  /**
   * Threads of random speed: each part is read once, and nearly all reads follow the preceding
   * part.
   */
  @Test
  void eachPartIsReadOnceAndMostlyInOrder() {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 200; round++) {
      int parts = random.nextInt(1, 400);
      int threads = random.nextInt(1, 20);
      ReadRuns runs = new ReadRuns(parts, threads);
      BitSet taken = new BitSet();
      int[] expected = new int[threads];
      int seeks = 0;
      for (int i = 0; i < parts; i++) {
        int thread = Math.min(random.nextInt(threads), random.nextInt(threads));
        int part = runs.take(thread);
        assertThat(part).as("seed %d", seed).isBetween(0, parts - 1);
        assertThat(taken.get(part)).as("seed %d: part %d is taken again", seed, part).isFalse();
        taken.set(part);
        seeks += part == expected[thread] ? 0 : 1;
        expected[thread] = part + 1;
      }
      // A steal halves a run, so the number of steals is about the logarithm of the longest run.
      assertThat(seeks)
          .as("seed %d, parts %d, threads %d", seed, parts, threads)
          .isLessThanOrEqualTo(threads * 10);
      assertThatThrownBy(() -> runs.take(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("all parts are taken: thread=0");
    }
  }

  @Test
  void aThreadWithoutARunTakesHalfOfTheLongest() {
    ReadRuns runs = new ReadRuns(8, 2);
    assertThat(new int[] {runs.take(0), runs.take(0), runs.take(0), runs.take(0)})
        .containsExactly(0, 1, 2, 3);
    assertThat(new int[] {runs.take(0), runs.take(1), runs.take(0)}).containsExactly(6, 4, 7);
    assertThat(runs.take(0)).isEqualTo(5);
  }
}
