package io.fasterkv.checkpoint.manifest;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Shape;
import io.fasterkv.index.IndexImage;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.HeatMap;
import io.fasterkv.log.VoidRanges.VoidRange;
import io.fasterkv.record.Address;
import java.util.List;

/**
 * Checks that the numbers of a manifest are consistent, so that everything computed from them stays
 * within files and memory. A checksum only shows that the bytes are those that were written.
 */
public final class ManifestRules {
  private static final long MAX_BUCKETS = 1L << 40;
  private static final long MAX_SEGMENT_BYTES = 1L << 48;
  private static final int LEAST_SECTOR_BYTES = 64;
  private static final int MAX_PAGE_BYTES = 64 << 20;

  private final CheckpointManifest manifest;
  private final Object file;

  private ManifestRules(CheckpointManifest manifest, Object file) {
    this.manifest = manifest;
    this.file = file;
  }

  public static void check(CheckpointManifest manifest, Object file) {
    ManifestRules rules = new ManifestRules(manifest, file);
    rules.checkNumbers();
    if (manifest.hasLog()) {
      rules.checkExtents();
      rules.checkSnapshot();
      rules.checkVoids();
      rules.checkHeat();
    } else {
      rules.require(manifest.log().equals(LogPart.NONE), "the index alone has a log", "none");
      rules.require(manifest.hasOwnImage(), "the index alone has no image of its own", "one");
    }
  }

  /** Like {@link #check}, without the extents, which are stored elsewhere. */
  static void checkHead(CheckpointManifest manifest, Object file) {
    ManifestRules rules = new ManifestRules(manifest, file);
    rules.checkNumbers();
    rules.require(
        manifest.kind() == CheckpointKind.FOLD_OVER
            && !manifest.hasImage()
            && manifest.log().extents().isEmpty()
            && manifest.log().snapshot() == null,
        "the head of a version has more than a head: kind=" + manifest.kind(),
        "a fold-over without an image, extents and a snapshot");
    rules.checkVoids();
    rules.checkHeat();
  }

  private void checkNumbers() {
    checkShape();
    checkCut();
    checkIndex();
  }

  private void checkShape() {
    Shape shape = manifest.shape();
    require(
        isPowerOfTwo(shape.pageBytes(), MAX_PAGE_BYTES),
        "pageBytes=" + shape.pageBytes(),
        "a power of two");
    require(
        isPowerOfTwo(shape.segmentBytes(), MAX_SEGMENT_BYTES)
            && shape.segmentBytes() >= shape.pageBytes(),
        "segmentBytes=" + shape.segmentBytes(),
        "a power of two, a page and above");
  }

  private void checkCut() {
    VersionCut cut = manifest.cut();
    require(manifest.number() >= 1, "number=" + manifest.number(), "1 and above");
    require(cut.version() >= 0, "version=" + cut.version(), "0 and above");
    long most = (1L << Address.BITS) - manifest.shape().pageBytes();
    require(
        cut.begin() >= 0 && cut.end() <= most,
        "begin=" + cut.begin() + ", end=" + cut.end(),
        "0 to " + most);
    require(
        cut.begin() % Long.BYTES == 0
            && cut.start() % Long.BYTES == 0
            && cut.end() % (manifest.hasLog() ? LEAST_SECTOR_BYTES : Long.BYTES) == 0,
        "begin=" + cut.begin() + ", start=" + cut.start() + ", end=" + cut.end(),
        "multiples of 8, and a log's end at a sector");
    cut.points().forEach(this::checkPoint);
  }

  private void checkPoint(String session, CommitPoint point) {
    require(
        point.serial() >= 0, "point of session " + session + "=" + point.serial(), "0 and above");
    long above = 0;
    for (long excluded : point.excluded()) {
      require(
          excluded > above && excluded <= point.serial(),
          "an excluded operation of session " + session + "=" + excluded,
          "above " + above + " and up to its point, " + point.serial());
      above = excluded;
    }
  }

  private void checkIndex() {
    IndexPart index = manifest.index();
    require(
        index.mainBuckets() > 0 && index.mainBuckets() <= MAX_BUCKETS,
        "mainBuckets=" + index.mainBuckets(),
        "1 to " + MAX_BUCKETS);
    require(
        index.tagBase() > 0 && index.tagBase() <= MAX_BUCKETS,
        "tagBase=" + index.tagBase(),
        "1 to " + MAX_BUCKETS);
    require(
        index.overflowUsed() >= 0 && index.overflowUsed() <= MAX_BUCKETS,
        "overflowUsed=" + index.overflowUsed(),
        "0 to " + MAX_BUCKETS);
    Image image = index.image();
    if (image == null) {
      return;
    }
    require(
        image.overflowUsed() >= 0 && image.overflowUsed() <= index.overflowUsed(),
        "overflowUsed of the image=" + image.overflowUsed(),
        "0 to " + index.overflowUsed());
    require(
        image.of() >= 1 && image.of() <= manifest.number(),
        "the image's checkpoint=" + image.of(),
        "1 to " + manifest.number());
    require(
        image.start() >= 0 && image.start() <= manifest.cut().end(),
        "the image's start=" + image.start(),
        "0 to " + manifest.cut().end());
    boolean isWhole =
        image.chunkBytes() >= IndexImage.BUCKET_BYTES
            && image.chunkBytes() <= manifest.shape().pageBytes()
            && image.chunkBytes() % IndexImage.BUCKET_BYTES == 0
            && image.chunkChecksums().size()
                == Math.ceilDiv(IndexImageFile.bytes(index), image.chunkBytes());
    require(
        isWhole,
        "chunks of the image=" + image.chunkChecksums().size() + " of " + image.chunkBytes(),
        "as many as its buckets take");
  }

  /**
   * Checks that the extents have no gap from the begin address to the end, and that each is on one
   * page.
   */
  private void checkExtents() {
    List<Extent> extents = manifest.log().extents();
    VersionCut cut = manifest.cut();
    int pageBytes = manifest.shape().pageBytes();
    if (extents.isEmpty()) {
      require(cut.begin() == cut.end(), "extents=none", "from begin to end");
      return;
    }
    long at = extents.getFirst().from();
    require(
        at >= 0 && at <= cut.begin() && at % Long.BYTES == 0,
        "the first extent=" + at,
        "up to " + cut.begin());
    for (Extent extent : extents) {
      boolean isOnOnePage = extent.from() / pageBytes == (extent.until() - 1) / pageBytes;
      require(
          extent.from() == at
              && extent.until() > at
              && extent.until() % Long.BYTES == 0
              && isOnOnePage,
          "an extent=" + extent,
          "one that begins at " + at + " and is on one page");
      at = extent.until();
    }
    require(at == cut.end(), "the last extent's end=" + at, "" + cut.end());
  }

  private void checkHeat() {
    int heat = manifest.log().heat().remaining();
    long stretches = HeatMap.stretches(manifest.cut().begin(), manifest.cut().end());
    require(heat <= stretches, "stretches with heat=" + heat, "up to " + stretches);
  }

  private void checkSnapshot() {
    SnapshotBlocks blocks = manifest.log().snapshot();
    boolean isSnapshot =
        manifest.kind() == CheckpointKind.SNAPSHOT
            || manifest.kind() == CheckpointKind.INCREMENTAL_SNAPSHOT;
    require((blocks != null) == isSnapshot, "a snapshot=" + (blocks != null), "" + isSnapshot);
    if (blocks == null) {
      return;
    }
    require(
        blocks.blockBytes() <= manifest.shape().pageBytes(),
        "blockBytes=" + blocks.blockBytes(),
        "up to a page");
    require(
        blocks.until() == manifest.cut().end(), "snapshot's end=" + blocks.until(), "the cut's");
    boolean beginsAtExtent =
        blocks.count() == 0
            || manifest.log().extents().stream().anyMatch(e -> e.from() == blocks.from());
    require(
        beginsAtExtent, "the snapshot's begin address=" + blocks.from(), "where an extent begins");
    for (int block = 0; block < blocks.count(); block++) {
      require(
          blocks.owner(block) >= 1
              && blocks.owner(block) <= manifest.number()
              && blocks.position(block) >= 0
              && blocks.position(block) <= Address.MASK,
          "block "
              + block
              + " of checkpoint "
              + blocks.owner(block)
              + " at "
              + blocks.position(block),
          "checkpoints up to " + manifest.number());
    }
  }

  private void checkVoids() {
    for (VoidRange range : manifest.log().voids()) {
      require(
          range.until() <= manifest.cut().end(), "a void range=" + range, "ranges below the end");
    }
  }

  private static boolean isPowerOfTwo(long number, long most) {
    return number > 0 && number <= most && Long.bitCount(number) == 1;
  }

  private void require(boolean isSound, String what, String allowed) {
    if (!isSound) {
      throw new Corrupt(
          "a manifest's numbers do not fit each other: file="
              + file
              + ", offset=20 and above, "
              + what
              + ", allowed="
              + allowed);
    }
  }
}
