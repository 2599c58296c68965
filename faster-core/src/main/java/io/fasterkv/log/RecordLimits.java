package io.fasterkv.log;

import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.record.Address;

/** Which keys and records fit a page of the log. */
public final class RecordLimits {
  private final long pageBytes;

  RecordLimits(long pageBytes) {
    this.pageBytes = pageBytes;
  }

  /** Maximum length of a record. */
  public long maxRecordBytes() {
    return pageBytes - Address.FIRST;
  }

  /** Throws if a page cannot hold two keys of this length. */
  public void checkKey(int keyBytes) {
    long allowed = pageBytes / 2;
    if (keyBytes > allowed) {
      throw new RecordTooLarge(
          "a key does not fit half a page: keyBytes="
              + keyBytes
              + ", allowed=up to "
              + allowed
              + "; raise pageBytes, or hash long keys");
    }
  }

  /** Throws if a page cannot hold the record. */
  void checkRecord(long bytes) {
    long allowed = maxRecordBytes();
    if (bytes > allowed) {
      throw new RecordTooLarge(
          "a record does not fit a page: recordBytes="
              + bytes
              + ", allowed=up to "
              + allowed
              + "; raise pageBytes");
    }
  }
}
