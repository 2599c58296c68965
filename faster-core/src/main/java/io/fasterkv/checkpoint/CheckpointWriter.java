package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.checkpoint.CheckpointManifest.IndexPart;
import io.fasterkv.checkpoint.CheckpointManifest.LogPart;
import io.fasterkv.checkpoint.CheckpointManifest.Shape;
import io.fasterkv.device.DurableFiles;
import io.fasterkv.device.Transfers;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes a version of the store durable, while sessions go on with the next one. Index image and log
 * are written side by side; the manifest, written when all the rest is durable, is moved into
 * place: that is the moment from which the checkpoint exists.
 */
public final class CheckpointWriter {
  private static final int CHUNK_BYTES = 64 << 10;

  private final StoreConfig config;
  private final Engine engine;
  private final CheckpointFiles files;
  private final KeptCheckpoints kept;

  public CheckpointWriter(StoreConfig config, Engine engine, KeptCheckpoints kept) {
    this.config = config;
    this.engine = engine;
    this.kept = kept;
    files = new CheckpointFiles(config.directory());
  }

  /**
   * Writes a checkpoint; returns when it is durable. Until then nothing of the cut's version below
   * its end changes. The caller is not protected, and has the index's size lock and the cut's pin.
   */
  public CheckpointToken write(long number, CheckpointRequest request, VersionCut cut)
      throws IOException {
    HybridLog log = engine.log();
    log.awaitImmutable(cut.end());
    IndexPart index = copyIndex(number, cut.begin(), cut.end());
    log.awaitFlushed(cut.end());
    log.force();
    Shape shape = new Shape(config.recordKind(), config.pageBytes(), config.segmentBytes());
    LogPart part = new LogPart(cut.begin(), cut.end(), extents(cut));
    kept.add(number, cut.begin());
    boolean isDone = false;
    try {
      publish(new CheckpointManifest(number, shape, part, index));
      isDone = true;
    } finally {
      if (!isDone) {
        kept.abandon(number);
      }
    }
    return new CheckpointToken(number);
  }

  private IndexPart copyIndex(long number, long begin, long end) throws IOException {
    int bytes = Math.min(CHUNK_BYTES, config.pageBytes());
    MemorySegment buffer = engine.buffers().take(bytes);
    try (ChainRewind rewind = new ChainRewind(engine, begin, end)) {
      return new IndexImageFile(files.index(number), buffer)
          .write(engine.index().soleTable(), rewind);
    } finally {
      engine.buffers().give(buffer);
    }
  }

  /** The storage from the begin on; what is kept below is other checkpoints'. */
  private List<Extent> extents(VersionCut cut) {
    List<Extent> extents = new ArrayList<>();
    engine
        .log()
        .extents()
        .forEachUntil(
            cut.end(),
            extent -> {
              if (extent.until() > cut.begin()) {
                extents.add(extent);
              }
            });
    return extents;
  }

  private void publish(CheckpointManifest manifest) throws IOException {
    var unfinished = files.unfinishedManifest(manifest.number());
    Files.deleteIfExists(unfinished);
    try (FileChannel channel = DurableFiles.openReadWrite(unfinished)) {
      Transfers.writeFully(channel, MemorySegment.ofBuffer(ManifestCodec.encode(manifest)), 0);
      channel.force(true);
    }
    DurableFiles.moveIntoPlace(unfinished, files.manifest(manifest.number()));
  }
}
