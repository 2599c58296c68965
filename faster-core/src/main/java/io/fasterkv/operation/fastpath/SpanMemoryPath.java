package io.fasterkv.operation.fastpath;

import io.fasterkv.api.Status;
import io.fasterkv.index.IndexView;
import io.fasterkv.log.LogView;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Request.Kind;
import io.fasterkv.operation.core.SpanPath;
import io.fasterkv.operation.core.ValueAccess.InPlace;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;

/**
 * The fast path in memory for keys of any length. Not used directly: {@link SpanPaths} defines its
 * class file again for each store.
 *
 * <p>What {@link LongMemoryPath} says about marks, versions and flags also applies here: a mark is
 * read after protecting and before the index, and a record with any flag is left alone. An updater
 * holds the record's latch and checks again whether the record is frozen; a reader of a record that
 * other threads may be changing copies it first ({@link SpanValues}).
 */
final class SpanMemoryPath<I, O, C> extends SpanPath<I, O, C> {
  private static final StoreConstants CONSTANTS = StoreConstants.of(MethodHandles.lookup());
  private static final IndexView INDEX = CONSTANTS.index();
  private static final LogView LOG = CONSTANTS.log();
  private static final MemorySegment MEMORY = LOG.memory();

  private static final long FLAGS = ~(Address.MASK | RecordInfo.VERSION_MASK);
  private static final long LAST_WORD = MEMORY.byteSize() - Long.BYTES;

  private final SpanValues<I, O, C> values;
  private final SessionCounters.Stripe counters;

  /** Length used by the last two records that were read, at most {@link Prefetcher#MOST_BYTES}. */
  private long lastBytes = SpanRecord.HEADER_BYTES;

  private long bytesBeforeLast = SpanRecord.HEADER_BYTES;

  /** Written but never read: keeps the compiler from removing the prefetch. */
  @SuppressWarnings("UnusedVariable")
  private long touched;

  SpanMemoryPath(SpanValues<I, O, C> values, SessionCounters.Stripe counters) {
    this.values = values;
    this.counters = counters;
  }

  @Override
  public boolean isCurrent() {
    return CONSTANTS.areCurrent();
  }

  @Override
  public boolean take(Operation<I, O, C> op) {
    boolean isTaken = isCurrent() && (op.kind == Kind.READ ? read(op) : update(op));
    if (isTaken) {
      op.version.counted();
      counters.hit(1);
    }
    return isTaken;
  }

  private boolean read(Operation<I, O, C> op) {
    long limit = LOG.readableFrom();
    long address = newest(op);
    long record = LOG.offset(address);
    prefetch(record);
    if (!isPlain(op, address, limit)) {
      return false;
    }
    op.recordAddress = address;
    bytesBeforeLast = lastBytes;
    lastBytes = Math.min(SpanRecord.usedBytes(MEMORY, record), Prefetcher.MOST_BYTES);
    if (address < CONSTANTS.regions().copyBelow()) {
      values.readStable(op, MEMORY, record);
      counters.hitReadOnly(1);
    } else {
      values.readConcurrent(op, MEMORY, record);
    }
    op.status = Status.FOUND;
    return true;
  }

  private boolean update(Operation<I, O, C> op) {
    if (op.kind == Kind.DELETE) {
      return false;
    }
    long limit = LOG.mutableFrom();
    long address = newest(op);
    if (!isPlain(op, address, limit)) {
      return false;
    }
    long record = LOG.offset(address);
    op.recordAddress = address;
    InPlace end =
        op.kind == Kind.RMW
            ? values.updateInPlace(op, MEMORY, record)
            : values.writeInPlace(op, MEMORY, record);
    op.status = Status.UPDATED_IN_PLACE;
    return end == InPlace.DONE;
  }

  /**
   * Prefetches the lines that a record uses if it is as long as the records before it, together
   * with its first line. Its real length is known only after that line has arrived, and waiting for
   * it would be the third cache miss of a read, after the bucket and that line. Uses the shorter of
   * two lengths, since useless prefetches evict other data.
   */
  private void prefetch(long record) {
    long last = Math.min(lastBytes, bytesBeforeLast) - Long.BYTES;
    // It may be in the second line of a record that is shorter than a line.
    long sum = Words.loadPlain(MEMORY, Math.min(record + last, LAST_WORD));
    for (long at = Prefetcher.LINE_BYTES; at < last; at += Prefetcher.LINE_BYTES) {
      sum += Words.loadPlain(MEMORY, Math.min(record + at, LAST_WORD));
    }
    touched = sum;
  }

  /** The newest address under the key's hash. */
  private static long newest(Operation<?, ?, ?> op) {
    return INDEX.address(INDEX.bucket(op.hash), op.hash);
  }

  /** Whether a record has the key, no flag, and an address at or above the limit. */
  private static boolean isPlain(Operation<?, ?, ?> op, long address, long limit) {
    long record = LOG.offset(address);
    // Any place in the log's memory may be read; what is not a record now is not used.
    long flags = (Words.loadPlain(MEMORY, record) & FLAGS) ^ RecordInfo.PRESENT;
    return address >= limit && flags == 0 && SpanRecord.INSTANCE.keyEquals(MEMORY, record, op.key);
  }
}
