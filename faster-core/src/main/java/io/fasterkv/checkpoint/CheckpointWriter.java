package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.Image;
import io.fasterkv.checkpoint.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.CheckpointManifest.Shape;
import io.fasterkv.device.SegmentWriter;
import io.fasterkv.device.UncachedFiles;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes a version of the store durable, while sessions go on with the next one. Index image and log
 * are written first; the manifest, written when all the rest is durable, is moved into place: that
 * is the moment from which the checkpoint exists. One at a time.
 */
public final class CheckpointWriter {
  private static final int CHUNK_BYTES = 64 << 10;
  private static final int INDEX_BUFFER_BYTES = 1 << 20;

  /** In how many files a snapshot's blocks may be; then all are written again. */
  private static final int MAX_SNAPSHOT_FILES = 8;

  private final StoreConfig config;
  private final Engine engine;
  private final CheckpointFiles files;
  private final KeptCheckpoints kept;
  private final UncachedFiles uncached;

  /** The newest image, and the table that it is of: a table is another one after a resize. */
  private @Nullable Image newestImage;

  private @Nullable IndexTable imagedTable;

  /** The newest checkpoint with a snapshot; 0 for none. */
  private long newestSnapshot;

  /** Below it, the log's files were written by an import, and never forced. */
  private long importedUntil;

  /**
   * @param recovered what the store was recovered from; {@link Recovered#NOTHING} if it was not
   */
  public CheckpointWriter(
      StoreConfig config, Engine engine, KeptCheckpoints kept, Recovered recovered) {
    this.config = config;
    this.engine = engine;
    this.kept = kept;
    files = new CheckpointFiles(config.directory());
    uncached = new UncachedFiles(config.directory());
    newestImage = recovered.image();
    imagedTable = recovered.image() == null ? null : engine.index().soleTable();
    newestSnapshot = recovered.snapshot();
    importedUntil = recovered.importedUntil();
  }

  /** What a checkpoint is going to be made of. */
  private record Parts(@Nullable Image olderImage, @Nullable SnapshotBlocks base) {}

  /**
   * Writes a checkpoint; returns when it is durable. Until then nothing of the cut's version below
   * its end changes. The caller is not protected, and has the index's size lock and the cut's pin.
   *
   * @throws IOException if it failed; the store's directory is as it was, but for files that are in
   *     no checkpoint
   */
  public CheckpointToken write(long number, CheckpointRequest request, VersionCut cut)
      throws IOException {
    if (request.kind() == CheckpointKind.FOLD_OVER) {
      engine.log().awaitImmutable(cut.end());
    } else {
      // All that was allocated below the end has its header when this returns.
      engine.awaitEarlierOperations();
    }
    Parts parts = begin(number, request, cut);
    try {
      IndexPart index = writeIndex(number, parts, cut);
      LogPart log = writeLog(number, request.kind(), parts, cut);
      var manifest = new CheckpointManifest(number, request.kind(), shape(), cut, log, index);
      kept.publishing(number, Needs.of(manifest));
      ManifestFile.publish(files, manifest);
      newestImage = index.image();
      imagedTable = engine.index().soleTable();
      newestSnapshot = log.snapshot() == null ? newestSnapshot : number;
    } finally {
      kept.end(number);
    }
    return new CheckpointToken(number);
  }

  /**
   * What somebody needs who takes a version elsewhere. The caller has the index's size lock, and
   * leaves a pin of the log's begin to what is returned.
   */
  VersionExport export(VersionCut cut, long pinned) {
    IndexTable table = engine.index().soleTable();
    var head =
        new CheckpointManifest(
            1,
            CheckpointKind.FOLD_OVER,
            shape(),
            cut,
            new LogPart(List.of(), null, engine.log().voids().above(cut.begin())),
            new IndexPart(
                table.mainBuckets(),
                table.overflowBucketsUsed(),
                table.saturatedChains() > 0,
                null));
    return new VersionExport(engine, config.directory(), head, pinned);
  }

  private Shape shape() {
    return new Shape(config.recordKind(), config.pageBytes(), config.segmentBytes());
  }

  /** Chooses what to build on, and keeps it. */
  private Parts begin(long number, CheckpointRequest request, VersionCut cut) {
    Parts wanted = new Parts(olderImage(request), base(request));
    if (kept.begin(number, needs(number, wanted, request, cut))) {
      return wanted;
    }
    // The caller has removed what this would have built on.
    Parts alone = new Parts(null, null);
    kept.begin(number, needs(number, alone, request, cut));
    return alone;
  }

  private static Needs needs(long number, Parts parts, CheckpointRequest request, VersionCut cut) {
    Set<Long> snapshots = new TreeSet<>(Set.of(number));
    if (parts.base != null) {
      snapshots.addAll(parts.base.owners());
    }
    long image = parts.olderImage == null ? number : parts.olderImage.of();
    boolean hasLog = request.kind() != CheckpointKind.INDEX_ONLY;
    return new Needs(hasLog ? cut.begin() : Long.MAX_VALUE, image, snapshots, true);
  }

  /**
   * The image that a checkpoint without one builds on; null if it must have its own. A replay
   * cannot know where a record is chained if the table has had another size since, or shares
   * entries.
   */
  private @Nullable Image olderImage(CheckpointRequest request) {
    IndexTable table = engine.index().soleTable();
    boolean isUsable = !request.withIndex() && table == imagedTable && table.saturatedChains() == 0;
    return isUsable ? newestImage : null;
  }

  /** The snapshot that an incremental one builds on; null if all is to be written. */
  private @Nullable SnapshotBlocks base(CheckpointRequest request) {
    if (request.kind() != CheckpointKind.INCREMENTAL_SNAPSHOT || newestSnapshot == 0) {
      return null;
    }
    try {
      SnapshotBlocks base = ManifestCodec.read(files, newestSnapshot).log().snapshot();
      return base == null || base.owners().size() >= MAX_SNAPSHOT_FILES ? null : base;
    } catch (Corrupt e) {
      // It was removed, or cannot be read: then nothing is built on it.
      return null;
    }
  }

  private IndexPart writeIndex(long number, Parts parts, VersionCut cut) throws IOException {
    IndexTable table = engine.index().soleTable();
    Image image = parts.olderImage == null ? copyIndex(number, cut) : parts.olderImage;
    long used = Math.max(image.overflowUsed(), table.overflowBucketsUsed());
    return new IndexPart(table.mainBuckets(), used, table.saturatedChains() > 0, image);
  }

  private Image copyIndex(long number, VersionCut cut) throws IOException {
    int bufferBytes = Math.min(INDEX_BUFFER_BYTES, config.pageBytes());
    try (ChainRewind rewind = new ChainRewind(engine, cut);
        SequentialFile file = newFile(files.index(number), bufferBytes)) {
      return IndexImageFile.write(
          file,
          Math.min(CHUNK_BYTES, bufferBytes),
          number,
          cut.start(),
          engine.index().soleTable(),
          rewind);
    }
  }

  private SequentialFile newFile(Path file, int bufferBytes) throws IOException {
    return new SequentialFile(file, uncached, engine.buffers(), bufferBytes);
  }

  private LogPart writeLog(long number, CheckpointKind kind, Parts parts, VersionCut cut)
      throws IOException {
    HybridLog log = engine.log();
    if (kind == CheckpointKind.INDEX_ONLY) {
      return LogPart.NONE;
    }
    if (kind == CheckpointKind.FOLD_OVER) {
      log.awaitFlushed(cut.end());
      forceLog(cut.begin());
      return new LogPart(extents(cut.begin(), cut.end()), null, log.voids().above(cut.begin()));
    }
    long from = log.extents().boundaryUntil(cut.end());
    List<Extent> extents = extents(cut.begin(), from);
    try (SequentialFile file = newFile(files.snapshot(number), config.pageBytes())) {
      SnapshotBlocks blocks =
          new SnapshotFile(engine, file, number).write(from, cut.end(), parts.base, extents);
      forceLog(cut.begin());
      return new LogPart(extents, blocks, log.voids().above(cut.begin()));
    }
  }

  /** Makes the log durable from {@code begin} on, as far as the device has it. */
  private void forceLog(long begin) throws IOException {
    if (begin < importedUntil) {
      try {
        SegmentWriter.force(config.directory(), config.segmentBytes(), begin, importedUntil);
      } catch (IOException e) {
        engine.log().fail(e);
        throw e;
      }
    }
    importedUntil = 0;
    engine.log().force();
  }

  /** The storage from {@code begin} on; what is kept below is other checkpoints'. */
  private List<Extent> extents(long begin, long until) {
    List<Extent> extents = new ArrayList<>();
    engine
        .log()
        .extents()
        .forEachUntil(
            until,
            extent -> {
              if (extent.until() > begin) {
                extents.add(extent);
              }
            });
    return extents;
  }
}
