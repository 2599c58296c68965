package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.IndexPart;
import io.fasterkv.device.DurableFiles;
import io.fasterkv.device.Transfers;
import io.fasterkv.index.IndexImage;
import io.fasterkv.index.IndexImage.Rewind;
import io.fasterkv.index.IndexTable;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** The image of an index in a file: its buckets one after another, main ones first. */
final class IndexImageFile {
  private final Path file;
  private final MemorySegment buffer;

  /**
   * @param buffer scratch, a multiple of the bucket's size
   */
  IndexImageFile(Path file, MemorySegment buffer) {
    this.file = file;
    this.buffer = buffer;
  }

  /** Writes a live table and forces it to disk. */
  IndexPart write(IndexTable table, Rewind rewind) throws IOException {
    Files.deleteIfExists(file);
    IndexImage image = new IndexImage(table);
    List<Integer> checksums = new ArrayList<>();
    try (FileChannel channel = DurableFiles.openReadWrite(file)) {
      long main = table.mainBuckets();
      // Those that are handed out from now on hold nothing from before the cut.
      long limit = main + table.overflowBucketsUsed();
      long chunkBuckets = buffer.byteSize() / IndexImage.BUCKET_BYTES;
      for (long first = 0; first < limit; first += chunkBuckets) {
        long count = Math.min(chunkBuckets, limit - first);
        MemorySegment chunk = buffer.asSlice(0, count * IndexImage.BUCKET_BYTES);
        image.copyOut(first, chunk, limit, rewind);
        Transfers.writeFully(channel, chunk, first * IndexImage.BUCKET_BYTES);
        checksums.add(Checksums.crc32c(chunk));
      }
      channel.force(true);
      return new IndexPart(main, limit - main, (int) buffer.byteSize(), checksums);
    }
  }

  /** Reads an image into a table that nobody uses yet, and checks every byte. */
  void read(IndexPart part, IndexTable table) {
    IndexImage image = new IndexImage(table);
    long bytes = part.buckets() * IndexImage.BUCKET_BYTES;
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
      for (int i = 0; i < part.chunkChecksums().size(); i++) {
        readChunk(channel, part, i, image);
      }
    } catch (IOException e) {
      throw new Corrupt("an index image cannot be read: file=" + file + ", cause=" + e, e);
    }
  }

  private void readChunk(FileChannel channel, IndexPart part, int number, IndexImage image)
      throws IOException {
    long start = (long) number * part.chunkBytes();
    long left = part.buckets() * IndexImage.BUCKET_BYTES - start;
    MemorySegment chunk = buffer.asSlice(0, Math.min(part.chunkBytes(), left));
    Transfers.readFully(channel, chunk, start);
    if (Checksums.crc32c(chunk) != part.chunkChecksums().get(number)) {
      throw new Corrupt(
          "an index image's checksum is wrong: file="
              + file
              + ", offset="
              + start
              + ", bytes="
              + chunk.byteSize());
    }
    image.copyIn(start / IndexImage.BUCKET_BYTES, chunk);
  }
}
