package io.fasterkv.log;

import io.fasterkv.api.session.CopyReads;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * How a log makes room for new pages, and all that depends on it. {@link DeviceRoom} writes old
 * pages to a device and evicts them. {@link MemoryRoom}, without a device, lets compaction move
 * live records. {@link HybridLog} chooses once, when it is created; operations never check for a
 * device.
 */
public abstract sealed class LogRoom permits DeviceRoom, MemoryRoom {
  /** The steps that free frames. */
  abstract PageTurns turns();

  /** Implements {@link HybridLog#allocate}. */
  abstract long allocate(long bytes, Claim claim);

  /** Implements {@link HybridLog#allocateUpTo}. */
  abstract long allocateUpTo(long least, long most);

  /** Implements {@link HybridLog#pinnedFrom}. */
  abstract long pinnedFrom();

  /** Called when the log is cut at {@code address}, before the bytes below become read-only. */
  abstract void cutAt(long address);

  /** Called before the begin address moves to {@code address}. */
  abstract void beginMoves(long address);

  /** Called when the begin address has moved to {@code address}. */
  abstract void beginMoved(long address);

  /** Called when a pin that is not brief has ended, and then {@link #pinEnded}. */
  abstract void keepEnded();

  /** Called when any pin has ended. */
  abstract void pinEnded();

  /** Throws if the log's memory cannot hold and move a large value. */
  abstract void checkLarge(int keyBytes, int valueBytes);

  /** Implements {@link LargeWrites#tryBeginChunks}. */
  abstract boolean tryBeginChunks(int keyBytes, int valueBytes);

  /** Implements {@link LargeWrites#endChunks}. */
  abstract void endChunks(long oldest, int keyBytes, int valueBytes);

  /** Implements {@link LargeWrites#wroteChunks}. */
  abstract void wroteChunks(long oldest, int keyBytes, int valueBytes);

  /** Implements {@link LargeWrites#stagedPages}. */
  abstract int stagedPages();

  /**
   * Waits until the device, if there is one, has all bytes below {@code address}, which no thread
   * then changes any more. The caller must not be protected. If the device has no space for them,
   * it tries once more and then throws.
   *
   * @throws io.fasterkv.api.StoreException.DiskFull if there is no space; the bytes stay in memory
   *     and are written when there is space
   */
  public abstract void awaitFlushed(long address);

  /**
   * Makes written bytes durable. If that fails the log fails too, since a later success would prove
   * nothing.
   */
  public abstract void force() throws IOException;

  /**
   * Writes pending bytes to the device on the calling thread if the tail has no free frame; returns
   * whether it wrote any. The caller, which waits for a frame, must not be protected.
   */
  public abstract boolean writeForRoom();

  /**
   * Makes all operations fail that wait for a full disk, now or later: the device then counts as
   * failed. For a caller that closes the store. Safe for all threads.
   */
  public abstract void stopWaiting();

  /**
   * A log up to this length is entirely in memory; smaller after it has released memory ({@link
   * LogQuota}).
   */
  public final long wholeBytes() {
    return turns().wholeBytes();
  }

  /** Whether the device has refused bytes for lack of space. */
  public abstract boolean isRefused();

  /** What keeps the log from growing, for messages; begins with a comma, or is empty. */
  abstract String describe();

  /** Ends all work in the background; no other thread may use the memory afterwards. */
  abstract void close();

  /** Notes that a record in memory died because the protected caller has replaced or deleted it. */
  public abstract void died(RecordLayout layout, long address);

  /** Notes bytes that have died or were left unused although nothing was appended. */
  public abstract void died(long bytes);

  /**
   * Reserves room for the forks of a smaller index, for the first of two bounds on their number
   * that fits. Returns false, and reserves nothing, if neither does. {@link #releaseForks} ends it.
   * Without the reserve a full log would block the resize if making room needs the index.
   */
  public abstract boolean reserveForks(LongSupplier guess, LongSupplier closer);

  /** Ends {@link #reserveForks}: the shrinkage is over, or was called off. */
  public abstract void releaseForks();

  /** Whether an RMW may append a delta above a record in the fuzzy region. */
  public abstract boolean takesDeltas();

  /** Which of the requested copies of reads justify their log space. */
  public abstract CopyReads readCopies(CopyReads wanted);

  /** Bytes of log on the device, from the oldest that anything needs to the newest flushed one. */
  public abstract long storedBytes();
}
