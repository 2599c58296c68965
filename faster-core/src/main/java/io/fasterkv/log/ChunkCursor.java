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
 * Follows the chunks of a value from its anchor and checks each one: it must have the owner's key
 * and the size that led to it, must be below the one before, and its piece must be adjacent to the
 * pieces so far. At the end, the value must be complete. So a mixture of two values is detected
 * wherever the bytes come from. Reusable. One thread at a time.
 */
public final class ChunkCursor {
  private final HybridLog log;
  private MemorySegment key = MemorySegment.NULL;
  private long keyOffset;
  private int keyBytes;
  private LargeAnchor anchor = new LargeAnchor(0, 0, Address.NONE, Address.NONE);

  /** Address of the next chunk. */
  private long address;

  private int recordBytes;

  /** The part of the value that was seen: {@code [low, high)}. */
  private int low;

  private int high;

  private boolean isAscending;

  /** Position in the value of the last accepted chunk's piece. */
  private int position;

  private int pieceBytes;
  private long pieceOffset;

  public ChunkCursor(HybridLog log) {
    this.log = log;
  }

  /** Starts at an anchor; the key's memory must stay valid until the end. */
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

  /** Whether all chunks were accepted. */
  public boolean isAtEnd() {
    return address == Address.NONE;
  }

  /** Address of the next chunk. */
  public long address() {
    return address;
  }

  /** Length of the next chunk's record. */
  public int recordBytes() {
    return recordBytes;
  }

  /**
   * Checks the next chunk and moves past it. Its piece is then at {@link #pieceOffset} of the same
   * memory.
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
    advance(RecordInfo.previousAddress(info), ChunkRecord.previousBytes(memory, record));
  }

  /** Position in the value of the last accepted piece. */
  public int position() {
    return position;
  }

  /** Length of the last accepted piece. */
  public int pieceBytes() {
    return pieceBytes;
  }

  /** Offset of the last accepted piece in the memory passed to {@link #accept}. */
  public long pieceOffset() {
    return pieceOffset;
  }

  /**
   * Whether the pieces are in the order of the value, rather than in reverse; known from the first
   * piece on.
   */
  public boolean isAscending() {
    return isAscending;
  }

  /** Describes the value's place for an error message. */
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

  private void advance(long previousAddress, int previousBytes) {
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
