package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Versions;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.search.VersionWalk;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over the records in a range of the log in address order, oldest first (SIGMOD'18,
 * appendix F). It reads pages from memory if they are there, otherwise sequentially from disk, and
 * verifies the checksums of what it reads from disk. Until it is closed, it holds one page of the
 * store's scratch memory and, with {@link Versions#LIVE}, the buffers of one operation. For one
 * thread at a time, concurrently with any number of sessions and compactions.
 *
 * <p>With {@link Versions#ALL}, the last of several records with one key determines its value: a
 * tombstone means that the key is deleted, and a delta must be merged with the records before it.
 * With {@link Versions#LIVE}, a key that does not change during the scan is returned exactly once
 * if it has a value and its newest record is in the range. A key that changes is returned at most
 * once. A record that is updated in place during the scan is returned as it was at some moment of
 * the scan.
 */
public final class LogScan implements AutoCloseable {
  private final ScanCursor cursor;
  private final @Nullable VersionWalk versions;
  private final ScanRange range;
  private final ReaderLease lease;
  private @Nullable ByteSpan merged;
  private boolean isClosed;

  /**
   * The caller has pinned the begin address. {@code unpin} runs when the scan is closed or becomes
   * unreachable, and not if this constructor throws.
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
    lease =
        new ReaderLease(
            this, returnBuffers(cursor, this.versions), unpin, engine.log().failure().logger());
  }

  private static Runnable returnBuffers(ScanCursor cursor, @Nullable VersionWalk versions) {
    return () -> {
      cursor.returnBuffers();
      if (versions != null) {
        versions.returnBuffers();
      }
    };
  }

  /**
   * Moves to the next record.
   *
   * @return false at the end
   */
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

  /** {@return the record's key; valid until the next call of {@link #next}} */
  public ByteSpan key() {
    return cursor.key();
  }

  /** {@return the record's value; valid until the next call of {@link #next}} */
  public ByteSpan value() {
    try {
      return merged == null ? cursor.value() : merged;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Tells whether the record deletes its key. Also true for a value larger than a page whose first
   * part was truncated or moved by a compaction; in the latter case the value follows at a higher
   * address.
   *
   * @return true for a tombstone
   */
  public boolean isTombstone() {
    return cursor.isTombstone();
  }

  /**
   * Tells whether the record is a delta, the newer part to merge with the result of the key's
   * earlier records. Only in stores with a {@code merge}, and never with {@link Versions#LIVE},
   * which returns merged values.
   *
   * @return true for a delta
   */
  public boolean isDelta() {
    return versions == null && cursor.isDelta();
  }

  /** {@return the record's log address} */
  public long address() {
    return cursor.address();
  }

  /**
   * Returns the address up to which the log may be truncated without dropping this record. It is
   * {@link #address}, except for a value larger than a page, which starts at a lower address.
   *
   * @return the address
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

  /** Whether the record is its key's newest one that was in the range when the scan started. */
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
