package io.fasterkv.checkpoint.write;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.checkpoint.export.VersionExport;
import io.fasterkv.checkpoint.manifest.CheckpointDependencies;
import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Shape;
import io.fasterkv.checkpoint.manifest.IndexImageFile;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.checkpoint.manifest.ManifestFile;
import io.fasterkv.checkpoint.manifest.Recovered;
import io.fasterkv.checkpoint.manifest.SequentialFile;
import io.fasterkv.checkpoint.manifest.SnapshotBlocks;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.device.file.SegmentWriter;
import io.fasterkv.device.file.UncachedFiles;
import io.fasterkv.index.IndexTable;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes a version of the store durable while sessions continue with the next one. It writes index
 * image and log first, and the manifest when all of that is durable. Moving the manifest to its
 * final name makes the checkpoint exist. One at a time.
 */
public final class CheckpointWriter {
  private static final int CHUNK_BYTES = 64 << 10;
  private static final int INDEX_BUFFER_BYTES = 1 << 20;

  /**
   * Maximum number of files with blocks of a snapshot; beyond that, all blocks are written again.
   */
  private static final int MAX_SNAPSHOT_FILES = 8;

  private final StoreConfig config;
  private final Engine engine;
  private final CheckpointFiles files;
  private final KeptCheckpoints kept;
  private final UncachedFiles uncached;

  /** The newest image, and the table it was taken of; a resize creates another table. */
  private @Nullable Image newestImage;

  private @Nullable IndexTable imagedTable;

  /** The newest checkpoint with a snapshot; 0 if there is none. */
  private long newestSnapshot;

  /** An import wrote the log's files below this address and did not force them. */
  private long importedUntil;

  /**
   * @param recovered what the store was recovered from; {@link Recovered#NOTHING} for a new store
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

  /** The older files that a checkpoint builds on. */
  private record Parts(@Nullable Image olderImage, @Nullable SnapshotBlocks base) {}

  /**
   * Writes a checkpoint and returns when it is durable. Until then, nothing of the cut's version
   * below its end may change. The caller must not be protected, and must have the index's size lock
   * and the cut's pin.
   *
   * @throws IOException if it failed; the store's directory is unchanged, except for files that
   *     belong to no checkpoint
   */
  public CheckpointToken write(long number, CheckpointRequest request, VersionCut cut)
      throws IOException {
    if (request.kind() == CheckpointKind.FOLD_OVER) {
      engine.log().cuts().awaitImmutable(cut.end());
    } else {
      // When this returns, every record allocated below the end has its header.
      engine.awaitEarlierOperations();
    }
    Parts parts = begin(number, request, cut);
    try {
      IndexPart index = writeIndex(number, parts, cut);
      LogPart log = writeLog(number, request.kind(), parts, cut);
      var manifest = new CheckpointManifest(number, request.kind(), shape(), cut, log, index);
      kept.publishing(number, CheckpointDependencies.of(manifest));
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
   * Creates an export of a version. The caller must have the index's size lock; the result takes
   * over a pin of the log's begin address.
   */
  public VersionExport export(VersionCut cut, long pinned) {
    IndexTable table = engine.index().soleTable();
    var head =
        new CheckpointManifest(
            1,
            CheckpointKind.FOLD_OVER,
            shape(),
            cut,
            logPart(List.of(), null, cut),
            new IndexPart(
                table.mainBuckets(),
                table.geometry().tagBase(),
                table.overflowBucketsUsed(),
                table.saturatedChains() > 0,
                null));
    return new VersionExport(engine, config.directory(), head, pinned);
  }

  private Shape shape() {
    return new Shape(config.recordKind(), config.pageBytes(), config.segmentBytes());
  }

  /** Chooses the files to build on and keeps them. */
  private Parts begin(long number, CheckpointRequest request, VersionCut cut) {
    Parts wanted = new Parts(olderImage(request), base(request));
    if (kept.begin(number, dependencies(number, wanted, request, cut))) {
      return wanted;
    }
    // The caller has removed the checkpoint that this would have built on.
    Parts alone = new Parts(null, null);
    kept.begin(number, dependencies(number, alone, request, cut));
    return alone;
  }

  private static CheckpointDependencies dependencies(
      long number, Parts parts, CheckpointRequest request, VersionCut cut) {
    Set<Long> snapshots = new TreeSet<>(Set.of(number));
    if (parts.base != null) {
      snapshots.addAll(parts.base.owners());
    }
    long image = parts.olderImage == null ? number : parts.olderImage.of();
    boolean hasLog = request.kind() != CheckpointKind.INDEX_ONLY;
    return new CheckpointDependencies(
        hasLog ? cut.begin() : Long.MAX_VALUE, image, snapshots, true);
  }

  /**
   * The image that a checkpoint without its own builds on; null if it must have its own. A replay
   * cannot tell the chain of a record if the table has had another size since, or shares entries.
   */
  private @Nullable Image olderImage(CheckpointRequest request) {
    IndexTable table = engine.index().soleTable();
    boolean isUsable = !request.withIndex() && table == imagedTable && table.saturatedChains() == 0;
    return isUsable ? newestImage : null;
  }

  /** The snapshot that an incremental one builds on; null if everything must be written. */
  private @Nullable SnapshotBlocks base(CheckpointRequest request) {
    if (request.kind() != CheckpointKind.INCREMENTAL_SNAPSHOT || newestSnapshot == 0) {
      return null;
    }
    try {
      SnapshotBlocks base = ManifestCodec.read(files, newestSnapshot).log().snapshot();
      return base == null || base.owners().size() >= MAX_SNAPSHOT_FILES ? null : base;
    } catch (Corrupt e) {
      // It was removed or cannot be read: build on nothing.
      return null;
    }
  }

  private IndexPart writeIndex(long number, Parts parts, VersionCut cut) throws IOException {
    IndexTable table = engine.index().soleTable();
    Image image = parts.olderImage == null ? copyIndex(number, cut) : parts.olderImage;
    long used = Math.max(image.overflowUsed(), table.overflowBucketsUsed());
    return new IndexPart(
        table.mainBuckets(), table.geometry().tagBase(), used, table.saturatedChains() > 0, image);
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
      log.room().awaitFlushed(cut.end());
      forceLog(cut.begin());
      return logPart(extents(cut.begin(), cut.end()), null, cut);
    }
    long from = log.extents().boundaryUntil(cut.end());
    List<Extent> extents = extents(cut.begin(), from);
    try (SequentialFile file = newFile(files.snapshot(number), config.pageBytes())) {
      SnapshotBlocks blocks =
          new SnapshotFile(engine, file, number).write(from, cut.end(), parts.base, extents);
      forceLog(cut.begin());
      return logPart(extents, blocks, cut);
    }
  }

  private LogPart logPart(List<Extent> extents, @Nullable SnapshotBlocks snapshot, VersionCut cut) {
    HybridLog log = engine.log();
    return new LogPart(
        extents,
        snapshot,
        log.voids().above(cut.begin()),
        log.heat().save(cut.begin(), Math.min(log.headAddress(), cut.end()), cut.end()));
  }

  /** Makes the log durable from {@code begin} on, as far as the device has it. */
  private void forceLog(long begin) throws IOException {
    if (begin < importedUntil) {
      try {
        SegmentWriter.force(config.directory(), config.segmentBytes(), begin, importedUntil);
      } catch (IOException e) {
        engine.log().failure().accept(e);
        throw e;
      }
    }
    importedUntil = 0;
    engine.log().room().force();
  }

  /** The extents from {@code begin} on; what is kept below belongs to other checkpoints. */
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
