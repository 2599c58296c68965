package io.fasterkv.checkpoint.manifest;

import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.HeatMap;
import io.fasterkv.log.VoidRanges.VoidRange;
import io.fasterkv.record.RecordInfo;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Describes the parts of a checkpoint. The checkpoint exists once its manifest has its final name.
 * The manifest names every byte that the checkpoint needs, including bytes in files of older
 * checkpoints, so no other manifest is read for it.
 *
 * @param number the checkpoint's number
 * @param kind how the log was made durable
 * @param shape the format of the store's files
 * @param cut the version that it commits
 * @param log its part of the log
 * @param index its part of the index
 */
public record CheckpointManifest(
    long number, CheckpointKind kind, Shape shape, VersionCut cut, LogPart log, IndexPart index) {

  /**
   * @param pageBytes size of a log page
   * @param segmentBytes size of a log segment file
   */
  public record Shape(RecordKind recordKind, int pageBytes, long segmentBytes) {}

  /**
   * @param extents the log from the begin address to the end, in order, in pages or parts of pages;
   *     empty for a checkpoint of the index only
   * @param snapshot blocks in files of their own; null if everything is on the device
   * @param voids what earlier recoveries have undone above the begin address
   * @param heat how often each stretch was read from disk, in the form of {@link HeatMap#save}; may
   *     end early
   */
  public record LogPart(
      List<Extent> extents,
      @Nullable SnapshotBlocks snapshot,
      List<VoidRange> voids,
      ByteBuffer heat) {
    /** Creates a part without heat. */
    public LogPart(List<Extent> extents, @Nullable SnapshotBlocks snapshot, List<VoidRange> voids) {
      this(extents, snapshot, voids, ByteBuffer.allocate(0));
    }

    /** No log. */
    public static final LogPart NONE = new LogPart(List.of(), null, List.of());
  }

  /**
   * @param mainBuckets buckets that hashes select
   * @param tagBase number of main buckets from which tags count
   * @param overflowUsed overflow buckets in use at the cut
   * @param isSharing whether tags share entries because there was no room for another one
   * @param image the newest image of the index; null if there is none of this table
   */
  public record IndexPart(
      long mainBuckets,
      long tagBase,
      long overflowUsed,
      boolean isSharing,
      @Nullable Image image) {}

  /**
   * An image of the index, in a file of the checkpoint that wrote it.
   *
   * @param of number of that checkpoint
   * @param start records at or above it may be missing from the image
   * @param overflowUsed overflow buckets in the image, after the main ones
   * @param chunkBytes the unit of the checksums; the last chunk may be shorter
   * @param chunkChecksums CRC32C of each chunk
   */
  public record Image(
      long of, long start, long overflowUsed, int chunkBytes, List<Integer> chunkChecksums) {}

  /** Whether a store can be recovered from it; false for a checkpoint of the index only. */
  public boolean hasLog() {
    return kind != CheckpointKind.INDEX_ONLY;
  }

  /** Whether there is an image of the index, its own or an older checkpoint's. */
  public boolean hasImage() {
    return index.image() != null;
  }

  /** Whether the image is exactly that of the cut. */
  public boolean hasOwnImage() {
    return index.image() != null && index.image().of() == number;
  }

  /** The log below this address is on the device. */
  public long deviceEnd() {
    return log.snapshot() == null ? cut.end() : log.snapshot().from();
  }

  /** The extents that are on the device. */
  public List<Extent> onDevice() {
    return log.extents().subList(0, firstInSnapshot());
  }

  /** The extents that are in the files of snapshots. */
  public List<Extent> inSnapshot() {
    return log.extents().subList(firstInSnapshot(), log.extents().size());
  }

  private int firstInSnapshot() {
    int first = 0;
    while (first < log.extents().size() && log.extents().get(first).from() < deviceEnd()) {
      first++;
    }
    return first;
  }

  /** The first address that it needs of the device. */
  long deviceFrom() {
    return hasLog() ? cut.begin() : Long.MAX_VALUE;
  }

  /** The void ranges of a store that is recovered from it. */
  public List<VoidRange> voidsAfterRecovery() {
    List<VoidRange> all = new ArrayList<>(log.voids());
    if (cut.start() < cut.end()) {
      int next = (int) ((cut.version() + 1) % RecordInfo.VERSIONS);
      all.add(new VoidRange(cut.start(), cut.end(), next));
    }
    return all;
  }

  /** The checkpoints that own files of its snapshot. */
  public Set<Long> snapshotOwners() {
    return log.snapshot() == null ? new TreeSet<>() : log.snapshot().owners();
  }
}
