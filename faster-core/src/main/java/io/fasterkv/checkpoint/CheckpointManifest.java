package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.log.FlushedExtents.Extent;
import java.util.List;

/**
 * What a checkpoint is made of. It exists when its manifest is in place.
 *
 * @param number the checkpoint's
 * @param shape what the store's files look like
 * @param log which part of the log belongs to it
 * @param index the image of the index
 */
record CheckpointManifest(long number, Shape shape, LogPart log, IndexPart index) {

  /**
   * @param pageBytes size of a log page
   * @param segmentBytes size of a log segment file
   */
  record Shape(RecordKind recordKind, int pageBytes, long segmentBytes) {}

  /**
   * @param beginAddress the first address of the log
   * @param endAddress the first address that is not in the checkpoint
   * @param extents what the device holds, in order, up to the end
   */
  record LogPart(long beginAddress, long endAddress, List<Extent> extents) {}

  /**
   * @param mainBuckets buckets that hashes choose from
   * @param overflowUsed overflow buckets in the image, after the main ones
   * @param chunkBytes the image is checked in chunks of this size; the last may be shorter
   * @param chunkChecksums CRC32C of each chunk
   */
  record IndexPart(
      long mainBuckets, long overflowUsed, int chunkBytes, List<Integer> chunkChecksums) {
    long buckets() {
      return mainBuckets + overflowUsed;
    }
  }
}
