package io.fasterkv.checkpoint;

import io.fasterkv.api.LogPiece;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.device.SegmentWriter;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Checksums;
import io.fasterkv.operation.Engine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A version of the store that is over and was folded over, for who takes it elsewhere: its log,
 * which is pinned until {@link #close}, and what a recovery has to know besides. For all threads.
 */
public final class VersionExport implements AutoCloseable {
  private final Engine engine;
  private final HybridLog log;
  private final Path directory;
  private final CheckpointManifest head;
  private final long pinned;
  private boolean isClosed;

  /**
   * @param directory of the log's segments
   * @param head of the version, without extents
   * @param pinned the log's begin, whose pin is this object's from now on
   */
  VersionExport(Engine engine, Path directory, CheckpointManifest head, long pinned) {
    this.engine = engine;
    log = engine.log();
    this.directory = directory;
    this.head = head;
    this.pinned = pinned;
  }

  public long begin() {
    return head.cut().begin();
  }

  public long end() {
    return head.cut().end();
  }

  /**
   * Waits until the device has all of it; the caller is in no operation.
   *
   * @throws io.fasterkv.api.StoreException.DiskFull if the device has no space for it now
   */
  public void awaitWritten() {
    log.awaitImmutable(end());
    log.awaitFlushed(end());
  }

  /** The pieces of the log, in order, that end above {@code from}. */
  public List<LogPiece> pieces(long from) {
    long above = Math.max(from, begin());
    List<LogPiece> pieces = new ArrayList<>();
    log.extents()
        .forEachUntil(
            end(),
            extent -> {
              if (extent.until() > above) {
                pieces.add(new LogPiece(extent.from(), extent.until(), extent.crc()));
              }
            });
    return pieces;
  }

  /** Reads a piece and compares its checksum. */
  public void read(LogPiece piece, MemorySegment target) {
    read(piece.from(), target);
    verify(piece, Checksums.crc32c(target));
  }

  /** Reads bytes of the log without verifying them. */
  public void read(long address, MemorySegment target) {
    try {
      log.device().readNow(address, target);
    } catch (IOException e) {
      throw new DeviceFailed("a page could not be read: " + log.device().place(address), e);
    }
  }

  /** Compares the checksum of the bytes of a piece that were read. */
  public void verify(LogPiece piece, int crc) {
    if (crc != piece.crc()) {
      throw new Corrupt(
          "a page is not what was written: "
              + log.device().place(piece.from())
              + ", bytes="
              + piece.bytes());
    }
  }

  /** An empty digest of pieces. */
  public RecordDigest newDigest() {
    return new RecordDigest(new PieceWalk(engine.layout()), engine::hash);
  }

  /** Scratch memory for a page, to be given back; null if there is none now. */
  public @Nullable MemorySegment tryTakePage() {
    return engine.buffers().tryTake((int) log.pageBytes());
  }

  public void givePage(MemorySegment page) {
    engine.buffers().give(page);
  }

  /** Whether {@link #linkSegments} has nothing to wait for. */
  public boolean isWhole() {
    return log.device().isWhole();
  }

  /** Gives the segments second names in another directory, which is there. */
  public void linkSegments(Path target) throws IOException {
    List<LogPiece> pieces = pieces(0);
    if (pieces.isEmpty()) {
      return;
    }
    log.device().awaitWhole();
    try (SegmentWriter segments = new SegmentWriter(target, head.shape().segmentBytes())) {
      segments.take(directory, pieces.getFirst().from(), end(), false);
    }
  }

  /** All but the log, as bytes. */
  public byte[] head() {
    return ManifestCodec.encode(head).array();
  }

  @Override
  public synchronized void close() {
    if (!isClosed) {
      isClosed = true;
      log.holds().unpin(pinned);
    }
  }
}
