package io.fasterkv.log;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.memory.Words;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * The keys that a scan is about to come to, for who wants to touch what they need. A guess: keys of
 * records that the scan will not show may be among them, and nothing says how many follow. One
 * thread's; used over and over.
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

  /** Room for so many keys. */
  public UpcomingKeys(int most) {
    keys = Stream.generate(ByteSpan::new).limit(most).toArray(ByteSpan[]::new);
  }

  /** The keys, {@link #count()} of them; valid as long as the page that they were read from. */
  public ByteSpan[] keys() {
    return keys;
  }

  public int count() {
    return count;
  }

  /**
   * Takes the keys of the records at {@code from} and behind it; returns where it has ended, at the
   * latest at {@code end}, or where something is that makes no sense.
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

  /** How many bytes the record at {@code at} takes; 0 if its sizes make no sense. */
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
