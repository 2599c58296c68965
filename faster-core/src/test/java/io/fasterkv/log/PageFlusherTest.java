package io.fasterkv.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.device.LogDevice;
import io.fasterkv.memory.Checksums;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that pages are written to the device together if it is behind, and that each page is
 * reported separately.
 */
class PageFlusherTest {
  private static final int PAGE = 4096;
  private static final int PAGES = 16;
  private static final int SEGMENT_PAGES = 8;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(1 << 20));
  private final PageFrames frames = new PageFrames(arena, PAGES * PAGE, PAGE, SEGMENT_PAGES * PAGE);
  private final FlushedExtents extents = new FlushedExtents(0);
  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));
  private final SlowDevice device = new SlowDevice();
  private long flushed;
  private final PageFlusher flusher =
      new PageFlusher(
          frames, device, extents, 0, until -> flushed = Math.max(flushed, until), failure);

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void pagesThatWaitForFourWritesJoinTheNext() {
    for (int page = 1; page <= 7; page++) {
      flusher.flushUntil((long) page * PAGE);
    }
    assertThat(device.pages()).containsExactly(1, 1, 1, 1);
    device.complete(0, null);
    assertThat(flushed).isEqualTo(PAGE);
    assertThat(device.pages()).as("three pages in one write").containsExactly(1, 1, 1, 3);
    assertThat(extents.countUntil(Long.MAX_VALUE)).isEqualTo(1);
    device.completeAll();
    assertThat(flushed).isEqualTo(7 * PAGE);
    assertThat(extents.countUntil(Long.MAX_VALUE)).as("an extent for each page").isEqualTo(7);
    checkExtents();
  }

  @Test
  void noWriteCrossesASegmentOrTheEndOfTheBuffer() {
    flusher.flushUntil(3L * PAGE);
    flusher.flushUntil(12L * PAGE);
    assertThat(device.pages()).containsExactly(3, 5, 4);
    device.completeAll();
    flusher.flushUntil(18L * PAGE);
    assertThat(device.pages()).containsExactly(4, 2);
    device.completeAll();
    assertThat(flushed).isEqualTo(18L * PAGE);
  }

  @Test
  void anExtentEndsAtACutInTheMiddleOfAWrite() {
    for (int page = 1; page <= 4; page++) {
      flusher.flushUntil((long) page * PAGE);
    }
    long cut = 5L * PAGE + 512;
    flusher.endExtentAt(cut);
    flusher.flushUntil(cut);
    flusher.flushUntil(8L * PAGE);
    device.complete(3, null);
    assertThat(device.pages()).containsExactly(1, 1, 1, 4);
    // The last write first: its completion does not lose the ends of earlier extents.
    device.complete(3, null);
    device.completeAll();
    assertThat(extents.at(cut - 1).until()).isEqualTo(cut);
    assertThat(extents.at(cut).until()).isEqualTo(6L * PAGE);
    assertThat(extents.countUntil(Long.MAX_VALUE)).isEqualTo(9);
    checkExtents();
  }

  @Test
  void aWriteReportedTwiceCountsOnce() {
    for (int page = 1; page <= 6; page++) {
      flusher.flushUntil((long) page * PAGE);
    }
    Request first = device.underWay.get(0);
    for (int times = 0; times < 3; times++) {
      first.completion.completed(null);
    }
    first.completion.completed(new IOException("late"));
    assertThat(failure.get()).isNull();
    assertThat(flushed).isEqualTo(PAGE);
    device.underWay.remove(0);
    assertThat(device.pages()).as("room for one, not for three").containsExactly(1, 1, 1, 2);
    flusher.flushUntil(7L * PAGE);
    assertThat(device.pages()).hasSize(4);
    device.completeAll();
    assertThat(extents.countUntil(Long.MAX_VALUE)).isEqualTo(7);
    checkExtents();
  }

  @Test
  void nothingIsFlushedPastAWriteThatFailed() {
    for (int page = 1; page <= 3; page++) {
      flusher.flushUntil((long) page * PAGE);
    }
    device.complete(1, new IOException("Input/output error"));
    device.completeAll();
    assertThat(flushed).isEqualTo(PAGE);
    assertThat(failure.get()).hasMessageContaining("place " + PAGE);
    assertThat(failure.get()).hasRootCauseMessage("Input/output error");
  }

  /** The store must not wait for the report for ever. */
  @Test
  void aReportThatFailsIsNeverLostWithoutAFailure() {
    InternalError thrown = new InternalError("on purpose");
    PageFlusher failing =
        new PageFlusher(
            frames,
            device,
            extents,
            0,
            until -> {
              throw thrown;
            },
            failure);
    failing.flushUntil(PAGE);
    device.completeAll();
    assertThat(failure.get()).isSameAs(thrown);
  }

  private void checkExtents() {
    long[] next = {0};
    extents.forEachUntil(
        Long.MAX_VALUE,
        extent -> {
          assertThat(extent.from()).isEqualTo(next[0]);
          assertThat(extent.crc())
              .isEqualTo(Checksums.crc32c(frames.slice(extent.from(), extent.until())));
          next[0] = extent.until();
        });
    assertThat(next[0]).isEqualTo(flushed);
  }

  private record Request(long bytes, LogDevice.Completion completion) {}

  /** Reports writes only on request. */
  private static final class SlowDevice implements LogDevice {
    private final List<Request> underWay = new ArrayList<>();

    List<Integer> pages() {
      return underWay.stream().map(request -> (int) (request.bytes / PAGE)).toList();
    }

    void complete(int index, IOException problem) {
      underWay.remove(index).completion.completed(problem);
    }

    void completeAll() {
      while (!underWay.isEmpty()) {
        complete(underWay.size() - 1, null);
      }
    }

    @Override
    public void write(long address, MemorySegment source, Completion completion) {
      underWay.add(new Request(source.byteSize(), completion));
    }

    @Override
    public String place(long address) {
      return "place " + address;
    }

    @Override
    public int sectorBytes() {
      return 512;
    }

    @Override
    public void read(long address, MemorySegment target, Completion completion) {
      throw new AssertionError();
    }

    @Override
    public void readNow(long address, MemorySegment target) {
      throw new AssertionError();
    }

    @Override
    public void force() {}

    @Override
    public void truncate(long address) {}

    @Override
    public void close() {}

    @Override
    public void delete() {}
  }
}
