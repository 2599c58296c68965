package io.fasterkv.record;

import io.fasterkv.memory.Checksums;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * A piece of a value that is larger than a page: a span record in no chain, which never changes
 * after its info word was written. It has its owner's key and, instead of a value,
 *
 * <pre>
 *   value  +8       +16                       +16 + bytes
 *   +------+--------+-------------------------+
 *   | link | check  | bytes of the large value|
 *   +------+--------+-------------------------+
 *
 *   info:   CHUNK, 47..0 address of the chunk written before this one, 0 for the first
 *   link:   63..32 position of the bytes in the value   31..0 recordBytes of the chunk before, or 0
 *   check:  63..32 zero                                 31..0 CRC32C of that address, link, bytes
 * </pre>
 *
 * <p>So the chunks of a value are a list that leads down the log from the one written last; the
 * {@link LargeAnchor} holds its head. Each chunk's bytes are adjacent to those of the chunks above
 * it: in all chunks before them, or in all chunks after them.
 */
public final class ChunkRecord {
  /** Bytes of a chunk's value before the piece. */
  public static final int PREFIX_BYTES = 16;

  private static final long CHECK = 8;

  static {
    if (PREFIX_BYTES != CHECK + Long.BYTES) {
      throw new AssertionError("the prefix of a chunk: bytes=" + PREFIX_BYTES);
    }
  }

  private ChunkRecord() {}

  /** Bytes of a record besides the piece of the value, for a key of {@code keyBytes}. */
  public static long overheadBytes(int keyBytes) {
    return SpanRecord.INSTANCE.recordBytes(keyBytes, PREFIX_BYTES);
  }

  /** Length of a chunk with a piece of {@code pieceBytes}. */
  public static long recordBytes(int keyBytes, int pieceBytes) {
    return overheadBytes(keyBytes) + Words.align(pieceBytes);
  }

  /** Offset of the piece in a record. */
  public static long pieceOffset(MemorySegment memory, long record) {
    return SpanRecord.INSTANCE.valueOffset(memory, record) + PREFIX_BYTES;
  }

  /** Length of the piece; at least 1 in a sound chunk. */
  public static int pieceBytes(MemorySegment memory, long record) {
    return SpanRecord.INSTANCE.valueBytes(memory, record) - PREFIX_BYTES;
  }

  /** Position of the piece in the large value. */
  public static int position(MemorySegment memory, long record) {
    return (int) (link(memory, record) >>> Integer.SIZE);
  }

  /** Length of the chunk before; 0 for the first. */
  public static int previousBytes(MemorySegment memory, long record) {
    return (int) link(memory, record);
  }

  /**
   * Completes a chunk that was laid out and has its piece: writes lengths, link, checksum, and
   * last, with release, the info word.
   *
   * @param previousBytes recordBytes of the chunk before, 0 for the first
   */
  public static void complete(
      MemorySegment memory, long record, int pieceBytes, int position, int previousBytes) {
    long previousAddress = RecordInfo.previousAddress(RecordLayout.info(memory, record));
    SpanRecord.INSTANCE.setValueBytes(memory, record, PREFIX_BYTES + pieceBytes);
    long link = (long) position << Integer.SIZE | previousBytes;
    long value = SpanRecord.INSTANCE.valueOffset(memory, record);
    Words.storePlain(memory, value, link);
    Words.storePlain(
        memory, value + CHECK, checksum(memory, record, previousAddress, link, pieceBytes));
    Words.storeRelease(memory, record, RecordInfo.complete(previousAddress, RecordInfo.CHUNK));
  }

  /** Whether link and piece match the checksum. */
  public static boolean isIntact(MemorySegment memory, long record) {
    long previousAddress = RecordInfo.previousAddress(RecordLayout.info(memory, record));
    long found = Words.loadPlain(memory, SpanRecord.INSTANCE.valueOffset(memory, record) + CHECK);
    int bytes = pieceBytes(memory, record);
    return found == checksum(memory, record, previousAddress, link(memory, record), bytes);
  }

  private static long link(MemorySegment memory, long record) {
    return Words.loadPlain(memory, SpanRecord.INSTANCE.valueOffset(memory, record));
  }

  private static long checksum(
      MemorySegment memory, long record, long previousAddress, long link, int pieceBytes) {
    MemorySegment piece = memory.asSlice(pieceOffset(memory, record), pieceBytes);
    return Integer.toUnsignedLong(Checksums.crc32c(previousAddress, link, piece));
  }
}
