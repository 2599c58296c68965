package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import io.fasterkv.StoreImport;
import io.fasterkv.api.LogPiece;
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
 * The log of a checkpoint in a directory of the machine that took it: second names of the store's
 * segment files, and a file {@value #PIECES} that says which pieces they have.
 */
public final class LocalCopy {
  private static final String PIECES = "pieces";

  private LocalCopy() {}

  /** Makes the directory; nothing is left of it if that fails. */
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
   * Makes a store's directory of it; what the segments have is for a recovery to verify.
   *
   * @throws IOException if a file is missing, or not what was written
   */
  public static void takeInto(StoreImport.Target target, Path directory) throws IOException {
    Path file = directory.resolve(PIECES);
    List<LogPiece> pieces;
    try (Blocks.In in =
        new Blocks.In(
            new FileStateHandle(new org.apache.flink.core.fs.Path(file.toUri()), Files.size(file)),
            new OpenStreams())) {
      pieces = LogFileFormat.readHead(in);
    }
    if (!pieces.isEmpty()) {
      target.takeSegments(directory, pieces.getFirst().from());
    }
    target.finish(pieces);
  }
}
