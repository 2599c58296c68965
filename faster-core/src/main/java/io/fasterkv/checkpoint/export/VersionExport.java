package io.fasterkv.checkpoint.export;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.checkpoint.manifest.ManifestCodec;
import io.fasterkv.device.file.SegmentWriter;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Checksums;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A version of the store that has ended and was folded over, for export: its log, which is pinned
 * until {@link #close}, and everything else that a recovery needs. For all threads.
 */
public final class VersionExport implements StoreExport {
  private final Engine engine;
  private final HybridLog log;
  private final Path directory;
  private final CheckpointManifest head;
  private final long pinned;
  private boolean isClosed;

  /**
   * @param directory directory of the log's segments
   * @param head the manifest of the version, without extents
   * @param pinned the log's begin address; this object takes over its pin
   */
  public VersionExport(Engine engine, Path directory, CheckpointManifest head, long pinned) {
    this.engine = engine;
    log = engine.log();
    this.directory = directory;
    this.head = head;
    this.pinned = pinned;
  }

  @Override
  public long beginAddress() {
    return head.cut().begin();
  }

  @Override
  public long endAddress() {
    return head.cut().end();
  }

  @Override
  public void awaitWritten() {
    log.cuts().awaitImmutable(endAddress());
    log.room().awaitFlushed(endAddress());
  }

  @Override
  public List<LogPiece> pieces(long from) {
    long above = Math.max(from, beginAddress());
    List<LogPiece> pieces = new ArrayList<>();
    log.extents()
        .forEachUntil(
            endAddress(),
            extent -> {
              if (extent.until() > above) {
                pieces.add(new LogPiece(extent.from(), extent.until(), extent.crc()));
              }
            });
    return pieces;
  }

  @Override
  public void read(LogPiece piece, MemorySegment target) {
    read(piece.from(), target);
    verify(piece, Checksums.crc32c(target));
  }

  @Override
  public void read(long address, MemorySegment target) {
    try {
      log.device().readNow(address, target);
    } catch (IOException e) {
      throw new DeviceFailed("a page could not be read: " + log.device().place(address), e);
    }
  }

  @Override
  public void verify(LogPiece piece, int crc) {
    if (crc != piece.crc()) {
      throw new Corrupt(
          "a page is not what was written: "
              + log.device().place(piece.from())
              + ", bytes="
              + piece.bytes());
    }
  }

  @Override
  public StoreExport.@Nullable Digest tryDigest() {
    MemorySegment page = engine.buffers().tryTake((int) log.pageBytes());
    return page == null ? null : new ExportDigest(engine, this, page, true);
  }

  @Override
  public boolean isWhole() {
    return log.device().isWhole();
  }

  @Override
  public void linkSegments(Path target) throws IOException {
    List<LogPiece> pieces = pieces(0);
    if (pieces.isEmpty()) {
      return;
    }
    log.device().awaitWhole();
    try (SegmentWriter segments = new SegmentWriter(target, head.shape().segmentBytes())) {
      segments.take(directory, pieces.getFirst().from(), endAddress(), false);
    }
  }

  @Override
  public byte[] head() {
    return ManifestCodec.encode(head).array();
  }

  @Override
  public synchronized void close() {
    if (!isClosed) {
      isClosed = true;
      log.pins().unpin(pinned);
    }
  }
}
