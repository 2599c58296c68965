package io.fasterkv.log;

import io.fasterkv.record.Address;
import io.fasterkv.record.ChunkRecord;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;

/**
 * Writes a large value to the tail, chunk by chunk. Each chunk takes what its page has left, so
 * that values lie dense however much else is written beside them. Its pieces are given in order, or
 * in the opposite order. One thread at a time; used over and over.
 */
public final class ChunkWriter {
  /** A chunk is no smaller than this part of a page, unless the value ends. */
  private static final long SMALLEST_PART = 16;

  private final HybridLog log;
  private final KeyBytes key;
  private long oldest = Address.NONE;
  private long newest = Address.NONE;
  private int newestBytes;
  private int written;

  /** Writes under {@code key}, which changes when another value begins. */
  public ChunkWriter(HybridLog log, KeyBytes key) {
    this.log = log;
    this.key = key;
  }

  /** Forgets what was written: a value begins. */
  public void begin() {
    oldest = Address.NONE;
    newest = Address.NONE;
    newestBytes = 0;
    written = 0;
  }

  /**
   * Writes one chunk with the first bytes of the piece. Returns how many they were; 0 if there was
   * no room and the caller, who is protected, must let go of its epoch first.
   *
   * @param from where the piece begins in {@code source}
   * @param bytes how long the piece is
   * @param position where it begins in the value
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

  /** As {@link #writeFirst}, with the last bytes of the piece. */
  public int writeLast(MemorySegment source, long from, int bytes, int position) {
    long address = allocate(bytes);
    if (address == HybridLog.RETRY) {
      return 0;
    }
    int count = pieceBytes(address, bytes);
    write(address, source, from + bytes - count, count, position + bytes - count);
    return count;
  }

  /** Leads to all that was written since the value began. */
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
