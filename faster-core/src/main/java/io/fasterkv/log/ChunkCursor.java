package io.fasterkv.log;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.record.Address;
import io.fasterkv.record.ChunkRecord;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;

/**
 * Goes from an anchor along the chunks of a value, and believes nothing: each chunk must have the
 * owner's key and the size that led to it, must lie below the one before, and its piece must lie
 * next to what was seen so far; at the end, the value must be there whole. Wherever the bytes come
 * from, a mixture of two values is found out. One thread at a time; used over and over.
 */
public final class ChunkCursor {
  private final HybridLog log;
  private MemorySegment key = MemorySegment.NULL;
  private long keyOffset;
  private int keyBytes;
  private LargeAnchor anchor = new LargeAnchor(0, 0, Address.NONE, Address.NONE);

  /** The chunk that comes next. */
  private long address;

  private int recordBytes;

  /** Which part of the value was seen: {@code [low, high)}. */
  private int low;

  private int high;

  private boolean isAscending;

  /** The piece of the chunk that was looked at last. */
  private int position;

  private int pieceBytes;
  private long pieceOffset;

  public ChunkCursor(HybridLog log) {
    this.log = log;
  }

  /** Begins at an anchor; the key stays where it is until the end. */
  public void begin(LargeAnchor from, MemorySegment keyMemory, long keyAt, int keyLength) {
    anchor = from;
    key = keyMemory;
    keyOffset = keyAt;
    keyBytes = keyLength;
    address = from.newest();
    recordBytes = from.newestBytes();
    low = 0;
    high = 0;
    checkNext(from.newest() + 1);
  }

  /** Whether all chunks were seen. */
  public boolean isAtEnd() {
    return address == Address.NONE;
  }

  /** Where the next chunk lies. */
  public long address() {
    return address;
  }

  /** How long the next chunk is. */
  public int recordBytes() {
    return recordBytes;
  }

  /**
   * Looks at the next chunk and moves past it. The piece is then at {@link #pieceOffset} of the
   * same memory.
   *
   * @param fromDisk whether the bytes may have changed since they were written
   */
  public void accept(MemorySegment memory, long record, boolean fromDisk) {
    long info = RecordLayout.info(memory, record);
    check(isChunk(info) && hasSizes(memory, record), "there is no chunk of the value here");
    check(hasKey(memory, record), "a chunk has another key");
    position = ChunkRecord.position(memory, record);
    pieceBytes = ChunkRecord.pieceBytes(memory, record);
    pieceOffset = ChunkRecord.pieceOffset(memory, record);
    check(pieceBytes > 0 && position >= 0, "a chunk's sizes are out of range");
    check(!fromDisk || ChunkRecord.isIntact(memory, record), "a chunk is not what was written");
    extend();
    moveOn(RecordInfo.previousAddress(info), ChunkRecord.previousBytes(memory, record));
  }

  /** Where the piece of the chunk that was accepted last begins in the value. */
  public int position() {
    return position;
  }

  /** How long that piece is. */
  public int pieceBytes() {
    return pieceBytes;
  }

  /** Where that piece lies in the memory that was given. */
  public long pieceOffset() {
    return pieceOffset;
  }

  /**
   * Whether the pieces come in the order of the value, or in the opposite; known from the first.
   */
  public boolean isAscending() {
    return isAscending;
  }

  /** What a failure is told to be about. */
  public String place() {
    return log.device().place(address);
  }

  private boolean isChunk(long info) {
    return RecordInfo.isPresent(info)
        && RecordInfo.isChunk(info)
        && !RecordInfo.isInvalid(info)
        && !RecordInfo.isPadding(info);
  }

  private boolean hasSizes(MemorySegment memory, long record) {
    SpanRecord layout = SpanRecord.INSTANCE;
    return layout.recordBytes(memory, record) == recordBytes
        && layout.isSound(memory, record, recordBytes);
  }

  private boolean hasKey(MemorySegment memory, long record) {
    SpanRecord layout = SpanRecord.INSTANCE;
    long at = layout.keyOffset(record);
    return layout.keyBytes(memory, record) == keyBytes
        && MemorySegment.mismatch(memory, at, at + keyBytes, key, keyOffset, keyOffset + keyBytes)
            < 0;
  }

  private void extend() {
    if (high == 0) {
      low = position;
      high = position + pieceBytes;
      isAscending = position == 0;
    } else if (position + pieceBytes == low) {
      low = position;
    } else {
      check(position == high, "a chunk does not join the others");
      high += pieceBytes;
    }
    check(high > 0 && high <= anchor.bytes(), "a chunk reaches beyond its value");
  }

  private void moveOn(long previousAddress, int previousBytes) {
    if (address == anchor.oldest()) {
      check(low == 0 && high == anchor.bytes(), "chunks are missing");
      address = Address.NONE;
      return;
    }
    long last = address;
    address = previousAddress;
    recordBytes = previousBytes;
    checkNext(last);
  }

  private void checkNext(long below) {
    boolean isSound =
        address >= anchor.oldest()
            && address >= Address.FIRST
            && address < below
            && recordBytes >= ChunkRecord.overheadBytes(keyBytes)
            && address + recordBytes <= log.pageEnd(address);
    check(isSound, "the chunks of a value do not lead down");
  }

  private void check(boolean isSound, String what) {
    if (!isSound) {
      throw new Corrupt(what + ": address=" + address + ", " + place());
    }
  }
}
