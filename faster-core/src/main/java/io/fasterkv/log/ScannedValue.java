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
  /** What is to be merged onto a value when that has been put together. */
  public interface Above {
    /** How many bytes that takes. */
    int bytes(ByteSpan base);

    void merge(ByteSpan base, ByteSpan result);
  }

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

  /** As {@link #read}, with something merged onto the value. */
  public void readMerged(LargeAnchor anchor, ByteSpan key, Above above, ByteSpan value) {
    for (int waits = 0; ; waits++) {
      read(anchor, key, value);
      int bytes = above.bytes(value);
      boolean isPossible = waits <= MAX_WAITS && buffers.canLend(anchor.bytes(), bytes);
      MemorySegment merged = isPossible ? buffers.tryTakeLarge(bytes) : null;
      if (merged != null) {
        merged(above, merged, bytes, value);
        return;
      }
      release();
      if (!isPossible) {
        throw noScratch(bytes);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void merged(Above above, MemorySegment to, int bytes, ByteSpan value) {
    ByteSpan result = new ByteSpan().wrap(to, 0, 0, bytes);
    try {
      above.merge(value, result);
    } finally {
      release();
      whole = to;
    }
    isRead = true;
    value.wrap(to, 0, result.length(), result.length());
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
        throw noScratch(bytes);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
      taken = buffers.tryTakeLarge(bytes);
    }
    whole = taken;
    return taken;
  }

  private OutOfBudget noScratch(int bytes) {
    return new OutOfBudget(
        "a scan has no scratch memory for a large value: bytes="
            + bytes
            + ", scratchBytes="
            + buffers.bytes()
            + "; raise scratchBytes, or have fewer scans and reads of large values at a time");
  }
}
