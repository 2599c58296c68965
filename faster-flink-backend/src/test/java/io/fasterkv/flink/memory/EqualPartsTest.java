package io.fasterkv.flink.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.memory.MemoryArbiter.Move;
import io.fasterkv.flink.memory.MemoryArbiter.Store;
import io.fasterkv.spi.MemoryUses;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests who gets what no store needs. */
class EqualPartsTest {
  private static final long MIB = 1 << 20;
  private static final long LEAST = MIB / 4;

  private static MemoryUses uses(long log, long used, long disk, long spareIndex) {
    return new MemoryUses(0, 0, log, used, disk, spareIndex, 64 * MIB, log, 0, 0, 0);
  }

  /** It reads nothing from disk, and has less than an equal part. */
  private static Store small(long log, long used) {
    return new Store(6 * MIB, 0, 64 * MIB, 0, 0, uses(log, used, 64 * MIB, 0));
  }

  private static Move next(long free, long mostForIndexes, Store... stores) {
    return EqualParts.next(List.of(stores), true, free, mostForIndexes, 3 * MIB, LEAST);
  }

  /** The log gets the largest power of two up to half of 16 MiB, and the index all else at once. */
  @Test
  void anIndexGetsItsPartOfWhatNobodyNeedsAtOnce() {
    assertThat(next(10 * MIB, 10 * MIB, small(4 * MIB, 0)))
        .isEqualTo(new Move(Move.FREE, 0, 6 * MIB, true));
    assertThat(next(10 * MIB, 5 * MIB, small(4 * MIB, 0)))
        .as("later stores need their parts")
        .isEqualTo(new Move(Move.FREE, 0, 5 * MIB, true));
    assertThat(next(4 * MIB, 4 * MIB, small(3 * MIB, 0)))
        .as("the log may need a MiB")
        .isEqualTo(new Move(Move.FREE, 0, 3 * MIB, true));
  }

  @Test
  void aLogGetsItsPartAsItFillsWhatItHas() {
    assertThat(next(10 * MIB, 10 * MIB, small(4 * MIB, 4 * MIB)))
        .isEqualTo(new Move(Move.FREE, 0, 3 * MIB, false));
    assertThat(next(3 * MIB, 0, small(4 * MIB, 4 * MIB)))
        .as("a log of 4 MiB has its part of 9 MiB")
        .isNull();
  }

  /** Two stores that fill their logs would otherwise take them from each other. */
  @Test
  void onlyStoresWithMoreThanAnEqualPartGiveWhatTheyDoNotUse() {
    Store small = small(MIB, MIB);
    Store idle = new Store(10 * MIB, 6 * MIB, 0, 0, 0, uses(8 * MIB, MIB, 0, 0));
    assertThat(next(0, 0, small, idle)).isEqualTo(new Move(1, 0, 2 * MIB, false));
    Store equal = new Store(8 * MIB, 6 * MIB, 64 * MIB, 0, 0, uses(4 * MIB, 0, 0, 0));
    assertThat(next(0, 0, small, equal, new Store(10 * MIB, 0, 0, 0, 0, uses(MIB, MIB, 0, 0))))
        .isNull();
    Store reading = new Store(10 * MIB, 6 * MIB, 0, 0, 1, uses(8 * MIB, MIB, 64 * MIB, 0));
    assertThat(next(0, 0, small, reading)).as("it may fill what it has received").isNull();
    assertThat(EqualParts.next(List.of(small, idle), false, 0, 0, 3 * MIB, LEAST))
        .as("what it uses is not known yet")
        .isNull();
  }

  /** The one with the least memory comes first, and one that accepts nothing is left out. */
  @Test
  void theSmallestStoreIsFirst() {
    Store smaller = new Store(2 * MIB, 0, 64 * MIB, 0, 0, uses(MIB, 0, 0, 0));
    Store closed = new Store(MIB, 0, 0, 0, 0, uses(MIB, MIB, 0, 0));
    assertThat(next(15 * MIB, 15 * MIB, small(4 * MIB, 0), smaller, closed))
        .isEqualTo(new Move(Move.FREE, 1, 3 * MIB, true));
  }
}
