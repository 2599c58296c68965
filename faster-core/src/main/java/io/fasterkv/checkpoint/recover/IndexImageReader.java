package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.IndexImageFile;
import io.fasterkv.device.file.ReopeningFile;
import io.fasterkv.device.file.UncachedFiles;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads chunks of an index image from its file and verifies their checksums. Safe for all threads.
 */
public final class IndexImageReader implements AutoCloseable {
  private final Path file;
  private final Image image;
  private final long bytes;
  private final ReopeningFile cached;
  private final @Nullable ReopeningFile uncached;

  /**
   * Opens an image, whose size must be right.
   *
   * @param files opens it past the page cache; null to read through the page cache
   */
  public IndexImageReader(Path file, IndexPart part, @Nullable UncachedFiles files) {
    this.file = file;
    image = Objects.requireNonNull(part.image());
    bytes = IndexImageFile.bytes(part);
    try {
      cached = ReopeningFile.open(file);
      uncached = openUncached(files);
    } catch (IOException e) {
      throw unreadable(0, bytes, e);
    }
  }

  /** Checks the size too; if something is wrong, no file stays open. */
  private @Nullable ReopeningFile openUncached(@Nullable UncachedFiles files) throws IOException {
    try {
      checkSize(cached.size());
      return files == null ? null : files.openReopening(file);
    } catch (IOException | RuntimeException | Error e) {
      cached.close();
      throw e;
    }
  }

  private void checkSize(long size) {
    if (size != bytes) {
      throw new Corrupt(
          "an index image has the wrong size: file="
              + file
              + ", offset="
              + Math.min(bytes, size)
              + ", bytes="
              + size
              + ", allowed="
              + bytes);
    }
  }

  /** Length of the image. */
  long bytes() {
    return bytes;
  }

  /** Length of a read: whole chunks, up to {@code wanted}, but at least one. */
  long pieceBytes(long wanted) {
    return Math.max(1, wanted / image.chunkBytes()) * image.chunkBytes();
  }

  /** Reads and verifies everything, using a scratch buffer of at least one chunk. */
  public void readAll(MemorySegment buffer) {
    long step = pieceBytes(buffer.byteSize());
    for (long at = 0; at < bytes; at += step) {
      read(at, buffer.asSlice(0, Math.min(step, bytes - at)));
    }
  }

  /**
   * Fills {@code target} with whole chunks; the image's last chunk may be shorter.
   *
   * @param offset position in the image, a multiple of a chunk's size
   */
  void read(long offset, MemorySegment target) {
    long size = target.byteSize();
    try {
      ReopeningFile direct = UncachedFiles.isAligned(offset, target) ? uncached : null;
      (direct == null ? cached : direct).readFully(target, offset);
    } catch (IOException e) {
      throw unreadable(offset, size, e);
    }
    int number = Math.toIntExact(offset / image.chunkBytes());
    for (long at = 0; at < size; at += image.chunkBytes()) {
      long chunk = Math.min(image.chunkBytes(), size - at);
      if (Checksums.crc32c(target.asSlice(at, chunk)) != image.chunkChecksums().get(number++)) {
        throw corrupt("an index image's checksum is wrong", offset + at, chunk);
      }
    }
  }

  Corrupt corrupt(String what, long offset, long size) {
    return new Corrupt(what + ": file=" + file + ", offset=" + offset + ", bytes=" + size);
  }

  private Corrupt unreadable(long offset, long size, IOException e) {
    return new Corrupt(
        "an index image cannot be read: file="
            + file
            + ", offset="
            + offset
            + ", bytes="
            + size
            + ", cause="
            + e,
        e);
  }

  @Override
  public void close() {
    try (ReopeningFile any = cached;
        ReopeningFile other = uncached) {
      // Close both files.
    } catch (IOException e) {
      throw new Corrupt("an index image's file did not close: file=" + file + ", cause=" + e, e);
    }
  }
}
