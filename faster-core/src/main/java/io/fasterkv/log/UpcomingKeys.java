package io.fasterkv.log;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.memory.Words;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * Reads the keys that a scan will reach next, so that a caller can prefetch what they need. The
 * result is a guess: it may include keys of records that the scan will not return, and says nothing
 * about how many follow. Reusable. For one thread.
 */
public final class UpcomingKeys {
  private static final long PASSED_OVER =
      RecordInfo.INVALID
          | RecordInfo.TOMBSTONE
          | RecordInfo.CHUNK
          | RecordInfo.OVERWRITTEN
          | RecordInfo.PADDING
          | RecordInfo.FORK;

  private final ByteSpan[] keys;
  private int count;

  /** Creates room for {@code most} keys. */
  public UpcomingKeys(int most) {
    keys = Stream.generate(ByteSpan::new).limit(most).toArray(ByteSpan[]::new);
  }

  /** The keys, {@link #count()} of them; valid as long as the page they were read from. */
  public ByteSpan[] keys() {
    return keys;
  }

  public int count() {
    return count;
  }

  /**
   * Reads the keys of the records from {@code from} on. Returns where it ended: at {@code end}, or
   * before it at bytes that are not a sound record or when there is no more room.
   */
  long read(RecordLayout layout, MemorySegment page, long from, long end) {
    count = 0;
    long at = from;
    while (count < keys.length && at < end) {
      long info = Words.loadPlain(page, at);
      if (!RecordInfo.isPresent(info)) {
        return end;
      }
      long bytes = bytes(layout, page, at, info, end);
      if (bytes < RecordInfo.BYTES || bytes > end - at || bytes % Long.BYTES != 0) {
        return at;
      }
      if ((info & PASSED_OVER) == 0) {
        int keyBytes = layout.keyBytes(page, at);
        keys[count].wrap(page, layout.keyOffset(at), keyBytes, keyBytes);
        count++;
      }
      at += bytes;
    }
    return at;
  }

  /** Length of the record at {@code at}; 0 if its sizes are not sound. */
  private static long bytes(RecordLayout layout, MemorySegment page, long at, long info, long end) {
    if (RecordInfo.isPadding(info)) {
      return RecordInfo.paddingBytes(info);
    }
    if (RecordInfo.isFork(info)) {
      return ForkRecord.BYTES;
    }
    if (layout.headerBytes() > end - at) {
      return 0;
    }
    long bytes = layout.recordBytes(page, at);
    return layout.isSound(page, at, bytes) ? bytes : 0;
  }
}
