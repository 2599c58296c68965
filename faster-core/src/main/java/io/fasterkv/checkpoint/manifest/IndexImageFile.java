package io.fasterkv.checkpoint.manifest;

import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.index.IndexImage;
import io.fasterkv.index.IndexImage.Rewind;
import io.fasterkv.index.IndexTable;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Writes the image of an index to a file: its buckets in order, main ones first. */
public final class IndexImageFile {
  private IndexImageFile() {}

  /** Length of an image. */
  public static long bytes(IndexPart part) {
    Image image = Objects.requireNonNull(part.image());
    return (part.mainBuckets() + image.overflowUsed()) * IndexImage.BUCKET_BYTES;
  }

  /**
   * Writes a live table durably; records at or above {@code start} may be missing from the image.
   *
   * @param chunkBytes the unit of the checksums; a buffer is a multiple of it
   */
  public static Image write(
      SequentialFile file, int chunkBytes, long number, long start, IndexTable table, Rewind rewind)
      throws IOException {
    IndexImage image = new IndexImage(table);
    List<Integer> checksums = new ArrayList<>();
    long main = table.mainBuckets();
    // Overflow buckets taken from now on have nothing from before the cut.
    long limit = main + table.overflowBucketsUsed();
    long chunkBuckets = chunkBytes / IndexImage.BUCKET_BYTES;
    long used = 0;
    for (long first = 0; first < limit; first += chunkBuckets) {
      long bytes = Math.min(chunkBuckets, limit - first) * IndexImage.BUCKET_BYTES;
      MemorySegment chunk = file.buffer().asSlice(used, bytes);
      image.copyOut(first, chunk, limit, rewind);
      checksums.add(Checksums.crc32c(chunk));
      used += bytes;
      if (used + chunkBytes > file.buffer().byteSize()) {
        file.add(file.buffer().asSlice(0, used));
        file.turn();
        used = 0;
      }
    }
    file.add(file.buffer().asSlice(0, used));
    file.finish();
    return new Image(number, start, limit - main, chunkBytes, checksums);
  }
}
