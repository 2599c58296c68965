package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.Image;
import io.fasterkv.checkpoint.CheckpointManifest.IndexPart;
import io.fasterkv.device.SteadyFile;
import io.fasterkv.device.UncachedFiles;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads chunks of an index image from its file and compares their checksums. Safe for all threads.
 */
final class IndexImageReader implements AutoCloseable {
  private final Path file;
  private final Image image;
  private final long bytes;
  private final SteadyFile cached;
  private final @Nullable SteadyFile uncached;

  /**
   * Opens an image, whose size must be right.
   *
   * @param files opens it past the page cache; null if the image is not to be read so
   */
  IndexImageReader(Path file, IndexPart part, @Nullable UncachedFiles files) {
    this.file = file;
    image = Objects.requireNonNull(part.image());
    bytes = IndexImageFile.bytes(part);
    try {
      cached = SteadyFile.open(file);
      uncached = openUncached(files);
    } catch (IOException e) {
      throw unreadable(0, bytes, e);
    }
  }

  /** Checks the size too; if something is wrong, no file stays open. */
  private @Nullable SteadyFile openUncached(@Nullable UncachedFiles files) throws IOException {
    try {
      checkSize(cached.size());
      return files == null ? null : files.openSteady(file);
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

  /** How many bytes the image has. */
  long bytes() {
    return bytes;
  }

  /** As many bytes as are read at once: whole chunks, {@code wanted} or a little less, or one. */
  long pieceBytes(long wanted) {
    return Math.max(1, wanted / image.chunkBytes()) * image.chunkBytes();
  }

  /** Reads and checks all, with scratch of at least a chunk. */
  void readAll(MemorySegment buffer) {
    long step = pieceBytes(buffer.byteSize());
    for (long at = 0; at < bytes; at += step) {
      read(at, buffer.asSlice(0, Math.min(step, bytes - at)));
    }
  }

  /**
   * Fills {@code target} with whole chunks, of which the image's last may be shorter.
   *
   * @param offset where in the image, a multiple of a chunk's size
   */
  void read(long offset, MemorySegment target) {
    long size = target.byteSize();
    try {
      SteadyFile direct = UncachedFiles.isAligned(offset, target) ? uncached : null;
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
    try (SteadyFile any = cached;
        SteadyFile other = uncached) {
      // Closes both.
    } catch (IOException e) {
      throw new Corrupt("an index image's file did not close: file=" + file + ", cause=" + e, e);
    }
  }
}
