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
    return new MemoryUses(0, 0, log, used, disk, spareIndex, false, 0, 0);
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
  void lessThanIsWorthAMoveStays() {
    assertThat(next(NEEDY, hot(LEAST / 2))).isNull();
  }
}
