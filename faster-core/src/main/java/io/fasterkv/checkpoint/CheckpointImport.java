package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.LogPart;
import io.fasterkv.device.DurableFiles;
import io.fasterkv.device.SegmentWriter;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** Makes a checkpoint in an empty directory of a version that was exported from another. */
public final class CheckpointImport implements AutoCloseable {
  private static final long NUMBER = 1;

  private final CheckpointFiles files;
  private final CheckpointManifest head;
  private final SegmentWriter segments;

  public CheckpointImport(Path directory, VersionHead head) {
    files = new CheckpointFiles(directory);
    this.head = head.manifest();
    try {
      DurableFiles.createDirectories(directory);
    } catch (IOException e) {
      throw new BadConfig("the directory cannot be made: directory=" + directory + ", cause=" + e);
    }
    if (!files.complete().isEmpty()) {
      throw new BadConfig(
          "the directory holds a checkpoint: directory="
              + directory
              + ", newest="
              + files.complete().last()
              + ", allowed=none");
    }
    segments = new SegmentWriter(directory, this.head.shape().segmentBytes());
  }

  /** Writes a piece to its place if its checksum is right; {@code place} is for error messages. */
  public void write(LogPiece piece, MemorySegment bytes, String place) throws IOException {
    if (Checksums.crc32c(bytes) != piece.crc()) {
      throw new Corrupt(
          "a piece of the log is not what was written: " + place + ", piece=" + piece);
    }
    try {
      segments.write(piece.from(), bytes);
    } catch (IOException e) {
      throw new IOException(
          "a piece of log cannot be written: "
              + segments.place(piece.from())
              + ", bytes="
              + piece.bytes()
              + ", cause="
              + e.getMessage(),
          e);
    }
  }

  /** Takes over segments that lie in another directory. */
  public void takeSegments(Path directory, long from) throws IOException {
    segments.take(directory, from, head.cut().end(), true);
  }

  /**
   * Makes it a checkpoint, when all of its pieces are written; the checkpoint's name is durable,
   * but the pieces are not forced.
   *
   * @param pieces in order and without a gap
   */
  public CheckpointToken finish(List<LogPiece> pieces) throws IOException {
    List<Extent> extents =
        pieces.stream()
            .filter(piece -> piece.until() > head.cut().begin())
            .map(piece -> new Extent(piece.from(), piece.until(), piece.crc()))
            .toList();
    CheckpointManifest whole =
        new CheckpointManifest(
            NUMBER,
            head.kind(),
            head.shape(),
            head.cut(),
            new LogPart(extents, null, head.log().voids()),
            head.index());
    ManifestRules.check(whole, files.manifest(NUMBER));
    ManifestFile.publish(files, whole);
    return new CheckpointToken(NUMBER);
  }

  @Override
  public void close() throws IOException {
    segments.close();
  }
}
