package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.Seeds;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.ResidentPages;
import io.fasterkv.memory.Words;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests frames that lose and receive memory: a page moves into a zeroed frame, its contents remain
 * until it is closed, and no more frames than intended have memory.
 */
@Tag("seeds")
class FrameWindowTest {
  private static final int PAGE = 4096;
  private static final int PAGES = 64;
  private static final long BYTES = (long) PAGE * PAGES;
  private static final int FIRST = 16;
  private static final int LEAST = 4;
  private static final int STEPS = 2000;

  private final OffHeapArena arena =
      new OffHeapArena(new MemoryBudget(1 << 20), true, false, System.getLogger("test"));
  private final PageFrames frames =
      PageFrames.resizable(arena, (long) PAGE * FIRST, BYTES, PAGE, BYTES);
  private final FrameWindow window = frames.window();

  /** Pages below {@code closed} are evicted; those up to {@code tail} are written. */
  private long closed;

  private long tail = -1;

  static LongStream seeds() {
    return Seeds.fresh(50);
  }

  @AfterEach
  void close() {
    frames.close();
    arena.close();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void pagesStayIntactWhileMemoryMoves(long seed) throws IOException {
    run(new SplittableRandom(seed), window::clear, this::raise);
  }

  private void raise(long wanted) {
    boolean isRaised = false;
    while (!isRaised) {
      isRaised = window.raise(closed, wanted);
    }
  }

  /** Broken on purpose: touches the frame before the one to which the tail may advance next. */
  @Test
  void detectsAWindowThatTouchesAFrameWithAPage() {
    LongConsumer hasty =
        page -> {
          if (window.pages() == PAGES) {
            frames.clear(page);
          } else {
            frames.release(page);
            frames.clear(page + window.pages() - 1);
          }
        };
    assertThatThrownBy(
            () -> {
              for (long seed = 0; seed < 50; seed++) {
                run(new SplittableRandom(seed), hasty, this::raise);
              }
            })
        .isInstanceOf(AssertionError.class);
  }

  /** Broken on purpose: the tail may use frames that the clearing thread does not expect it to. */
  @Test
  void detectsALimitAboveTheFramesWithMemory() {
    assertThatThrownBy(
            () -> {
              for (long seed = 0; seed < 50; seed++) {
                run(new SplittableRandom(seed), window::clear, window::limit);
              }
            })
        .isInstanceOf(AssertionError.class);
  }

  private void run(SplittableRandom random, LongConsumer clear, LongConsumer raise)
      throws IOException {
    boolean isReleased = true;
    for (int step = 0; step < STEPS; step++) {
      boolean mayHalve = tail < closed + window.pages() / 2 && window.pages() > LEAST;
      if (isReleased && mayHalve && random.nextInt(5) == 0) {
        window.limit(window.pages() / 2);
        isReleased = false;
      }
      isReleased = isReleased || window.release(closed);
      if (isReleased && random.nextInt(8) == 0) {
        raise.accept(random.nextLong(window.pages(), PAGES + 1));
      }
      turns(random, window.pages());
      for (int i = random.nextInt(PAGES); i > 0 && closed < tail; i--) {
        check(closed, closed + 1);
        clear.accept(closed);
        closed++;
      }
      if (isReleased) {
        checkResident();
      }
    }
  }

  /** Turns a random number of pages, at most as many as there is room for. */
  private void turns(SplittableRandom random, long pages) {
    for (int i = random.nextInt(PAGES); i > 0 && tail + 1 < closed + pages; i--) {
      tail++;
      check(tail, 0);
      for (long at = 0; at < PAGE; at += Long.BYTES) {
        Words.storePlain(frames.memory(), frames.offset(frames.pageStart(tail)) + at, tail + 1);
      }
    }
  }

  private void check(long page, long word) {
    for (long at = 0; at < PAGE; at += Long.BYTES) {
      long found = Words.loadPlain(frames.memory(), frames.offset(frames.pageStart(page)) + at);
      if (found != word) {
        throw new AssertionError("page=" + page + ", found=" + found + ", expected=" + word);
      }
    }
  }

  private void checkResident() throws IOException {
    assertThat(ResidentPages.bytes(frames.memory()))
        .as("memory of %d frames", window.pages())
        .isLessThanOrEqualTo(window.pages() * PAGE);
  }
}
