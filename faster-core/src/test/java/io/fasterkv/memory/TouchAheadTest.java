package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Touching a buffer that others write to, and how far that goes. */
class TouchAheadTest {
  private static final long BYTES = 1 << 20;
  private static final long SMALL_PAGE_BYTES = 4096;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(BYTES));
  private final MemorySegment memory = arena.allocate("test", BYTES, OffHeapArena.PAGE_ALIGNMENT);
  private final TouchAhead ahead = new TouchAhead(memory);

  @AfterEach
  void close() {
    ahead.close();
    arena.close();
  }

  private void awaitTouched(long address) {
    while (ahead.touched() < address) {
      Thread.onSpinWait();
    }
  }

  @Test
  void goesAQuarterOfTheBufferAheadAndNoFurther() {
    long begin = 5 * BYTES + 3 * SMALL_PAGE_BYTES;
    assertThat(ahead.touched()).isNegative();
    ahead.reached(begin);
    for (long at = begin; at < begin + BYTES / 2; at += 10_000) {
      ahead.reached(at);
      long most = at + BYTES / TouchAhead.SHARE;
      awaitTouched(most & -SMALL_PAGE_BYTES);
      assertThat(ahead.touched()).isLessThan(most + SMALL_PAGE_BYTES);
    }
  }

  @Test
  void endsWhenItHasBeenRoundOnce() {
    long begin = 7 * BYTES + BYTES / 2;
    ahead.reached(begin);
    for (long at = begin; at <= begin + 3 * BYTES; at += BYTES / 8) {
      ahead.reached(at);
      awaitTouched(Math.min(at + BYTES / TouchAhead.SHARE, begin + BYTES));
    }
    assertThat(ahead.touched()).isEqualTo(begin + BYTES);
  }

  @Test
  void closesBeforeItHasBegun() {
    ahead.close();
    assertThat(ahead.touched()).isNegative();
  }

  /** The word that is touched next is written over and over until it has been touched. */
  @Test
  void whatOthersWriteMeanwhileStays() {
    for (int round = 0; round < 100; round++) {
      try (TouchAhead own = new TouchAhead(memory)) {
        for (long at = 0; at < BYTES; at += SMALL_PAGE_BYTES) {
          long written = 0;
          Words.storePlain(memory, at, written);
          own.reached(Math.max(0, at + SMALL_PAGE_BYTES - BYTES / TouchAhead.SHARE));
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
