package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointManifest.Shape;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexImage;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.LogPosition;
import io.fasterkv.memory.Checksums;
import io.fasterkv.operation.Engine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Brings a store back to a checkpoint: checks every byte of it, and loads the index's image. The
 * log goes on after the checkpoint's end, with nothing in memory.
 */
public final class Recovery {

  /** A checkpoint whose manifest is sound and fits the configuration. */
  public static final class Plan {
    private final CheckpointFiles files;
    private final CheckpointManifest manifest;
    private final StoreConfig config;

    private Plan(CheckpointFiles files, CheckpointManifest manifest, StoreConfig config) {
      this.files = files;
      this.manifest = manifest;
      this.config = config;
    }

    public LogPosition position() {
      var log = manifest.log();
      return LogPosition.after(log.beginAddress(), log.endAddress(), log.extents());
    }

    public IndexGeometry indexGeometry() {
      return IndexGeometry.withMain(
          manifest.index().mainBuckets(),
          manifest.index().overflowUsed(),
          config.indexBytes(),
          config.indexRoomBytes());
    }

    public long overflowUsed() {
      return manifest.index().overflowUsed();
    }
  }

  private Recovery() {}

  /** The newest complete checkpoint in the store's directory. */
  public static CheckpointToken newest(StoreConfig config) {
    var complete = new CheckpointFiles(config.directory()).complete();
    if (complete.isEmpty()) {
      throw new BadConfig(
          "there is no checkpoint to recover: directory="
              + config.directory()
              + "; open the store instead, or name its directory");
    }
    return new CheckpointToken(complete.last());
  }

  /** Refuses to start afresh over a checkpoint. */
  public static void requireNoCheckpoint(StoreConfig config) {
    var complete = new CheckpointFiles(config.directory()).complete();
    if (!complete.isEmpty()) {
      throw new BadConfig(
          "the directory holds a checkpoint: directory="
              + config.directory()
              + ", newest="
              + complete.last()
              + "; recover it, or open an empty directory");
    }
  }

  /** Reads a checkpoint's manifest and holds it against the configuration. */
  public static Plan plan(StoreConfig config, CheckpointToken token) {
    CheckpointFiles files = new CheckpointFiles(config.directory());
    Path file = files.manifest(token.number());
    CheckpointManifest manifest;
    try {
      manifest = ManifestCodec.decode(ByteBuffer.wrap(Files.readAllBytes(file)), file);
    } catch (IOException e) {
      throw new Corrupt("a manifest cannot be read: file=" + file + ", cause=" + e, e);
    }
    if (manifest.number() != token.number()) {
      throw new Corrupt(
          "a manifest is another checkpoint's: file="
              + file
              + ", offset=12, number="
              + manifest.number());
    }
    checkFits(manifest, config);
    return new Plan(files, manifest, config);
  }

  /** Fills the empty index of a store that was built to the plan, and checks the log. */
  public static void rebuildIndex(Plan plan, Engine engine) {
    MemorySegment buffer = engine.buffers().take(plan.config.pageBytes());
    try {
      MemorySegment chunk = buffer.asSlice(0, plan.manifest.index().chunkBytes());
      new IndexImageFile(plan.files.index(plan.manifest.number()), chunk)
          .read(plan.manifest.index(), engine.index().soleTable());
      verifyLog(plan, engine, buffer);
    } finally {
      engine.buffers().give(buffer);
    }
    try {
      plan.files.removeAfter(new CheckpointToken(plan.manifest.number()));
    } catch (IOException e) {
      throw new Corrupt("later checkpoints could not be removed: " + e.getMessage(), e);
    }
  }

  private static void checkFits(CheckpointManifest manifest, StoreConfig config) {
    Shape wanted = new Shape(config.recordKind(), config.pageBytes(), config.segmentBytes());
    if (!manifest.shape().equals(wanted)) {
      throw new BadConfig(
          "the checkpoint was taken with other settings: configured="
              + wanted
              + ", allowed="
              + manifest.shape());
    }
    long indexBytes = manifest.index().buckets() * IndexImage.BUCKET_BYTES;
    if (indexBytes > config.indexRoomBytes()) {
      throw new BadConfig(
          "the checkpoint's index does not fit: room="
              + config.indexRoomBytes()
              + ", needed="
              + indexBytes
              + "; raise memoryBytes or lower another part");
    }
    if (manifest.index().chunkBytes() > config.pageBytes()) {
      throw new Corrupt(
          "a manifest's chunk is larger than a page: chunkBytes=" + manifest.index().chunkBytes());
    }
  }

  /** Reads all of the log and compares the checksums. */
  private static void verifyLog(Plan plan, Engine engine, MemorySegment buffer) {
    var device = engine.log().device();
    for (Extent extent : plan.manifest.log().extents()) {
      MemorySegment bytes = buffer.asSlice(0, extent.until() - extent.from());
      try {
        device.readNow(extent.from(), bytes);
      } catch (IOException e) {
        throw new Corrupt("a page cannot be read: " + device.place(extent.from()), e);
      }
      if (Checksums.crc32c(bytes) != extent.crc()) {
        throw new Corrupt(
            "a page's checksum is wrong: "
                + device.place(extent.from())
                + ", bytes="
                + bytes.byteSize());
      }
    }
  }
}
