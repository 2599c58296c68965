package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that frames are cleared several at a time, by a background thread or by a thread that needs
 * a frame, and that each frame is cleared once.
 */
class FrameClearingTest {
  private static final int PAGE = 4096;
  private static final int PAGES = 16;
  private static final long BYTES = (long) PAGE * PAGES;
  private static final int TOGETHER = 4;
  private static final byte USED = 7;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(1 << 20));
  private final PageFrames frames = new PageFrames(arena, BYTES, PAGE, BYTES);
  private final LogMarks marks = new LogMarks(0, 0);
  private final FrameClearing clearing =
      new FrameClearing(frames, marks, () -> TOGETHER, System.getLogger("test"));

  @AfterEach
  void close() {
    clearing.close();
    frames.close();
    arena.close();
  }

  private void use() {
    frames.memory().fill(USED);
  }

  private void checkClear(int pages) {
    for (long at = 0; at < BYTES; at += Long.BYTES) {
      boolean isClear = Words.loadPlain(frames.memory(), at) == 0;
      assertThat(isClear).as("at " + at).isEqualTo(at < (long) pages * PAGE);
    }
  }

  /**
   * Only a thread can advance the address; without one, the test runner's time limit ends the test.
   */
  private void awaitClosed(long address) {
    while (marks.closed() < address) {
      Thread.onSpinWait();
    }
  }

  @Test
  void fewFramesAreClearedByThreadsThatNeedOne() {
    use();
    clearing.left((TOGETHER - 1L) * PAGE);
    assertThat(marks.closed()).isZero();
    checkClear(0);
    clearing.clear(2L * PAGE);
    assertThat(marks.closed()).isEqualTo(2L * PAGE);
    checkClear(2);
  }

  @Test
  void aThreadOfTheirOwnClearsMore() {
    for (long from = 0; from < 10 * BYTES; from += BYTES) {
      use();
      clearing.left(from + (long) TOGETHER * PAGE);
      awaitClosed(from + (long) TOGETHER * PAGE);
      checkClear(TOGETHER);
      clearing.left(from + BYTES);
      awaitClosed(from + BYTES);
      checkClear(PAGES);
    }
  }

  @Test
  void aPartlyReleasedPageIsNotCleared() {
    use();
    clearing.left(PAGE + PAGE / 2);
    clearing.clear(BYTES);
    assertThat(marks.closed()).isEqualTo(PAGE + PAGE / 2);
    checkClear(1);
    clearing.left(2L * PAGE);
    clearing.clear(BYTES);
    checkClear(2);
  }

  @Test
  void withoutAThreadAllIsClearedAtOnce() {
    use();
    new FrameClearing(frames, marks, () -> 0, System.getLogger("test")).left(3L * PAGE);
    assertThat(marks.closed()).isEqualTo(3L * PAGE);
    checkClear(3);
  }

  @Test
  void nothingIsClearedByAThreadAfterTheEnd() {
    clearing.close();
    use();
    clearing.left(BYTES);
    clearing.close();
    assertThat(marks.closed()).isZero();
    checkClear(0);
  }

  /** A page is written as soon as its frame is free, and checked before it is evicted. */
  @Test
  void bytesWrittenToAClearFrameStay() {
    long behind = BYTES / 2;
    clearing.left(behind);
    for (long page = BYTES; page < 20_000 * PAGE; page += PAGE) {
      if (page % (3L * PAGE) == 0) {
        clearing.clear(page);
      }
      awaitClosed(page - BYTES + PAGE);
      checkPage(page, 0);
      write(page);
      long old = page - behind;
      if (old >= BYTES) {
        checkPage(old, old);
      }
      clearing.left(old + PAGE);
    }
  }

  private void write(long page) {
    for (long at = page; at < page + PAGE; at += Long.BYTES) {
      Words.storePlain(frames.memory(), frames.offset(at), page);
    }
  }

  private void checkPage(long page, long word) {
    for (long at = page; at < page + PAGE; at += Long.BYTES) {
      if (Words.loadPlain(frames.memory(), frames.offset(at)) != word) {
        throw new AssertionError("at " + at + ", expected=" + word);
      }
    }
  }
}
