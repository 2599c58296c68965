package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.VoidRanges.VoidRange;
import io.fasterkv.record.RecordInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a checkpoint is made of. It exists when its manifest is in place. It names every byte that
 * it needs, also in files that came with older checkpoints: no other manifest is read for it.
 *
 * @param number the checkpoint's
 * @param kind how the log was made durable
 * @param shape what the store's files look like
 * @param cut the version that it commits
 * @param log which part of the log belongs to it
 * @param index what there is of the index
 */
record CheckpointManifest(
    long number, CheckpointKind kind, Shape shape, VersionCut cut, LogPart log, IndexPart index) {

  /**
   * @param pageBytes size of a log page
   * @param segmentBytes size of a log segment file
   */
  record Shape(RecordKind recordKind, int pageBytes, long segmentBytes) {}

  /**
   * @param extents the log from the begin to the end, in order, in pages or parts of pages; empty
   *     when the checkpoint is of the index alone
   * @param snapshot what is in files of its own; null if all is on the device
   * @param voids what earlier recoveries have undone, as far as it is above the begin
   */
  record LogPart(List<Extent> extents, @Nullable SnapshotBlocks snapshot, List<VoidRange> voids) {
    /** Nothing. */
    static final LogPart NONE = new LogPart(List.of(), null, List.of());
  }

  /**
   * @param mainBuckets buckets that hashes choose from
   * @param overflowUsed overflow buckets in use at the cut
   * @param isSharing whether tags share entries, because there was no room for another one
   * @param image the newest image of the index; null if there is none of this table
   */
  record IndexPart(long mainBuckets, long overflowUsed, boolean isSharing, @Nullable Image image) {}

  /**
   * An image of the index, in the file of the checkpoint that it came with.
   *
   * @param of that checkpoint's number
   * @param start records at it and above may be missing from the image
   * @param overflowUsed overflow buckets in the image, after the main ones
   * @param chunkBytes the image is checked in chunks of this size; the last may be shorter
   * @param chunkChecksums CRC32C of each chunk
   */
  record Image(
      long of, long start, long overflowUsed, int chunkBytes, List<Integer> chunkChecksums) {}

  /** Whether a store can be recovered from it: not if it is of the index alone. */
  boolean hasLog() {
    return kind != CheckpointKind.INDEX_ONLY;
  }

  /** Whether there is an image of the index, of its own or of an older checkpoint. */
  boolean hasImage() {
    return index.image() != null;
  }

  /** Whether the image is exactly that of the cut. */
  boolean hasOwnImage() {
    return index.image() != null && index.image().of() == number;
  }

  /** Below it the log is on the device. */
  long deviceEnd() {
    return log.snapshot() == null ? cut.end() : log.snapshot().from();
  }

  /** The extents that are on the device. */
  List<Extent> onDevice() {
    return log.extents().subList(0, firstInSnapshot());
  }

  /** The extents that are in the files of snapshots. */
  List<Extent> inSnapshot() {
    return log.extents().subList(firstInSnapshot(), log.extents().size());
  }

  private int firstInSnapshot() {
    int first = 0;
    while (first < log.extents().size() && log.extents().get(first).from() < deviceEnd()) {
      first++;
    }
    return first;
  }

  /** The first byte that it needs of the device. */
  long deviceFrom() {
    return hasLog() ? cut.begin() : Long.MAX_VALUE;
  }

  /** What does not count in a store that is recovered from it. */
  List<VoidRange> voidsAfterRecovery() {
    List<VoidRange> all = new ArrayList<>(log.voids());
    if (cut.start() < cut.end()) {
      int next = (int) ((cut.version() + 1) % RecordInfo.VERSIONS);
      all.add(new VoidRange(cut.start(), cut.end(), next));
    }
    return all;
  }

  /** The checkpoints with whose files its snapshot came. */
  Set<Long> snapshotOwners() {
    return log.snapshot() == null ? new TreeSet<>() : log.snapshot().owners();
  }
}
