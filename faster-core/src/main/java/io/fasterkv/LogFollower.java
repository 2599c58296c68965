package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.Truncated;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads the log as it becomes read-only, each record once and in order (SIGMOD'18, appendix F):
 * what it has read no longer changes. {@link FasterStore#cut()} makes all that was written so far
 * read-only; without that, the tail's mutable part is read when it has moved on. Records that
 * compaction has moved to the tail come again. A follower that begins at the {@link #position} of
 * another goes on where that one ended, deletes included: whoever has followed the log from its
 * begin has each key's last value, or no value, as of the position.
 *
 * <p>Between two batches the follower holds nothing: it does not keep the log from being truncated.
 * If that happens before it has read so far, {@link #next} says so, and {@link #skipTruncated} goes
 * on with what is left. Used by one thread at a time, beside any number of sessions.
 */
public final class LogFollower implements AutoCloseable {
  private static final long POLL_NANOS = 200_000;

  private final Engine engine;
  private long position;
  private @Nullable ScanCursor cursor;

  /** What the batch at hand has borrowed. */
  private @Nullable ReaderLease lease;

  private long batchEnd;

  LogFollower(Engine engine, long from) {
    this.engine = engine;
    position = from;
  }

  /**
   * Moves to the next record that has become read-only; false when there is none yet.
   *
   * @throws Truncated if records that have not been read are gone
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

  /** Waits until {@link #next} finds a record or a time has passed; whether it has found one. */
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

  /** The record's key; valid until the next call of {@link #next}. */
  public ByteSpan key() {
    return cursor().key();
  }

  /** The record's value; valid until the next call of {@link #next}. */
  public ByteSpan value() {
    try {
      return cursor().value();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Whether the record says that its key is deleted. */
  public boolean isTombstone() {
    return cursor().isTombstone();
  }

  /** Whether the record is to be merged, as the newer part, with the key's records before it. */
  public boolean isDelta() {
    return cursor().isDelta();
  }

  /** Where the record lies in the log. */
  public long address() {
    return cursor().address();
  }

  /** All below it has been read, apart from the batch at hand. */
  public long position() {
    return position;
  }

  /**
   * Goes on at the log's begin if that has passed the position; returns how many bytes are gone.
   */
  public long skipTruncated() {
    long gone = Math.max(0, engine.log().beginAddress() - position);
    position += gone;
    return gone;
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
      // In a quiet store nobody else sees to it that a cut takes effect.
      engine.epochs().drain();
    }
    long end = log.safeReadOnlyAddress();
    if (end <= position) {
      return false;
    }
    long begin = log.holds().pin();
    ScanCursor opened;
    try {
      requireAtOrAbove(begin);
      opened = engine.scan(ScanRange.since(begin, end, position, end));
    } catch (Throwable e) {
      log.holds().unpin(begin);
      throw e;
    }
    lease = new ReaderLease(this, opened::giveBack, () -> log.holds().unpin(begin));
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
