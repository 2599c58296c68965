package io.fasterkv.log;

import io.fasterkv.record.Address;
import io.fasterkv.record.ChunkRecord;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;

/**
 * Writes a large value to the tail, chunk by chunk. Each chunk fills the rest of its page, so large
 * values are stored without gaps whatever else is written. The caller passes the pieces in order or
 * in reverse order. Reusable. One thread at a time.
 */
public final class ChunkWriter {
  /** A chunk takes at least this part of a page, unless the value ends. */
  private static final long SMALLEST_PART = 16;

  private final HybridLog log;
  private final KeyBytes key;
  private long oldest = Address.NONE;
  private long newest = Address.NONE;
  private int newestBytes;
  private int written;

  /**
   * @param key the key of the value; changes when another value begins
   */
  public ChunkWriter(HybridLog log, KeyBytes key) {
    this.log = log;
    this.key = key;
  }

  /** Begins a value and forgets the last one. */
  public void begin() {
    oldest = Address.NONE;
    newest = Address.NONE;
    newestBytes = 0;
    written = 0;
  }

  /**
   * Writes one chunk with the first bytes of the piece. Returns the number of bytes written, or 0
   * if there was no room; the caller is protected, and must then leave its epoch before it retries.
   *
   * @param from start of the piece in {@code source}
   * @param bytes length of the piece
   * @param position start of the piece in the value
   */
  public int writeFirst(MemorySegment source, long from, int bytes, int position) {
    long address = allocate(bytes);
    if (address == HybridLog.RETRY) {
      return 0;
    }
    int count = pieceBytes(address, bytes);
    write(address, source, from, count, position);
    return count;
  }

  /** Like {@link #writeFirst}, with the last bytes of the piece. */
  public int writeLast(MemorySegment source, long from, int bytes, int position) {
    long address = allocate(bytes);
    if (address == HybridLog.RETRY) {
      return 0;
    }
    int count = pieceBytes(address, bytes);
    write(address, source, from + bytes - count, count, position + bytes - count);
    return count;
  }

  /** The anchor that leads to all chunks of the current value. */
  public LargeAnchor anchor() {
    return new LargeAnchor(written, newestBytes, newest, oldest);
  }

  private long allocate(int bytes) {
    long smallest = Math.min(bytes, log.pageBytes() / SMALLEST_PART);
    return log.allocateUpTo(ChunkRecord.recordBytes(key.length(), (int) smallest), wanted(bytes));
  }

  private long wanted(int bytes) {
    return ChunkRecord.recordBytes(key.length(), bytes);
  }

  private long recordBytes(long address, int bytes) {
    return Math.min(log.pageEnd(address) - address, wanted(bytes));
  }

  private int pieceBytes(long address, int bytes) {
    return (int)
        Math.min(bytes, recordBytes(address, bytes) - ChunkRecord.overheadBytes(key.length()));
  }

  private void write(long address, MemorySegment source, long from, int count, int position) {
    MemorySegment memory = log.memory();
    long record = log.offset(address);
    long recordBytes = ChunkRecord.recordBytes(key.length(), count);
    RecordLayout layout = SpanRecord.INSTANCE;
    layout.create(memory, record, recordBytes, key, newest);
    MemorySegment.copy(source, from, memory, ChunkRecord.pieceOffset(memory, record), count);
    ChunkRecord.complete(memory, record, count, position, newestBytes);
    if (oldest == Address.NONE) {
      oldest = address;
    }
    newest = address;
    newestBytes = (int) recordBytes;
    written += count;
  }
}
