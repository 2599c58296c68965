package io.fasterkv.checkpoint.export;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.ManifestFile;
import io.fasterkv.checkpoint.manifest.ManifestRules;
import io.fasterkv.device.file.DurableFiles;
import io.fasterkv.device.file.SegmentWriter;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** Creates a checkpoint in an empty directory from a version that another store has exported. */
final class CheckpointImport implements StoreImport.Target {
  private static final long NUMBER = 1;

  private final CheckpointFiles files;
  private final CheckpointManifest head;
  private final SegmentWriter segments;

  CheckpointImport(Path directory, CheckpointManifest head) {
    files = new CheckpointFiles(directory);
    this.head = head;
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
    segments = new SegmentWriter(directory, head.shape().segmentBytes());
  }

  @Override
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

  @Override
  public void takeSegments(Path directory, long from) throws IOException {
    segments.take(directory, from, head.cut().end(), true);
  }

  /** The name of the checkpoint is durable, but the pieces are not forced. */
  @Override
  public void finish(List<LogPiece> pieces) throws IOException {
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
            new LogPart(extents, null, head.log().voids(), head.log().heat()),
            head.index());
    ManifestRules.check(whole, files.manifest(NUMBER));
    ManifestFile.publish(files, whole);
  }

  @Override
  public void close() throws IOException {
    segments.close();
  }
}
