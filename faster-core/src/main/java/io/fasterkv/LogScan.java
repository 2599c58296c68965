package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.log.ScanCursor;

/**
 * All versions of all records before a {@link LogCut}, in the order of their addresses: oldest
 * first. Of several records with one key the last one counts; if that is a tombstone, the key is
 * deleted. Memory is read where it has the page, else the disk, sequentially, and what comes from
 * disk is checked against its checksum. Holds one page of the store's scratch memory until it is
 * closed. Used by one thread at a time, beside any number of sessions.
 */
public final class LogScan implements AutoCloseable {
  private final ScanCursor cursor;

  LogScan(ScanCursor cursor) {
    this.cursor = cursor;
  }

  /** Moves to the next record; false at the end. */
  public boolean next() {
    return cursor.next();
  }

  /** The record's key; valid until the next call of {@link #next}. */
  public ByteSpan key() {
    return cursor.key();
  }

  /** The record's value; valid until the next call of {@link #next}. */
  public ByteSpan value() {
    return cursor.value();
  }

  /** Whether the record says that its key is deleted. */
  public boolean isTombstone() {
    return cursor.isTombstone();
  }

  /** Where the record lies in the log. */
  public long address() {
    return cursor.address();
  }

  @Override
  public void close() {
    cursor.close();
  }
}
