package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Versions;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.VersionWalk;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * Records of a range of the log, in the order of their addresses: oldest first (SIGMOD'18, appendix
 * F). Memory is read where it has the page, else the disk, sequentially, and what comes from disk
 * is checked against its checksum. Holds one page of the store's scratch memory, and with {@link
 * Versions#LIVE} the buffers of one operation, until it is closed. Used by one thread at a time,
 * beside any number of sessions and compactions.
 *
 * <p>With {@link Versions#ALL}, of several records with one key the last one counts; if that is a
 * tombstone, the key is deleted; if it is a delta, it is to be merged with what came before. With
 * {@link Versions#LIVE}, a key that nobody touches during the scan is seen exactly once, if it has
 * a value and its newest record is in the range; a key that is touched is seen at most once. A
 * record that is updated in place meanwhile is seen as it was at some moment during the scan.
 */
public final class LogScan implements AutoCloseable {
  private final ScanCursor cursor;
  private final @Nullable VersionWalk versions;
  private final ScanRange range;
  private final ReaderLease lease;
  private @Nullable ByteSpan merged;
  private boolean isClosed;

  /**
   * The begin is pinned; {@code unpin} runs when the scan is closed or forgotten, and not if this
   * throws.
   */
  LogScan(Engine engine, ScanRange range, Versions versions, Runnable unpin) {
    this.range = range;
    cursor = engine.scan(range);
    try {
      this.versions = versions == Versions.LIVE ? new VersionWalk(engine, range.end()) : null;
    } catch (Throwable e) {
      cursor.close();
      throw e;
    }
    lease = new ReaderLease(this, giveBack(cursor, this.versions), unpin);
  }

  private static Runnable giveBack(ScanCursor cursor, @Nullable VersionWalk versions) {
    return () -> {
      cursor.giveBack();
      if (versions != null) {
        versions.giveBack();
      }
    };
  }

  /** Moves to the next record; false at the end. */
  public boolean next() {
    try {
      while (cursor.next()) {
        if (versions == null || isLive(versions)) {
          return true;
        }
      }
      return false;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** The record's key; valid until the next call of {@link #next}. */
  public ByteSpan key() {
    return cursor.key();
  }

  /** The record's value; valid until the next call of {@link #next}. */
  public ByteSpan value() {
    try {
      return merged == null ? cursor.value() : merged;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Whether the record says that its key is deleted. So says a value larger than a page whose begin
   * was truncated, or was moved by a compaction: then the value comes again, further up.
   */
  public boolean isTombstone() {
    return cursor.isTombstone();
  }

  /**
   * Whether the record's value is to be merged, as the newer part, with what the records of the key
   * before it have made; only in stores whose {@code merge} is set, and never with {@link
   * Versions#LIVE}, where it is merged already.
   */
  public boolean isDelta() {
    return versions == null && cursor.isDelta();
  }

  /** Where the record lies in the log. */
  public long address() {
    return cursor.address();
  }

  /**
   * The address up to which the log may be truncated without dropping this record: {@link #address}
   * but for a value larger than a page, which begins further down.
   */
  public long lowestAddress() {
    return cursor.lowestAddress();
  }

  @Override
  public void close() {
    if (!isClosed) {
      isClosed = true;
      try {
        cursor.close();
        if (versions != null) {
          versions.close();
        }
      } finally {
        lease.close();
        Reference.reachabilityFence(this);
      }
    }
  }

  /** Whether the record is the newest of its key that the range had when the scan began. */
  private boolean isLive(VersionWalk walk) {
    if (cursor.isTombstone()) {
      return false;
    }
    merged = null;
    walk.start(cursor.key(), range.begin());
    boolean isLive = walk.next() && walk.address() == cursor.address() && !walk.isTombstone();
    if (isLive && walk.isDelta()) {
      merged = walk.mergedValue();
    }
    return isLive;
  }
}
