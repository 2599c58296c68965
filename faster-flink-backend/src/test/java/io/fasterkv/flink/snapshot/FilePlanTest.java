package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.spi.LogPiece;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that checkpoints of a log that grows and is compacted have few files, and upload few bytes
 * twice.
 */
@Tag("seeds")
class FilePlanTest {
  private static final int CHECKPOINTS = 400;
  private static final long PAGE_BYTES = 64 << 10;
  private static final long SECTOR_BYTES = 4096;

  @Test
  void aCheckpointHasEachPieceOnceAndFewFiles() throws Throwable {
    Seeds.run(30, random -> assertThat(new Run(random, true).mostOver()).isNotPositive());
  }

  @Test
  void theSameTestCatchesPlansThatNeverMerge() {
    boolean isCaught = false;
    for (int seed = 0; seed < 30; seed++) {
      isCaught |= new Run(new SplittableRandom(seed), false).mostOver() > 0;
    }
    assertThat(isCaught).isTrue();
  }

  /** The log is truncated as fast as it grows, so its length stays the same. */
  @Tag("slow")
  @Test
  void littleIsUploadedAgain() {
    for (long grown : new long[] {SECTOR_BYTES, 64 << 10, 1 << 20, 4 << 20}) {
      for (int laps : new int[] {10, 100, 1_000}) {
        Run run = new Run(new SplittableRandom(grown + laps), true);
        run.steady(grown, laps * grown);
        long most = 3 * run.newBytes + run.taken * (256L << 10);
        assertThat(run.writtenBytes).as("grown=%s, laps=%s", grown, laps).isLessThan(most);
      }
    }
  }

  /** A log whose checkpoints are confirmed early or late, or aborted. */
  private static final class Run {
    private final SplittableRandom random;
    private final boolean merges;
    private final UploadHistory history = new UploadHistory();
    private final Deque<LogPiece> pieces = new ArrayDeque<>();
    private long tail;
    private long checkpoint;
    private int files;
    private long taken;
    private long newBytes;
    private long writtenBytes;

    Run(SplittableRandom random, boolean merges) {
      this.random = random;
      this.merges = merges;
    }

    /** The largest number of files by which a checkpoint exceeded the limit. */
    long mostOver() {
      long over = Long.MIN_VALUE;
      long unit = 1L << random.nextInt(12, 23);
      for (int i = 0; i < CHECKPOINTS; i++) {
        grow(random.nextLong(1, unit));
        if (random.nextInt(8) == 0) {
          drop(random.nextLong(tail - pieces.getFirst().from()));
        }
        over = Math.max(over, take() - FilePlan.mostFiles(tail - pieces.getFirst().from()));
        switch (random.nextInt(6)) {
          case 0 -> {}
          case 1 -> history.abort(checkpoint);
          case 2 -> history.confirm(checkpoint - 1);
          default -> history.confirm(checkpoint);
        }
      }
      return over;
    }

    void steady(long grown, long logBytes) {
      for (int i = 0; i < 5 * CHECKPOINTS && tail < 5 * logBytes; i++) {
        grow(grown);
        drop(tail - pieces.getFirst().from() - logBytes);
        take();
        history.confirm(checkpoint);
      }
    }

    private void grow(long bytes) {
      long end = tail + (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
      newBytes += end - tail;
      while (tail < end) {
        long until = Math.min(end, (tail / PAGE_BYTES + 1) * PAGE_BYTES);
        pieces.add(new LogPiece(tail, until, 0));
        tail = until;
      }
    }

    private void drop(long bytes) {
      long begin = pieces.getFirst().from() + bytes;
      while (pieces.size() > 1 && pieces.getFirst().until() <= begin) {
        pieces.removeFirst();
      }
    }

    private int take() {
      checkpoint++;
      taken++;
      List<LogFile> usable = history.usable();
      history.put(checkpoint, usable);
      FilePlan plan = FilePlan.of(List.copyOf(pieces), usable, merges);
      assertThat(usable).containsAll(plan.kept());
      List<LogFile> all = new ArrayList<>(plan.kept());
      for (List<LogPiece> run : plan.runs()) {
        all.add(
            new LogFile(
                run.getFirst().from(),
                run.getLast().until(),
                new ByteStreamStateHandle("file-" + files++, new byte[0])));
      }
      writtenBytes += plan.writtenBytes();
      assertHasAllOnce(all.stream().sorted((a, b) -> Long.compare(a.from(), b.from())));
      history.put(checkpoint, all);
      return plan.files();
    }

    private void assertHasAllOnce(Stream<LogFile> ordered) {
      List<LogFile> all = ordered.toList();
      assertThat(all.getFirst().from()).isLessThanOrEqualTo(pieces.getFirst().from());
      assertThat(all.getFirst().until()).isGreaterThan(pieces.getFirst().from());
      for (int i = 1; i < all.size(); i++) {
        assertThat(all.get(i).from()).isEqualTo(all.get(i - 1).until());
      }
      assertThat(all.getLast().until()).isEqualTo(tail);
    }
  }
}
