package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the disk use of a log whose begin address is pinned, with a model of a log: a list of keys,
 * in which the last entry of each key is live. Compaction takes no time, and writes are sequential.
 */
class PinnedLogLimitTest {
  private static final int LIVE = 3000;
  private static final int PIECE = LIVE / 100;
  private static final int ROTATIONS = 8;

  private final RunTrigger trigger = new RunTrigger(() -> PIECE);
  private final SplittableRandom random = new SplittableRandom(1);
  private final int[] keys = new int[100 * LIVE];
  private final int[] newest = new int[LIVE];
  private int begin;
  private int tail;
  private int storedFrom;
  private int copied;
  private boolean isPassing;
  private int passBegan;
  private int passEnd;
  private int copiedBefore;

  private void append(int key) {
    newest[key] = tail;
    keys[tail] = key;
    tail++;
  }

  private void load() {
    for (int key = 0; key < LIVE; key++) {
      append(key);
    }
    trigger.runEnded(new RunOutcome(LIVE, LIVE, 0, LIVE), 0, LIVE);
  }

  private void compact() {
    isPassing |= trigger.isDue(tail - begin, LIVE, true);
    while (isPassing && PinnedLogLimit.allows(PIECE, begin - storedFrom, tail - begin, LIVE)) {
      if (passEnd == 0) {
        passBegan = begin;
        passEnd = tail;
        copiedBefore = copied;
      }
      int until = begin + PIECE;
      for (; begin < until; begin++) {
        if (newest[keys[begin]] == begin) {
          append(keys[begin]);
          copied++;
        }
      }
      if (begin >= passEnd) {
        int scanned = begin - passBegan;
        int moved = copied - copiedBefore;
        int writtenMeanwhile = tail - passEnd - moved;
        int left = tail - begin - writtenMeanwhile;
        trigger.runEnded(new RunOutcome(scanned, moved, 0, left), scanned, left);
        isPassing = trigger.isDue(tail - begin, LIVE, true);
        passEnd = 0;
      }
    }
  }

  /**
   * The parts are relative to the live bytes: the part that is written, and the part written
   * between two checkpoints. The bound is in hundredths of the live bytes.
   */
  @ParameterizedTest
  @CsvSource({
    // hot, written, kept, bound
    "1.00, 0.01, 1, 180",
    "0.25, 0.01, 1, 180",
    "0.05, 0.01, 1, 180",
    "1.00, 0.05, 1, 180",
    "0.25, 0.05, 1, 180",
    "0.05, 0.05, 1, 180",
    "0.05, 0.05, 2, 200",
    "0.25, 0.05, 2, 200",
    "1.00, 0.12, 1, 200",
    "0.25, 0.12, 1, 200",
    "0.05, 0.12, 1, 200",
    "0.01, 0.12, 1, 200",
    // More is written between two checkpoints than fits: near the minimum for a log of this kind.
    "0.05, 0.16, 1, 220",
    "0.05, 0.25, 1, 240",
    "0.05, 0.50, 1, 305",
    "0.05, 1.00, 1, 460",
  })
  void diskIsNearTheLeastPossible(double hot, double written, int kept, int bound) {
    int[] begins = new int[kept + 1];
    int most = 0;
    int writes = 0;
    load();
    for (int checkpoint = 0; writes < ROTATIONS * LIVE; checkpoint++) {
      for (int i = 0; i < written * LIVE; i++) {
        append(random.nextInt((int) (hot * LIVE)));
        writes++;
        compact();
        most = Math.max(most, tail - storedFrom);
      }
      begins[checkpoint % begins.length] = begin;
      // The oldest checkpoint that was kept is removed.
      storedFrom = checkpoint < kept ? 0 : begins[(checkpoint + 2) % begins.length];
      compact();
      most = Math.max(most, tail - storedFrom);
    }
    assertThat(100L * most / LIVE).isLessThanOrEqualTo(bound);
    assertThat(copied).isLessThanOrEqualTo(7 * writes / 2);
  }

  @Test
  void withoutACheckpointNoMoreIsCopiedThanIsWritten() {
    load();
    int writes = 20 * LIVE;
    for (int i = 0; i < writes; i++) {
      append(random.nextInt(LIVE / 4));
      compact();
      assertThat(tail - begin).as("compaction goes on").isLessThanOrEqualTo(2 * LIVE + i);
    }
    assertThat(copied).isBetween(LIVE / 2, writes);
    assertThat(begin).as("half of what is stored was compacted").isGreaterThan(tail / 3);
  }

  @Test
  void oneInEightIsTakenWhereAllIsSaidToBeLive() {
    assertThat(PinnedLogLimit.allows(10, 0, 1000, 1000)).isTrue();
    assertThat(PinnedLogLimit.allows(10, 115, 1000, 1000)).isTrue();
    assertThat(PinnedLogLimit.allows(10, 116, 1000, 1000)).isFalse();
  }

  @Test
  void aPieceIsTakenHoweverLargeItIsForTheLog() {
    assertThat(PinnedLogLimit.allows(10, 0, 20, 20)).isTrue();
    assertThat(PinnedLogLimit.allows(10, 1, 20, 20)).isFalse();
  }
}
