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
 * Assembles the value of a large record for a scan, on demand. The chunks are below the anchor, in
 * memory or on disk; each is verified by its own checksum. Takes scratch memory for one value at a
 * time, and waits if other threads use it. One thread at a time.
 */
public final class ScannedValue {
  /** Something to merge onto a value after it was assembled. */
  public interface Above {
    /** Length of the result. */
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

  /** Points {@code value} at the whole value, which stays valid until {@link #release}. */
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

  /** Like {@link #read}, with something merged onto the value. */
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

  /** Returns the memory of the last value. */
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
