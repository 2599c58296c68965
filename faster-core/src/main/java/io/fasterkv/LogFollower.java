package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.Truncated;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads each record of the log once, in order, as the log becomes read-only (SIGMOD'18, appendix
 * F). A record that it has read no longer changes. {@link StoreLog#cut()} makes everything written
 * so far read-only; otherwise the follower reads a record once the mutable region has moved past
 * it. Records that compaction copied to the tail are read again. A follower that starts at the
 * {@link #position} of another one continues where that one stopped, including deletes. A reader
 * that has followed the log from its begin therefore knows each key's last value, or its absence,
 * as of the position.
 *
 * <p>Between two batches the follower holds no resources, so the log can be truncated. If that
 * removes unread records, {@link #next} throws, and {@link #skipTruncated} continues with the
 * remaining ones. For one thread at a time, concurrently with any number of sessions.
 */
public final class LogFollower implements AutoCloseable {
  private static final long POLL_NANOS = 200_000;

  private final Engine engine;
  private long position;
  private @Nullable ScanCursor cursor;

  /** The resources of the current batch. */
  private @Nullable ReaderLease lease;

  private long batchEnd;

  LogFollower(Engine engine, long from) {
    this.engine = engine;
    position = from;
  }

  /**
   * Moves to the next record that has become read-only.
   *
   * @return false if there is none yet
   * @throws Truncated if unread records have been truncated
   */
  public boolean next() {
    try {
      while (cursor != null || openBatch()) {
        ScanCursor open = cursor();
        if (open.next()) {
          return true;
        }
        position = batchEnd;
        closeBatch();
      }
      return false;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Moves to the next record, and waits for one if there is none yet.
   *
   * @param timeout how long to wait at most
   * @return false if there was no record within that time
   * @throws Truncated if unread records have been truncated
   */
  public boolean next(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (!next()) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }

  /** {@return the record's key; valid until the next call of {@link #next}} */
  public ByteSpan key() {
    return cursor().key();
  }

  /** {@return the record's value; valid until the next call of {@link #next}} */
  public ByteSpan value() {
    try {
      return cursor().value();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return whether the record deletes its key} */
  public boolean isTombstone() {
    return cursor().isTombstone();
  }

  /**
   * {@return whether the record is a delta, the newer part to merge with the key's earlier records}
   */
  public boolean isDelta() {
    return cursor().isDelta();
  }

  /** {@return the record's log address} */
  public long address() {
    return cursor().address();
  }

  /** {@return the address below which all records have been read, apart from the current batch} */
  public long position() {
    return position;
  }

  /**
   * Continues at the log's begin address if that has passed the position.
   *
   * @return how many bytes of the log were skipped
   */
  public long skipTruncated() {
    long missed = Math.max(0, engine.log().beginAddress() - position);
    position += missed;
    return missed;
  }

  @Override
  public void close() {
    try {
      closeBatch();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private ScanCursor cursor() {
    if (cursor == null) {
      throw new IllegalStateException("the follower is at no record: position=" + position);
    }
    return cursor;
  }

  private boolean openBatch() {
    HybridLog log = engine.log();
    if (log.safeReadOnlyAddress() <= position) {
      // In an idle store no other thread runs the trigger action that makes a cut effective.
      engine.epochs().drain();
    }
    long end = log.safeReadOnlyAddress();
    if (end <= position) {
      return false;
    }
    long begin = log.pins().pin();
    ScanCursor opened;
    try {
      requireAtOrAbove(begin);
      opened = engine.scan(ScanRange.since(begin, end, position, end));
    } catch (Throwable e) {
      log.pins().unpin(begin);
      throw e;
    }
    lease =
        new ReaderLease(
            this, opened::returnBuffers, () -> log.pins().unpin(begin), log.failure().logger());
    cursor = opened;
    batchEnd = end;
    return true;
  }

  private void requireAtOrAbove(long begin) {
    if (position < begin) {
      throw new Truncated(
          "the log was truncated before the follower had read it: position="
              + position
              + ", allowed="
              + begin
              + " and above; call skipTruncated to go on there");
    }
  }

  private void closeBatch() {
    if (cursor != null && lease != null) {
      cursor.close();
      cursor = null;
      lease.close();
    }
  }
}
