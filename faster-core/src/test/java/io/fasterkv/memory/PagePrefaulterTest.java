package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests prefaulting a buffer to which other threads write, and how far ahead it touches pages. */
class PagePrefaulterTest {
  private static final long BYTES = 1 << 20;
  private static final long SMALL_PAGE_BYTES = 4096;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(BYTES));
  private final MemorySegment memory = arena.allocate("test", BYTES, OffHeapArena.PAGE_ALIGNMENT);
  private final PagePrefaulter prefaulter =
      new PagePrefaulter(memory, memory.byteSize(), System.getLogger("test"));

  @AfterEach
  void close() {
    prefaulter.close();
    arena.close();
  }

  private void awaitTouched(long address) {
    while (prefaulter.touched() < address) {
      Thread.onSpinWait();
    }
  }

  @Test
  void goesAQuarterOfTheBufferAheadAndNoFurther() {
    long begin = 5 * BYTES + 3 * SMALL_PAGE_BYTES;
    assertThat(prefaulter.touched()).isNegative();
    prefaulter.reached(begin);
    for (long at = begin; at < begin + BYTES / 2; at += 10_000) {
      prefaulter.reached(at);
      long most = at + BYTES / PagePrefaulter.SHARE;
      awaitTouched(most & -SMALL_PAGE_BYTES);
      assertThat(prefaulter.touched()).isLessThan(most + SMALL_PAGE_BYTES);
    }
  }

  @Test
  void endsWhenItHasBeenRoundOnce() {
    long begin = 7 * BYTES + BYTES / 2;
    prefaulter.reached(begin);
    for (long at = begin; at <= begin + 3 * BYTES; at += BYTES / 8) {
      prefaulter.reached(at);
      awaitTouched(Math.min(at + BYTES / PagePrefaulter.SHARE, begin + BYTES));
    }
    assertThat(prefaulter.touched()).isEqualTo(begin + BYTES);
  }

  @Test
  void closesBeforeItHasBegun() {
    prefaulter.close();
    assertThat(prefaulter.touched()).isNegative();
  }

  /** Overwrites the word that is touched next again and again until it has been touched. */
  @Tag("slow")
  @Test
  void concurrentWritesStay() {
    for (int round = 0; round < 100; round++) {
      try (PagePrefaulter own =
          new PagePrefaulter(memory, memory.byteSize(), System.getLogger("test"))) {
        for (long at = 0; at < BYTES; at += SMALL_PAGE_BYTES) {
          long written = 0;
          Words.storePlain(memory, at, written);
          own.reached(Math.max(0, at + SMALL_PAGE_BYTES - BYTES / PagePrefaulter.SHARE));
          while (own.touched() <= at) {
            Words.storePlain(memory, at, ++written);
          }
          assertThat(Words.loadPlain(memory, at))
              .as("round " + round + ", at " + at)
              .isEqualTo(written);
        }
      }
    }
  }
}
