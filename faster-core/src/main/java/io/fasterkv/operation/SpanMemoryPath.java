package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.index.IndexView;
import io.fasterkv.log.LogView;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.Operation.Kind;
import io.fasterkv.operation.ValueAccess.InPlace;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;

/**
 * The short way in memory for keys of any length. Never used as it is: {@link SpanPaths} defines
 * its class file again for each store.
 *
 * <p>What {@link LongMemoryPath} says of marks, versions and flags holds here too: a mark is read
 * after protecting and before the index, and a record that has any flag is left alone. Who changes
 * a record holds its latch and looks again whether it is frozen; who reads one that others may be
 * changing copies it first ({@link SpanValues}).
 */
final class SpanMemoryPath<I, O, C> extends SpanPath<I, O, C> {
  private static final StoreConstants CONSTANTS = StoreConstants.of(MethodHandles.lookup());
  private static final IndexView INDEX = CONSTANTS.index();
  private static final LogView LOG = CONSTANTS.log();
  private static final MemorySegment MEMORY = LOG.memory();

  private static final long FLAGS = ~(Address.MASK | RecordInfo.VERSION_MASK);
  private static final long LAST_WORD = MEMORY.byteSize() - Long.BYTES;

  private final SpanValues<I, O, C> values;
  private final ChainSteps.Stripe steps;

  /** How much the last two records used that were read, at most {@link GroupTouch#MOST_BYTES}. */
  private long lastBytes = SpanRecord.HEADER_BYTES;

  private long bytesBeforeLast = SpanRecord.HEADER_BYTES;

  /** Written and never read, so that the compiler does not leave the touching out. */
  @SuppressWarnings("UnusedVariable")
  private long touched;

  SpanMemoryPath(SpanValues<I, O, C> values, ChainSteps.Stripe steps) {
    this.values = values;
    this.steps = steps;
  }

  @Override
  boolean isCurrent() {
    return CONSTANTS.areCurrent();
  }

  @Override
  boolean take(Operation<I, O, C> op) {
    boolean isTaken = isCurrent() && (op.kind == Kind.READ ? read(op) : update(op));
    if (isTaken) {
      op.version.counted();
      steps.hit(1);
    }
    return isTaken;
  }

  private boolean read(Operation<I, O, C> op) {
    long limit = LOG.readableFrom();
    long address = newest(op);
    long record = LOG.offset(address);
    touchAhead(record);
    if (!isEasy(op, address, limit)) {
      return false;
    }
    bytesBeforeLast = lastBytes;
    lastBytes = Math.min(SpanRecord.usedBytes(MEMORY, record), GroupTouch.MOST_BYTES);
    if (address < CONSTANTS.regions().copyBelow()) {
      values.readStable(op, MEMORY, record);
      steps.hitReadOnly(1);
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
    if (!isEasy(op, address, limit)) {
      return false;
    }
    long record = LOG.offset(address);
    InPlace end =
        op.kind == Kind.RMW
            ? values.updateInPlace(op, MEMORY, record)
            : values.writeInPlace(op, MEMORY, record);
    op.status = Status.UPDATED_IN_PLACE;
    return end == InPlace.DONE;
  }

  /**
   * Asks for the lines that a record uses if it is as long as those before it, together with its
   * first one: how long it is can be read when that has come, and would be the third miss of a
   * read, behind the bucket's and that line's. Only as long as the shorter of two: what is asked
   * for in vain costs others their place in the cache.
   */
  private void touchAhead(long record) {
    long last = Math.min(lastBytes, bytesBeforeLast) - Long.BYTES;
    // It may lie in the second line of a record that is shorter than a line.
    long sum = Words.loadPlain(MEMORY, Math.min(record + last, LAST_WORD));
    for (long at = GroupTouch.LINE_BYTES; at < last; at += GroupTouch.LINE_BYTES) {
      sum += Words.loadPlain(MEMORY, Math.min(record + at, LAST_WORD));
    }
    touched = sum;
  }

  /** The newest address under the key's hash. */
  private static long newest(Operation<?, ?, ?> op) {
    return INDEX.address(INDEX.bucket(op.hash), op.hash);
  }

  /** Whether a record has the key, no flag, and lies high enough. */
  private static boolean isEasy(Operation<?, ?, ?> op, long address, long limit) {
    long record = LOG.offset(address);
    // Anything may be read of the log's memory; what is not a record now is not used.
    long flags = (Words.loadPlain(MEMORY, record) & FLAGS) ^ RecordInfo.PRESENT;
    return address >= limit && flags == 0 && SpanRecord.INSTANCE.keyEquals(MEMORY, record, op.key);
  }
}
