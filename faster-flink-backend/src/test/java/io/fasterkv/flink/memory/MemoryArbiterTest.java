package io.fasterkv.flink.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.memory.MemoryArbiter.Move;
import io.fasterkv.flink.memory.MemoryArbiter.Store;
import io.fasterkv.spi.MemoryUses;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which memory the arbiter takes first. */
class MemoryArbiterTest {
  private static final long MIB = 1 << 20;
  private static final long LEAST = MIB / 4;

  /** Reads from disk, and its log is full. */
  private static final Store NEEDY =
      new Store(8 * MIB, 0, 64 * MIB, 0, 1_000, uses(8 * MIB, 8 * MIB, 64 * MIB, 0));

  /** All in memory, and used so often that a byte of it is worth more than one of the other. */
  private static Store hot(long spareIndexBytes) {
    return new Store(
        32 * MIB, 16 * MIB, 0, 1_000_000, 0, uses(16 * MIB, 12 * MIB, 0, spareIndexBytes));
  }

  private static MemoryUses uses(long log, long used, long disk, long spareIndex) {
    return new MemoryUses(0, 0, log, used, disk, spareIndex, 64 * MIB, log, 0, 0, 0);
  }

  private static Move next(Store... stores) {
    return MemoryArbiter.next(List.of(stores), true, 0, 0, 8 * MIB, LEAST);
  }

  @Test
  void aHotLogKeepsItsMemory() {
    assertThat(next(NEEDY, hot(0))).isNull();
  }

  @Test
  void whatAnIndexHasNotTakenIsGivenUp() {
    assertThat(next(NEEDY, hot(3 * MIB))).isEqualTo(new Move(1, 0, 3 * MIB, false));
  }

  @Test
  void whatItsOwnIndexDoesNotUseComesFirst() {
    Store needy =
        new Store(8 * MIB, 4 * MIB, 0, 0, 1_000, uses(4 * MIB, 4 * MIB, 64 * MIB, 3 * MIB));
    assertThat(MemoryArbiter.next(List.of(needy), true, 8 * MIB, 0, 8 * MIB, LEAST))
        .isEqualTo(new Move(0, 0, 3 * MIB, false));
  }

  /** Such a store can accept memory only for its index. */
  @Test
  void aLogThatCanTakeNothingGetsNothing() {
    MemoryUses uses = new MemoryUses(0, 0, MIB, MIB, 64 * MIB, 3 * MIB, 0, 0, 0, 0, 0);
    Store fixed = new Store(8 * MIB, 4 * MIB, 8 * MIB, 0, 1_000, uses);
    assertThat(MemoryArbiter.next(List.of(fixed, hot(3 * MIB)), true, 8 * MIB, 0, 8 * MIB, LEAST))
        .isNull();
  }

  /** An index gets all of what it lacks, however much that is, and nothing that others use. */
  @Test
  void aFullIndexGetsWhatItLacks() {
    Store full =
        new Store(
            8 * MIB, 0, 64 * MIB, 0, 0, new MemoryUses(0, 0, MIB, MIB, 0, 0, 0, 0, 20 * MIB, 0, 0));
    assertThat(MemoryArbiter.next(List.of(full, hot(0)), true, 64 * MIB, 64 * MIB, 8 * MIB, LEAST))
        .isEqualTo(new Move(Move.FREE, 0, 20 * MIB, true));
    assertThat(MemoryArbiter.next(List.of(full, hot(9 * MIB)), true, 0, 64 * MIB, 8 * MIB, LEAST))
        .isEqualTo(new Move(1, 0, 9 * MIB, true));
    assertThat(MemoryArbiter.next(List.of(full, hot(0)), true, 0, 64 * MIB, 8 * MIB, LEAST))
        .isNull();
  }

  /** Its lookups read other keys' records, which a larger log would hardly avoid. */
  @Test
  void whatOthersLoseForALogGoesToItsFullIndex() {
    MemoryUses uses =
        new MemoryUses(0, 0, 8 * MIB, 8 * MIB, 64 * MIB, 0, 64 * MIB, 0, 2 * MIB, 0, 0);
    Store needy = new Store(8 * MIB, 0, 64 * MIB, 0, 1_000, uses);
    Store cold = new Store(32 * MIB, 16 * MIB, 0, 1, 0, uses(16 * MIB, 12 * MIB, 0, 0));
    assertThat(MemoryArbiter.next(List.of(needy, cold), true, 0, 64 * MIB, 8 * MIB, LEAST))
        .isEqualTo(new Move(1, 0, 2 * MIB, true));
    assertThat(MemoryArbiter.next(List.of(needy, cold), true, 0, 0, 8 * MIB, LEAST))
        .as("the others must keep their fair parts")
        .isEqualTo(new Move(1, 0, 8 * MIB, false));
  }

  @Test
  void lessThanIsWorthAMoveStays() {
    assertThat(next(NEEDY, hot(LEAST / 2))).isNull();
  }
}
