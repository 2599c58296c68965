package io.fasterkv.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which entries a cleaner frees, and that it does not read a table again for nothing. */
class IndexCleanerTest {
  private static final int HASHES = 1_000;
  private static final int DROPPED = 600;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(1 << 20));
  private final HashIndex index = new HashIndex(arena, new IndexGeometry(256, 64), 0);
  private final Epochs epochs =
      new Epochs(
          4,
          failure -> {
            throw new AssertionError(failure);
          });
  private final EpochUser user = epochs.register();
  private final IndexCleaner cleaner = new IndexCleaner(index, epochs);

  @AfterEach
  void close() {
    user.close();
    arena.close();
  }

  private static long hash(int number) {
    return number * 0x9E3779B97F4A7C15L;
  }

  /** Adds an entry for each number whose address is that number. */
  private void fill() {
    for (int number = 1; number <= HASHES; number++) {
      add(number, number);
    }
  }

  private void add(int number, long address) {
    IndexEntry entry = new IndexEntry();
    user.protect();
    index.enter(hash(number), entry);
    index.findOrCreate(hash(number), entry);
    assertThat(index.compareAndSet(entry, address)).isTrue();
    user.unprotect();
  }

  @Test
  void entriesBelowTheAddressAreFreedAndOthersStay() {
    fill();
    assertThat(cleaner.clean(DROPPED)).isEqualTo(DROPPED - 1);
    IndexEntry entry = new IndexEntry();
    for (int number = 1; number <= HASHES; number++) {
      user.protect();
      index.enter(hash(number), entry);
      assertThat(index.find(hash(number), entry))
          .as("number " + number)
          .isEqualTo(number >= DROPPED);
      user.unprotect();
    }
    assertThat(index.soleTable().entries()).isEqualTo(HASHES - DROPPED + 1);
  }

  /** No store can publish such a low address; here it shows whether the table is read again. */
  @Test
  void aTableIsReadOnlyIfMoreWasDropped() {
    fill();
    cleaner.clean(DROPPED);
    add(HASHES + 1, 5);
    assertThat(cleaner.clean(DROPPED)).isZero();
    assertThat(cleaner.clean(DROPPED - 1)).isZero();
    assertThat(cleaner.clean(DROPPED + 1)).isEqualTo(2);
  }
}
