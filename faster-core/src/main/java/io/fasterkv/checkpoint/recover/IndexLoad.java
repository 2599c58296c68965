package io.fasterkv.checkpoint.recover;

import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.device.file.UncachedFiles;
import io.fasterkv.index.IndexImage;
import io.fasterkv.index.IndexTable;
import io.fasterkv.index.LoadedImage;
import io.fasterkv.index.LoadedImage.Limits;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Objects;

/**
 * Loads an image into the table of a store that no thread uses yet, and verifies every byte and
 * word there. It is read directly to its place, past the page cache if possible, as it was written.
 * If loading fails, the table is unusable.
 */
final class IndexLoad implements ParallelPieces.Worker {
  /** The size of a huge page, so that no two threads make the system commit the same one. */
  private static final long PIECE_BYTES = 2 << 20;

  private final IndexImageReader reader;
  private final IndexTable table;
  private final LoadedImage image;
  private final long pieceBytes;

  private IndexLoad(IndexImageReader reader, IndexTable table, Limits limits) {
    this.reader = reader;
    this.table = table;
    image = new LoadedImage(table, limits);
    pieceBytes = reader.pieceBytes(PIECE_BYTES);
  }

  /** Loads the image that a checkpoint names. */
  static void run(
      CheckpointFiles files, CheckpointManifest manifest, IndexTable table, Progress progress) {
    Path file = files.index(Objects.requireNonNull(manifest.index().image()).of());
    UncachedFiles uncached = new UncachedFiles(files.directory());
    try (IndexImageReader reader = new IndexImageReader(file, manifest.index(), uncached)) {
      long buckets = reader.bytes() / IndexImage.BUCKET_BYTES;
      Limits limits = new Limits(manifest.cut().begin(), manifest.cut().end(), buckets);
      IndexLoad load = new IndexLoad(reader, table, limits);
      ParallelPieces.run(
          Math.toIntExact(Math.ceilDiv(reader.bytes(), load.pieceBytes)),
          Collections.nCopies(ParallelPieces.MOST_THREADS, load),
          progress);
    }
  }

  @Override
  public long work(int piece) {
    long offset = piece * pieceBytes;
    long bytes = Math.min(pieceBytes, reader.bytes() - offset);
    MemorySegment place = table.memory().asSlice(offset, bytes);
    reader.read(offset, place);
    long wrong = image.check(offset / IndexImage.BUCKET_BYTES, place);
    if (wrong >= 0) {
      throw reader.corrupt(
          "an index image holds a word that cannot be", offset + wrong, Long.BYTES);
    }
    return bytes;
  }
}
