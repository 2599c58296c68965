package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.checkpoint.export.PieceWalk;
import io.fasterkv.checkpoint.export.RecordDigest;
import io.fasterkv.checkpoint.export.ShownRecords;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.device.restore.LazyRestoreDevice;
import io.fasterkv.index.IndexFill;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.spi.KeyFilter;
import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Builds the index of a log that is still in its origin, from the digests of its files. A file
 * without a digest is read and stored, in stretches of some pieces. As in {@link Replay}, the
 * highest address of each tag of a bucket wins, so the order of files and stretches does not
 * matter, and each thread reads neighbors ({@link ReadRuns}). The origin's streams and the scratch
 * memory limit the number of threads.
 */
final class OriginReplay {
  /** Long enough to make the cost of opening a stream small. */
  private static final long STRETCH_BYTES = 4L << 20;

  /**
   * A part of the work: pieces of one file, or its digest.
   *
   * @param first index of the first piece
   * @param end index after the last piece
   */
  private record Stretch(LogOrigin.File file, int first, int end) {
    long from() {
      return file.pieces().get(first).from();
    }

    long until() {
      return file.pieces().get(end - 1).until();
    }
  }

  private final Engine engine;
  private final IndexTable table;
  private final ShownRecords shown;
  private final LazyRestoreDevice device;
  private final List<Stretch> stretches = new ArrayList<>();
  private final @Nullable KeyFilter filter;
  private final PieceWalk walk;

  OriginReplay(
      Engine engine, CheckpointManifest manifest, LogOrigin origin, @Nullable KeyFilter filter) {
    this.engine = engine;
    this.filter = filter;
    table = engine.index().soleTable();
    shown = new ShownRecords(manifest);
    device = (LazyRestoreDevice) engine.log().device();
    origin.files().forEach(this::addStretches);
    walk = new PieceWalk(engine.layout());
  }

  /** Refuses the log of another checkpoint, which would end or continue at a different address. */
  static void requireLogOf(CheckpointManifest manifest, LogOrigin origin) {
    List<Extent> found =
        origin.files().stream()
            .flatMap(file -> file.pieces().stream())
            .dropWhile(piece -> piece.until() <= manifest.cut().begin())
            .map(piece -> new Extent(piece.from(), piece.until(), piece.crc()))
            .toList();
    List<Extent> wanted = manifest.log().extents();
    int same = 0;
    while (same < Math.min(found.size(), wanted.size())
        && found.get(same).equals(wanted.get(same))) {
      same++;
    }
    if (same < found.size() || same < wanted.size()) {
      throw new BadConfig(
          "the origin's log is not the checkpoint's: number="
              + manifest.number()
              + ", pieces="
              + found.size()
              + ", allowed="
              + wanted.size()
              + ", first that differs="
              + (same < found.size() ? found.get(same) : "none")
              + ", allowed="
              + (same < wanted.size() ? wanted.get(same) : "none")
              + "; name the checkpoint that was made of these pieces, or recover without an"
              + " origin: the directory has all of the log of later ones");
    }
  }

  private void addStretches(LogOrigin.File file) {
    int count = file.pieces().size();
    int first = 0;
    for (int end = 1; end <= count; end++) {
      boolean isLong =
          !file.hasDigest()
              && file.pieces().get(end - 1).until() - file.pieces().get(first).from()
                  >= STRETCH_BYTES;
      if (isLong || end == count) {
        stretches.add(new Stretch(file, first, end));
        first = end;
      }
    }
  }

  /** The number of bytes of log in the files. */
  long bytes() {
    return stretches.stream().mapToLong(stretch -> stretch.until() - stretch.from()).sum();
  }

  void run(PieceBuffers buffers, Progress progress) {
    ReadRuns runs = new ReadRuns(stretches.size(), buffers.count());
    AtomicInteger threads = new AtomicInteger();
    ParallelPieces.runAside(
        stretches.size(),
        buffers.workers(buffer -> new Worker(buffer, runs, threads.getAndIncrement())),
        progress,
        engine.log().failure().logger());
  }

  /** The worker of one thread. */
  private final class Worker implements ParallelPieces.Worker {
    private final MemorySegment buffer;
    private final ReadRuns runs;
    private final int thread;
    private final IndexFill index =
        new IndexFill(table, address -> ReplayRefusals.noRoom(table, device.place(address)));
    private final RecordDigest digest = new RecordDigest(walk, engine::hash);

    /**
     * @param buffer has room for a page
     */
    Worker(MemorySegment buffer, ReadRuns runs, int thread) {
      this.buffer = buffer;
      this.runs = runs;
      this.thread = thread;
    }

    @Override
    public long work(int number) {
      Stretch stretch = stretches.get(runs.take(thread));
      LogOrigin.File file = stretch.file();
      String place = file.place(stretch.from());
      try {
        if (file.hasDigest()) {
          file.readDigest(part ->
              RecordDigest.forEach(part, stretch.from(), stretch.until(), place, this::raise));
        } else {
          file.prepare();
          for (LogPiece piece : file.pieces().subList(stretch.first(), stretch.end())) {
            read(file, piece);
          }
        }
        index.finish();
      } catch (IOException e) {
        throw new DeviceFailed(
            "a log cannot be read from its origin: " + place + ", cause=" + e.getMessage(), e);
      }
      return stretch.until() - stretch.from();
    }

    private void read(LogOrigin.File file, LogPiece piece) throws IOException {
      MemorySegment bytes = buffer.asSlice(0, piece.bytes());
      file.read(piece.from(), bytes);
      if (Checksums.crc32c(bytes) != piece.crc()) {
        throw new Corrupt(
            "a piece of the log is not what was written: "
                + file.place(piece.from())
                + ", piece="
                + piece);
      }
      device.keepPiece(piece.from(), bytes);
      digest.clear();
      digest.add(piece.from(), bytes, at -> file.place(at) + ", address=" + at);
      digest.forEach(this::raise);
    }

    private void raise(long address, long info, long hash, ByteSpan head) {
      if (RecordInfo.isFork(info)) {
        throw ReplayRefusals.forked(device.place(address));
      }
      if (!shown.has(address, info) || (filter != null && !filter.mayOwn(head))) {
        return;
      }
      index.add(hash, address);
    }
  }
}
