package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.spi.LogPiece;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the limits of decision record 0070 with a model of a store with state of constant size. */
@Tag("seeds")
class CheckpointLimitsTest {
  private static final int CHECKPOINTS = 2_000;
  private static final long SECTOR_BYTES = 4096;
  private static final long SLACK_BYTES = 256 << 10;
  private static final long[] STATES = {64L << 10, 1 << 20, 8 << 20, 64 << 20, 300 << 20, 2L << 30};

  /**
   * The changes between two checkpoints, and the bytes that may be uploaded for each changed byte.
   */
  enum Changes {
    /** All records change equally often. */
    UNIFORM(3.0),
    /** Nine changes in ten go to a part of the state that is four times as long as the changes. */
    HOT_AND_COLD(3.8),
    /** The same records change each time. */
    SAME(3.8);

    private final double mostUploaded;

    Changes(double mostUploaded) {
      this.mostUploaded = mostUploaded;
    }

    /** Bytes of the records that change often, and of the others. */
    double[] state(double stateBytes, double changedBytes) {
      double hot =
          switch (this) {
            case UNIFORM -> 0;
            case HOT_AND_COLD -> Math.min(stateBytes / 2, 4 * changedBytes);
            case SAME -> changedBytes;
          };
      return new double[] {hot, stateBytes - hot};
    }

    double hotShare() {
      return switch (this) {
        case UNIFORM -> 0;
        case HOT_AND_COLD -> 0.9;
        case SAME -> 1;
      };
    }
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void checkpointsKeepTheLimits(Changes changes) throws Throwable {
    Seeds.run(
        4,
        random -> {
          for (long least : STATES) {
            long state = least + random.nextLong(least / 2);
            for (long changed = 1 << 10; changed <= state / 2; changed *= 8) {
              new Model(random, changes, state, changed + random.nextLong(changed / 2)).run();
            }
            new Model(random, changes, state, state / 2).run();
          }
        });
  }

  /** The log of a store. It models the live bytes of each part instead of records. */
  private static final class Model implements HeadCompaction.Log {
    private final SplittableRandom random;
    private final Changes changes;
    private final long changedBytes;

    /** Bytes of the records that change often, and of the others. */
    private final double[] stateBytes;

    private final long pageBytes;
    private final UploadHistory history = new UploadHistory();
    private final List<Part> parts = new ArrayList<>();
    private final HeadCompaction head;
    private final String name;

    /** The part of the live bytes that is known without a sample. */
    private final double knownShare;

    private int files;
    private long checkpoint;
    private long cut;
    private long end;
    private long moved;
    private long written;
    private long uploaded;

    /** A piece of the log, and its live bytes. */
    private record Part(LogPiece piece, double[] live) {}

    Model(SplittableRandom random, Changes changes, long stateBytes, long changedBytes) {
      this.random = random;
      this.changes = changes;
      this.changedBytes = Math.min(changedBytes, stateBytes / 2);
      this.stateBytes = changes.state(stateBytes, this.changedBytes);
      pageBytes = Math.max(SECTOR_BYTES, stateBytes / 256 / SECTOR_BYTES * SECTOR_BYTES);
      name = changes + ", state=" + stateBytes + ", changed=" + this.changedBytes;
      knownShare = 1 - random.nextDouble() / 2;
      head = new HeadCompaction(this);
    }

    void run() {
      append(stateBytes);
      checkpoint();
      uploaded = 0;
      for (int i = 0; i < CHECKPOINTS; i++) {
        change(changedBytes - random.nextDouble(changedBytes / 16.0));
        checkpoint();
      }
      assertThat(uploaded)
          .as("uploaded, %s, written=%s", name, written)
          .isLessThanOrEqualTo((long) (changes.mostUploaded * written) + CHECKPOINTS * SLACK_BYTES);
    }

    /** Rewrites records, except those that were copied since the last cut. */
    private void change(double bytes) {
      double[] changed = {bytes * changes.hotShare(), bytes * (1 - changes.hotShare())};
      double[] fresh = new double[2];
      for (int i = 0; i < 2; i++) {
        double share = stateBytes[i] == 0 ? 0 : Math.min(1, changed[i] / stateBytes[i]);
        for (Part part : parts) {
          if (part.piece.from() < cut) {
            fresh[i] += part.live[i] * share;
            part.live[i] *= 1 - share;
          }
        }
      }
      written += (long) (fresh[0] + fresh[1]);
      append(fresh);
    }

    private long append(double[] live) {
      long from = end;
      double bytes = live[0] + live[1];
      long until = from + Math.ceilDiv((long) bytes, SECTOR_BYTES) * SECTOR_BYTES;
      while (end < until) {
        long next = Math.min(until, (end / pageBytes + 1) * pageBytes);
        double share = (next - end) / (double) (until - from);
        parts.add(
            new Part(new LogPiece(end, next, 0), new double[] {live[0] * share, live[1] * share}));
        end = next;
      }
      return end - from;
    }

    private void checkpoint() {
      checkpoint++;
      cut = end;
      List<LogFile> usable = history.usable();
      FilePlan plan = FilePlan.of(parts.stream().map(Part::piece).toList(), usable, true);
      uploaded += plan.writtenBytes();
      List<HeadCompaction.Span> spans = HeadCompaction.Span.of(plan);
      long named = spans.stream().mapToLong(HeadCompaction.Span::bytes).sum();
      long mostNamed = (long) (2 * (stateBytes[0] + stateBytes[1])) + SLACK_BYTES;
      assertThat(named).as("named, %s", name).isLessThanOrEqualTo(mostNamed);
      // One more file contains the metadata.
      assertThat(spans.size() + 1)
          .as("files, %s", name)
          .isLessThanOrEqualTo((int) (32 + named / (64 << 20)));
      head.run(spans, new Cancellation());
      List<LogFile> all = new ArrayList<>(plan.kept());
      for (List<LogPiece> run : plan.runs()) {
        all.add(
            new LogFile(
                run.getFirst().from(),
                run.getLast().until(),
                new ByteStreamStateHandle("file-" + files++, new byte[0])));
      }
      history.put(checkpoint, all);
      history.confirm(checkpoint);
    }

    @Override
    public long end() {
      return end;
    }

    @Override
    public long liveBytes() {
      return (long) (knownShare * sampledLiveBytes());
    }

    @Override
    public long sampledLiveBytes() {
      return end == 0 ? 0 : (long) (stateBytes[0] + stateBytes[1]);
    }

    @Override
    public long movedBytes() {
      return moved;
    }

    @Override
    public boolean hasRoom(long bytes) {
      return true;
    }

    @Override
    public boolean compact(long until) {
      double[] live = new double[2];
      int count = 0;
      while (count < parts.size() && parts.get(count).piece.until() <= until) {
        live[0] += parts.get(count).live[0];
        live[1] += parts.get(count).live[1];
        count++;
      }
      parts.subList(0, count).clear();
      moved += append(live);
      return true;
    }
  }
}
