package io.fasterkv.record;

import io.fasterkv.memory.Checksums;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the value in the record of a large value: it has the value's length and leads to its
 * chunks.
 *
 * <pre>
 *   value  +8       +16     +24      +32
 *   +------+--------+-------+--------+
 *   | size | newest | oldest| check  |
 *   +------+--------+-------+--------+
 *
 *   size:    63..32 bytes of the value                  31..0 recordBytes of the newest chunk
 *   newest:  address of the chunk that was written last; a list leads from it down to the oldest
 *   oldest:  address of the chunk that was written first: no chunk of the value is below it
 *   check:   63..32 zero                                31..0 CRC32C of the three words before
 * </pre>
 *
 * @param bytes length of the value
 * @param newestBytes recordBytes of the newest chunk
 * @param newest address of the newest chunk
 * @param oldest address of the oldest chunk
 */
public record LargeAnchor(int bytes, int newestBytes, long newest, long oldest) {
  /** Length of the anchor. */
  public static final int VALUE_BYTES = 32;

  /** The message for a record whose anchor {@link #read} returns as null. */
  public static final String UNSOUND = "the anchor of a large value is not what was written";

  private static final long NEWEST = 8;
  private static final long OLDEST = 16;
  private static final long CHECK = 24;

  static {
    if (VALUE_BYTES != CHECK + Long.BYTES) {
      throw new AssertionError("the value of an anchor: bytes=" + VALUE_BYTES);
    }
  }

  /** Reads the anchor of a record whose info has LARGE; null if it is damaged. */
  public static @Nullable LargeAnchor read(MemorySegment memory, long record) {
    if (SpanRecord.INSTANCE.valueBytes(memory, record) != VALUE_BYTES) {
      return null;
    }
    long at = SpanRecord.INSTANCE.valueOffset(memory, record);
    long size = Words.loadPlain(memory, at);
    var anchor =
        new LargeAnchor(
            (int) (size >>> Integer.SIZE),
            (int) size,
            Words.loadPlain(memory, at + NEWEST),
            Words.loadPlain(memory, at + OLDEST));
    boolean isSound =
        anchor.bytes >= 0 && Words.loadPlain(memory, at + CHECK) == checksum(memory, at);
    return isSound ? anchor : null;
  }

  /** Writes the anchor as the value of a record that no other thread sees. */
  public void write(MemorySegment memory, long record) {
    long at = SpanRecord.INSTANCE.valueOffset(memory, record);
    SpanRecord.INSTANCE.setValueBytes(memory, record, VALUE_BYTES);
    Words.storePlain(memory, at, (long) bytes << Integer.SIZE | newestBytes);
    Words.storePlain(memory, at + NEWEST, newest);
    Words.storePlain(memory, at + OLDEST, oldest);
    Words.storePlain(memory, at + CHECK, checksum(memory, at));
  }

  private static long checksum(MemorySegment memory, long at) {
    return Integer.toUnsignedLong(Checksums.crc32c(memory.asSlice(at, CHECK)));
  }
}
