package io.fasterkv.log;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.record.LargeAnchor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Puts the value of a large record together for a scan, when it is asked for. The chunks lie below
 * the anchor, in memory or on disk; each is checked against its own checksum. Borrows scratch
 * memory for one value at a time, and waits for it when others have it. One thread at a time.
 */
public final class ScannedValue {
  private static final long PAUSE_NANOS = 1_000_000;

  /** Half a minute of pauses. */
  private static final int MAX_WAITS = 20_000;

  private final HybridLog log;
  private final BufferPool buffers;
  private final LargeReader reader;
  private @Nullable MemorySegment whole;
  private boolean isRead;

  public ScannedValue(HybridLog log, BufferPool buffers, EpochUser user) {
    this.log = log;
    this.buffers = buffers;
    reader = new LargeReader(log, user);
  }

  /** Points {@code value} at the whole value; it stays until {@link #release}. */
  public void read(LargeAnchor anchor, ByteSpan key, ByteSpan value) {
    release();
    MemorySegment to = take(anchor.bytes());
    ChunkCursor cursor = reader.cursor();
    cursor.begin(anchor, key.memory(), key.offset(), key.length());
    LargeReader.Sink sink =
        (memory, piece) ->
            MemorySegment.copy(
                memory, piece.pieceOffset(), to, piece.position(), piece.pieceBytes());
    reader.takeFromMemory(sink);
    if (!cursor.isAtEnd()) {
      MemorySegment chunk = buffers.take((int) log.pageBytes());
      try {
        while (!cursor.isAtEnd()) {
          reader.takeFromDisk(chunk, sink);
        }
      } finally {
        buffers.give(chunk);
      }
    }
    value.wrap(to, 0, anchor.bytes(), anchor.bytes());
    isRead = true;
  }

  /** Whether a value was read and not released. */
  public boolean isRead() {
    return isRead;
  }

  /** Gives the memory of the last value back. */
  public void release() {
    isRead = false;
    if (whole != null) {
      buffers.give(whole);
      whole = null;
    }
  }

  private MemorySegment take(int bytes) {
    MemorySegment taken = buffers.canLend(bytes, 1) ? buffers.tryTakeLarge(bytes) : null;
    for (int waits = 0; taken == null; waits++) {
      if (waits > MAX_WAITS || !buffers.canLend(bytes, 1)) {
        throw new OutOfBudget(
            "a scan has no scratch memory for a large value: bytes="
                + bytes
                + ", scratchBytes="
                + buffers.bytes()
                + "; raise scratchBytes, or have fewer scans and reads of large values at a time");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
      taken = buffers.tryTakeLarge(bytes);
    }
    whole = taken;
    return taken;
  }
}
