package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryProgress.Phase;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.checkpoint.manifest.CheckpointFiles;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Image;
import io.fasterkv.checkpoint.manifest.CheckpointManifest.Shape;
import io.fasterkv.checkpoint.manifest.IndexImageFile;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.checkpoint.manifest.Recovered;
import io.fasterkv.checkpoint.manifest.SnapshotBlocks;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.device.LogDevice;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexImage;
import io.fasterkv.log.LogPosition;
import io.fasterkv.log.VoidRanges;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.spi.LogOrigin;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Recovers a store from a checkpoint (CPR, section 6.5 and algorithm 3): loads the newest image of
 * the index, verifies every byte of the log, and replays the records that the image does not have.
 * The log continues after the checkpoint's end, with nothing in memory.
 */
public final class Recovery {
  /** Bytes of log with as many of the smallest records as an overflow bucket has entries. */
  private static final long BYTES_A_BUCKET = 7 * 24;

  private final StoreConfig config;

  /** Bytes of the log's memory that the index has taken over. */
  private final long lentBytes;

  /** Whether the index leaves memory for later, if it can grow. */
  private final boolean takesLittle;

  private final RecoveryRequest request;
  private final CheckpointFiles files;
  private final CheckpointManifest manifest;

  /** The image to load, if any. */
  private final @Nullable Image image;

  private Recovery(
      StoreConfig config,
      RecoveryRequest request,
      CheckpointManifest manifest,
      long lentBytes,
      boolean takesLittle) {
    this.config = config;
    this.lentBytes = lentBytes;
    this.takesLittle = takesLittle;
    this.request = request;
    this.manifest = manifest;
    files = new CheckpointFiles(config.directory());
    image = request.usesIndex() ? manifest.index().image() : null;
  }

  /**
   * The checkpoints to try, in order: one, or with {@link RecoveryRequest#fallingBack} that one and
   * all older ones.
   */
  public static List<CheckpointToken> candidates(StoreConfig config, RecoveryRequest request) {
    CheckpointFiles files = new CheckpointFiles(config.directory());
    List<CheckpointToken> candidates = new ArrayList<>();
    for (long number : files.complete().descendingSet()) {
      CheckpointToken token = request.token();
      boolean isWanted = token == null ? mayHaveLog(files, number) : number == token.number();
      boolean isFallBack = !candidates.isEmpty() && mayHaveLog(files, number);
      if (candidates.isEmpty() ? isWanted : isFallBack) {
        candidates.add(new CheckpointToken(number));
      }
    }
    if (candidates.isEmpty()) {
      throw new BadConfig(
          "there is no checkpoint to recover: directory="
              + config.directory()
              + ", wanted="
              + (request.token() == null ? "newest" : request.token().number())
              + ", allowed="
              + files.complete()
              + "; open the store instead, or name its directory");
    }
    return request.fallsBack() ? candidates : candidates.subList(0, 1);
  }

  /** Whether a checkpoint has more than the index; true also if it cannot be read. */
  private static boolean mayHaveLog(CheckpointFiles files, long number) {
    try {
      return ManifestCodec.read(files, number).hasLog();
    } catch (Corrupt e) {
      return true;
    }
  }

  /**
   * Refuses to create a new store over a checkpoint. Checkpoints of the index only, which cannot be
   * recovered from, are removed.
   */
  public static void requireNoCheckpoint(StoreConfig config) {
    CheckpointFiles files = new CheckpointFiles(config.directory());
    var complete = files.complete();
    if (complete.stream().noneMatch(number -> mayHaveLog(files, number))) {
      removeAfter(files, 0);
    } else {
      throw new BadConfig(
          "the directory holds a checkpoint: directory="
              + config.directory()
              + ", newest="
              + complete.last()
              + "; recover it, or open an empty directory");
    }
  }

  /** Reads a checkpoint's manifest and compares it with the configuration. */
  public static Recovery plan(StoreConfig config, CheckpointToken token, RecoveryRequest request) {
    CheckpointFiles files = new CheckpointFiles(config.directory());
    CheckpointManifest manifest = ManifestCodec.read(files, token.number());
    if (!manifest.hasLog()) {
      throw new BadConfig(
          "a checkpoint of the index alone cannot be recovered from: number="
              + token.number()
              + ", kind="
              + manifest.kind()
              + ", allowed=a checkpoint with a log; take one that builds on it");
    }
    StoreConfig fitting =
        config.keyFilter() == null ? fitting(config, usedIndexBytes(manifest)) : config;
    long lentBytes = config.logMemoryBytes() - fitting.logMemoryBytes();
    Recovery recovery = new Recovery(fitting, request, manifest, lentBytes, true);
    recovery.checkFits();
    if (request.origin() != null) {
      OriginReplay.requireLogOf(manifest, request.origin());
    }
    return recovery;
  }

  /**
   * Settings with which an index of that size fits. The log's memory is halved, as it was when the
   * index grew to that size, as often as {@code logHalvings} and the page size allow.
   */
  private static StoreConfig fitting(StoreConfig config, long indexBytes) {
    long logBytes = config.logMemoryBytes() / 2;
    boolean fits = indexBytes + config.ringBytes() <= indexRoomBytes(config);
    if (fits || config.logHalvings() == 0 || logBytes < 4L * config.pageBytes()) {
      return config;
    }
    StoreConfigBuilder halved = config.toBuilder().logMemoryBytes(logBytes);
    return fitting(halved.logHalvings(config.logHalvings() - 1).build(), indexBytes);
  }

  /** The part of the budget that is left for the index. */
  private static long indexRoomBytes(StoreConfig config) {
    return config.memoryBytes() - config.logMemoryBytes() - config.scratchBytes();
  }

  /** Where the log continues. */
  public LogPosition position() {
    return LogPosition.after(
        manifest.cut().begin(),
        manifest.cut().end(),
        manifest.log().extents(),
        new VoidRanges(manifest.voidsAfterRecovery()));
  }

  /** The sizes of the index. */
  public IndexGeometry indexGeometry() {
    long main = manifest.index().mainBuckets();
    IndexGeometry saved = new IndexGeometry(main, 0, manifest.index().tagBase());
    if (!manifest.hasImage()) {
      IndexGeometry refined = geometryToFill(saved);
      // All entries are made anew. New tags are at least as fine as the old ones, if each bucket
      // that these count from is now a whole number of buckets.
      return main % saved.tagBase() == 0
          ? new IndexGeometry(refined.mainBuckets(), refined.overflowBuckets())
          : refined;
    }
    long used = manifest.index().overflowUsed();
    long room = indexRoomBytes(config) - config.memoryBytes() / 64;
    long most = Math.max(used, room / IndexImage.BUCKET_BYTES - main);
    IndexGeometry geometry =
        saved.withOverflow(
            Math.min(used + spareBuckets(), most), config.indexBytes(), indexRoomBytes(config));
    long lent = Math.min(lentBytes / IndexImage.BUCKET_BYTES, most - geometry.overflowBuckets());
    long overflow = geometry.overflowBuckets() + Math.max(0, lent);
    return new IndexGeometry(main, overflow, saved.tagBase());
  }

  /**
   * The index to be made from the log. One that can grow begins at the size of the old one, since
   * other stores may need the rest of the memory.
   */
  private IndexGeometry geometryToFill(IndexGeometry saved) {
    long most = config.indexBytes() + lentBytes;
    if (!mayTakeMore()) {
      return saved.refined(most);
    }
    long used = manifest.index().overflowUsed() + spareBuckets();
    IndexGeometry old = saved.withOverflow(used, 0, Long.MAX_VALUE);
    IndexGeometry first = saved.refined(IndexGeometry.first(config.indexBytes()).bytes());
    IndexGeometry larger = old.bytes() > first.bytes() ? old : first;
    return larger.bytes() > most ? saved.refined(most) : larger;
  }

  private boolean mayTakeMore() {
    return takesLittle
        && config.growingIndex()
        && lentBytes == 0
        && !manifest.hasImage()
        && !manifest.index().isSharing();
  }

  /**
   * The same plan, with an index that has all the memory that it may have. The old index need not
   * have had an entry for each key of the log: one restored for some of the keys has none for
   * others.
   */
  public Recovery withWholeIndex() {
    return new Recovery(config, request, manifest, lentBytes, false);
  }

  /**
   * Overflow buckets for a replay, which creates entries in another order, and also entries that
   * were freed since. If entries were shared, each record may need one.
   */
  private long spareBuckets() {
    if (!needsReplay()) {
      return 0;
    }
    long bytes = manifest.cut().end() - manifest.cut().begin();
    long used = manifest.index().overflowUsed();
    return manifest.index().isSharing() ? bytes / BYTES_A_BUCKET : used / 4 + 8;
  }

  /** Overflow buckets that the image, if it is loaded, uses. */
  public long overflowUsed() {
    return image == null ? 0 : image.overflowUsed();
  }

  /** What the store must know afterwards. */
  public Recovered recovered() {
    return Recovered.from(manifest);
  }

  /** Fills the empty index of a store that was built by this plan, and verifies the log. */
  public void run(Engine engine) {
    Progress progress = new Progress(request.listener());
    engine.log().heat().load(manifest.cut().begin(), manifest.log().heat());
    if (image != null) {
      loadImage(engine, progress);
    }
    try (PieceBuffers buffers = new PieceBuffers(engine.buffers(), config.pageBytes())) {
      if (request.verifies()) {
        verifyDevice(engine.log().device(), buffers, progress);
      }
      if (manifest.log().snapshot() != null) {
        restore(manifest.log().snapshot(), engine.log().device(), buffers, progress);
      }
    }
    if (request.origin() != null) {
      replayFrom(request.origin(), engine, progress);
    } else if (needsReplay()) {
      replay(engine, progress);
    }
    removeLater();
  }

  private boolean needsReplay() {
    return image == null || image.of() != manifest.number();
  }

  private void loadImage(Engine engine, Progress progress) {
    progress.begin(Phase.INDEX, IndexImageFile.bytes(manifest.index()));
    IndexLoad.run(files, manifest, engine.index().soleTable(), progress);
    progress.end();
  }

  private void verifyDevice(LogDevice device, PieceBuffers buffers, Progress progress) {
    DeviceCheck check = new DeviceCheck(manifest, device, buffers.bytes());
    progress.begin(Phase.VERIFY, check.bytes());
    ParallelPieces.run(
        check.pieces(), buffers.workers(buffer -> piece -> check.check(piece, buffer)), progress);
    progress.end();
  }

  /**
   * Writes a snapshot to its place on the device. Later checkpoints may have other bytes there, so
   * they are removed first, and before that the whole snapshot is verified.
   */
  private void restore(
      SnapshotBlocks blocks, LogDevice device, PieceBuffers buffers, Progress progress) {
    long bytes = blocks.until() - blocks.from();
    boolean hasLater = !files.complete().tailSet(manifest.number(), false).isEmpty();
    try (SnapshotReader reader = new SnapshotReader(files, manifest, blocks)) {
      SnapshotRestore work = new SnapshotRestore(reader, manifest, device);
      if (hasLater) {
        progress.begin(Phase.VERIFY, bytes);
        ParallelPieces.run(
            work.pieces(), buffers.workers(buffer -> piece -> work.check(piece, buffer)), progress);
        progress.end();
        removeLater();
      }
      progress.begin(Phase.SNAPSHOT, bytes);
      ParallelPieces.run(
          work.pieces(), buffers.workers(buffer -> piece -> work.restore(piece, buffer)), progress);
      progress.end();
    }
  }

  private void replay(Engine engine, Progress progress) {
    VersionCut cut = manifest.cut();
    long from = image == null ? cut.begin() : Math.max(cut.begin(), image.start());
    progress.begin(Phase.REPLAY, cut.end() - from);
    new Replay(engine, image != null).run(cut.begin(), from, cut.end(), progress);
    progress.end();
  }

  private void replayFrom(LogOrigin origin, Engine engine, Progress progress) {
    OriginReplay replay = new OriginReplay(engine, manifest, origin, config.keyFilter());
    progress.begin(Phase.REPLAY, replay.bytes());
    try (PieceBuffers buffers =
        new PieceBuffers(
            engine.buffers(), config.pageBytes(), config.pageBytes(), origin.streams())) {
      replay.run(buffers, progress);
    }
    progress.end();
  }

  private void removeLater() {
    removeAfter(files, manifest.number());
  }

  private static void removeAfter(CheckpointFiles files, long number) {
    try {
      files.removeAfter(number);
    } catch (IOException e) {
      throw new Corrupt("later checkpoints could not be removed: " + e.getMessage(), e);
    }
  }

  private static long usedIndexBytes(CheckpointManifest manifest) {
    return (manifest.index().mainBuckets() + manifest.index().overflowUsed())
        * IndexImage.BUCKET_BYTES;
  }

  /**
   * The configuration, with memory moved from the log to the index if the index had taken it over.
   */
  public StoreConfig config() {
    return config;
  }

  private void checkFits() {
    Shape wanted = new Shape(config.recordKind(), config.pageBytes(), config.segmentBytes());
    if (!manifest.shape().equals(wanted)) {
      throw new BadConfig(
          "the checkpoint was taken with other settings: configured="
              + wanted
              + ", allowed="
              + manifest.shape());
    }
    long indexBytes =
        manifest.hasImage()
            ? usedIndexBytes(manifest)
            : manifest.index().mainBuckets() * IndexImage.BUCKET_BYTES;
    long room = manifest.hasImage() ? indexRoomBytes(config) : config.indexBytes();
    if (indexBytes > room) {
      throw new BadConfig(
          "the checkpoint's index does not fit: room="
              + room
              + ", needed="
              + indexBytes
              + "; raise memoryBytes or lower another part");
    }
  }
}
