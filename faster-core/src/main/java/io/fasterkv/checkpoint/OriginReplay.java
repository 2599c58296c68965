package io.fasterkv.checkpoint;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeyFilter;
import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.device.BorrowingDevice;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.operation.Engine;
import io.fasterkv.record.RecordInfo;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the index of a log that is still where it came from, by the digests of its files; those
 * without one are read, and kept. As {@link Replay} does, it ends up with the highest address of
 * each tag of a bucket, so the order of the files does not matter, and several threads do them.
 */
final class OriginReplay {
  private final Engine engine;
  private final IndexTable table;
  private final ShownRecords shown;
  private final BorrowingDevice device;
  private final List<? extends LogOrigin.File> files;
  private final @Nullable KeyFilter filter;
  private final PieceWalk walk;

  OriginReplay(
      Engine engine, CheckpointManifest manifest, LogOrigin origin, @Nullable KeyFilter filter) {
    this.engine = engine;
    this.filter = filter;
    table = engine.index().soleTable();
    shown = new ShownRecords(manifest);
    device = (BorrowingDevice) engine.log().device();
    files = origin.files();
    walk = new PieceWalk(engine.layout());
  }

  /**
   * Refuses the log of another checkpoint, which would end, or go on, where this one's does not.
   */
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

  /** How many bytes of log the files have. */
  long bytes() {
    return files.stream().mapToLong(OriginReplay::bytes).sum();
  }

  private static long bytes(LogOrigin.File file) {
    List<LogPiece> pieces = file.pieces();
    return pieces.isEmpty() ? 0 : pieces.getLast().until() - pieces.getFirst().from();
  }

  void run(PieceBuffers buffers, Progress progress) {
    ParallelPieces.run(files.size(), buffers.workers(Worker::new), progress);
  }

  /** One thread's. */
  private final class Worker implements ParallelPieces.Worker {
    private final MemorySegment buffer;
    private final IndexEntry entry = new IndexEntry();

    /**
     * @param buffer has room for a page
     */
    Worker(MemorySegment buffer) {
      this.buffer = buffer;
    }

    @Override
    public long work(int number) {
      LogOrigin.File file = files.get(number);
      if (file.pieces().isEmpty()) {
        return 0;
      }
      LogPiece first = file.pieces().getFirst();
      try {
        byte[] digest = file.digest();
        if (digest == null) {
          read(number, file);
        } else {
          long until = file.pieces().getLast().until();
          RecordDigest.forEach(digest, first.from(), until, file.place(first), this::raise);
        }
      } catch (IOException e) {
        throw new DeviceFailed("a log cannot be read where it came from: " + file.place(first), e);
      }
      return bytes(file);
    }

    private void read(int number, LogOrigin.File file) throws IOException {
      RecordDigest digest = new RecordDigest(walk, engine::hash);
      device.takeFile(
          number,
          buffer,
          (piece, bytes) -> {
            digest.clear();
            digest.add(piece.from(), bytes, at -> file.place(piece) + ", address=" + at);
            digest.forEach(this::raise);
            return true;
          });
    }

    private void raise(long address, long info, long hash, ByteSpan head) {
      if (RecordInfo.isFork(info)) {
        throw ReplayRefusals.forked(device.place(address));
      }
      if (!shown.has(address, info) || (filter != null && !filter.mayOwn(head))) {
        return;
      }
      if (!table.raise(hash, address, entry)) {
        throw ReplayRefusals.noRoom(table, device.place(address));
      }
    }
  }
}
