package io.fasterkv.flink.snapshot;

import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.state.DirectoryStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.FileUtils;

/**
 * Keeps the log of a checkpoint in a local directory: the store's segment files, linked or copied,
 * and a file {@value #PIECES} that lists their pieces.
 */
public final class LocalCopy {
  private static final String PIECES = "pieces";

  private LocalCopy() {}

  /** Creates the directory; leaves nothing if that fails. */
  static DirectoryStateHandle make(StoreExport export, Path directory) throws IOException {
    try {
      FileUtils.deleteDirectory(directory.toFile());
      Files.createDirectories(directory.toAbsolutePath().getParent());
      OwnerOnly.createDirectory(directory);
      export.linkSegments(directory);
      try (OutputStream out =
          Channels.newOutputStream(OwnerOnly.createFile(directory.resolve(PIECES)))) {
        LogFileFormat.writeHead(export.pieces(0), out);
      }
      return DirectoryStateHandle.forPathWithSize(directory);
    } catch (Throwable failure) {
      FileUtils.deleteDirectoryQuietly(directory.toFile());
      throw failure;
    }
  }

  /**
   * Copies the directory into a store's directory; the recovery verifies the segments.
   *
   * @throws IOException if a file is missing or damaged
   */
  public static void takeInto(StoreImport.Target target, Path directory, OpenStreams streams)
      throws IOException {
    Path file = directory.resolve(PIECES);
    List<LogPiece> pieces;
    try (Blocks.In in =
        new Blocks.In(
            new FileStateHandle(new org.apache.flink.core.fs.Path(file.toUri()), Files.size(file)),
            streams)) {
      pieces = LogFileFormat.readHead(in);
    }
    if (!pieces.isEmpty()) {
      target.takeSegments(directory, pieces.getFirst().from());
    }
    target.finish(pieces);
  }
}
