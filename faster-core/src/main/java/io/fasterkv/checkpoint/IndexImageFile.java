package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.Image;
import io.fasterkv.checkpoint.CheckpointManifest.IndexPart;
import io.fasterkv.device.Transfers;
import io.fasterkv.index.IndexImage;
import io.fasterkv.index.IndexImage.Limits;
import io.fasterkv.index.IndexImage.Rewind;
import io.fasterkv.index.IndexTable;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The image of an index in a file: its buckets one after another, main ones first. */
final class IndexImageFile {
  private final Path file;
  private final MemorySegment buffer;

  /** Takes the chunks of an image, in order. */
  interface ChunkSink {
    /**
     * @param firstBucket the number of the chunk's first bucket
     * @return the offset of a word that cannot be right, or -1
     */
    long accept(long firstBucket, MemorySegment chunk);
  }

  /**
   * @param buffer scratch, a multiple of the bucket's size
   */
  IndexImageFile(Path file, MemorySegment buffer) {
    this.file = file;
    this.buffer = buffer;
  }

  /** How many bytes an image has. */
  static long bytes(IndexPart part) {
    Image image = Objects.requireNonNull(part.image());
    return (part.mainBuckets() + image.overflowUsed()) * IndexImage.BUCKET_BYTES;
  }

  /**
   * Writes a live table, which records at {@code start} and above may be missing from, durably.
   *
   * @param chunkBytes how much has a checksum of its own; its multiple is a buffer
   */
  static Image write(
      SequentialFile file, int chunkBytes, long number, long start, IndexTable table, Rewind rewind)
      throws IOException {
    IndexImage image = new IndexImage(table);
    List<Integer> checksums = new ArrayList<>();
    long main = table.mainBuckets();
    // Those that are handed out from now on hold nothing from before the cut.
    long limit = main + table.overflowBucketsUsed();
    long chunkBuckets = chunkBytes / IndexImage.BUCKET_BYTES;
    long used = 0;
    for (long first = 0; first < limit; first += chunkBuckets) {
      long bytes = Math.min(chunkBuckets, limit - first) * IndexImage.BUCKET_BYTES;
      MemorySegment chunk = file.buffer().asSlice(used, bytes);
      image.copyOut(first, chunk, limit, rewind);
      checksums.add(Checksums.crc32c(chunk));
      file.add(chunk);
      used += bytes;
      if (used + chunkBytes > file.buffer().byteSize()) {
        file.turn();
        used = 0;
      }
    }
    file.finish();
    return new Image(number, start, limit - main, chunkBytes, checksums);
  }

  /** Reads an image into a table that nobody uses yet, and checks every byte and word. */
  void read(CheckpointManifest manifest, IndexTable table, Progress progress) {
    IndexImage image = new IndexImage(table);
    long buckets = bytes(manifest.index()) / IndexImage.BUCKET_BYTES;
    Limits limits = new Limits(manifest.cut().begin(), manifest.cut().end(), buckets);
    read(manifest.index(), progress, (first, chunk) -> image.copyIn(first, chunk, limits));
  }

  /** Reads an image and checks every byte. */
  void read(IndexPart part, Progress progress, ChunkSink sink) {
    long bytes = bytes(part);
    List<Integer> checksums = Objects.requireNonNull(part.image()).chunkChecksums();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() != bytes) {
        throw new Corrupt(
            "an index image has the wrong size: file="
                + file
                + ", offset="
                + Math.min(bytes, channel.size())
                + ", bytes="
                + channel.size()
                + ", allowed="
                + bytes);
      }
      int chunkBytes = part.image().chunkBytes();
      for (int i = 0; i < checksums.size(); i++) {
        long start = (long) i * chunkBytes;
        MemorySegment chunk = buffer.asSlice(0, Math.min(chunkBytes, bytes - start));
        Transfers.readFully(channel, chunk, start);
        if (Checksums.crc32c(chunk) != checksums.get(i)) {
          throw corrupt("an index image's checksum is wrong", start, chunk);
        }
        long wrong = sink.accept(start / IndexImage.BUCKET_BYTES, chunk);
        if (wrong >= 0) {
          throw corrupt("an index image holds a word that cannot be", start + wrong, chunk);
        }
        progress.add(chunk.byteSize());
      }
    } catch (IOException e) {
      throw new Corrupt("an index image cannot be read: file=" + file + ", cause=" + e, e);
    }
  }

  private Corrupt corrupt(String what, long offset, MemorySegment chunk) {
    return new Corrupt(
        what + ": file=" + file + ", offset=" + offset + ", bytes=" + chunk.byteSize());
  }
}
