package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.DeviceFailed;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes fold-over checkpoints while sessions go on (SIGMOD'18, section 6.5).
 *
 * <p>First the index is copied, then the log is cut: so the image leads nowhere beyond the cut. A
 * record that was allocated before the copy began and not yet in its chain would be missed by the
 * image and by the replay; therefore the copy begins only when every thread has moved on since the
 * replay's start was noted. Then the log below the cut is flushed and forced, and the manifest,
 * written last, is moved into place: that is the moment from which the checkpoint exists.
 */
public final class FoldOverCheckpoint {
  private static final int CHUNK_BYTES = 64 << 10;
  private static final long POLL_NANOS = 20_000;

  private final StoreConfig config;
  private final Engine engine;
  private final CheckpointFiles files;
  private final ReentrantLock oneAtATime = new ReentrantLock();

  public FoldOverCheckpoint(StoreConfig config, Engine engine) {
    this.config = config;
    this.engine = engine;
    files = new CheckpointFiles(config.directory());
  }

  /** Takes a checkpoint; returns when it is durable. The caller is not protected. */
  public CheckpointToken take() {
    oneAtATime.lock();
    HybridLog log = engine.log();
    // What is moved to the tail after the cut is still at its old place in the checkpoint.
    long begin = log.pin();
    try {
      var complete = files.complete();
      long number = complete.isEmpty() ? 1 : complete.last() + 1;
      long replayFrom = log.tailAddress();
      awaitEveryThread();
      IndexPart index = copyIndex(number);
      long end = engine.foldOver();
      log.awaitFlushed(end);
      log.force();
      publish(
          new CheckpointManifest(
              number,
              new Shape(config.recordKind(), config.pageBytes(), config.segmentBytes()),
              new LogPart(begin, Math.min(replayFrom, end), end, extents(end)),
              index));
      return new CheckpointToken(number);
    } catch (IOException e) {
      throw new DeviceFailed("a checkpoint could not be written: " + e.getMessage(), e);
    } finally {
      log.unpin(begin);
      oneAtATime.unlock();
    }
  }

  private void awaitEveryThread() {
    AtomicBoolean isSafe = new AtomicBoolean();
    engine.epochs().bump(() -> isSafe.set(true));
    while (!isSafe.get()) {
      engine.epochs().drain();
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private IndexPart copyIndex(long number) throws IOException {
    int bytes = Math.min(CHUNK_BYTES, config.pageBytes());
    MemorySegment buffer = engine.buffers().take(bytes);
    try {
      return new IndexImageFile(files.index(number), buffer).write(engine.index());
    } finally {
      engine.buffers().give(buffer);
    }
  }

  private List<Extent> extents(long end) {
    List<Extent> extents = new ArrayList<>();
    engine.log().extents().forEachUntil(end, extents::add);
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
