package io.fasterkv.operation.fastpath;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongOutput;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.LargeFunctions;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.SpanPath;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.LongRecord;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Values of 8 bytes, changed by compare-and-set. They always fit, so no record in the mutable
 * region is ever copied, and only deltas need a latch. An update that races with a delete of the
 * same record counts as earlier: it began before the delete ended.
 */
@SuppressWarnings("NullAway") // The context is the caller's own; null if the caller passed null.
public final class LongValues<C> implements ValueAccess<Void, Void, C> {
  private static final RecordLatch LATCH = new RecordLatch(LongRecord.INSTANCE);

  private final LongFunctions<C> functions;

  /** The functions again, if they say what an RMW returns; null if that is the new value. */
  private final @Nullable LongOutput outputs;

  public LongValues(LongFunctions<C> functions) {
    this.functions = functions;
    outputs = functions instanceof LongOutput some ? some : null;
  }

  @Override
  public @Nullable LargeFunctions<Void, Void, C> large() {
    return null;
  }

  /** None; {@code LongCore} has its own. */
  @Override
  public @Nullable SpanPath<Void, Void, C> path(SessionCounters.Stripe counters) {
    return null;
  }

  @Override
  public void readStable(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    op.longOutput = Words.loadAcquire(memory, record + LongRecord.VALUE);
  }

  @Override
  public void readConcurrent(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    readStable(op, memory, record);
  }

  @Override
  public int upsertBytes(Operation<Void, Void, C> op) {
    return Long.BYTES;
  }

  @Override
  public void writeNew(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    Words.storePlain(memory, record + LongRecord.VALUE, op.longInput);
  }

  @Override
  public InPlace writeInPlace(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    Words.storeVolatile(memory, record + LongRecord.VALUE, op.longInput);
    return InPlace.DONE;
  }

  @Override
  public int successorBytes(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    return Long.BYTES;
  }

  @Override
  public boolean makesFirst(Operation<Void, Void, C> op) {
    return true;
  }

  @Override
  public int initialBytes(Operation<Void, Void, C> op) {
    return Long.BYTES;
  }

  @Override
  public void updateInitial(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    long value = functions.initialUpdater(op.key.asLong(), op.longInput);
    Words.storePlain(memory, record + LongRecord.VALUE, value);
    setOutput(op, 0, value);
  }

  private void setOutput(Operation<Void, Void, C> op, long oldValue, long newValue) {
    op.longOutput =
        outputs == null
            ? newValue
            : outputs.output(op.key.asLong(), op.longInput, oldValue, newValue);
  }

  @Override
  public InPlace updateInPlace(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    long at = record + LongRecord.VALUE;
    long oldValue;
    long newValue;
    do {
      oldValue = Words.loadAcquire(memory, at);
      newValue = functions.updater(op.key.asLong(), op.longInput, oldValue);
      // Before the update takes effect: the user's function may throw.
      setOutput(op, oldValue, newValue);
    } while (!Words.compareAndSet(memory, at, oldValue, newValue));
    return InPlace.DONE;
  }

  @Override
  public boolean mergesBlindly(Operation<Void, Void, C> op) {
    return true;
  }

  @Override
  public InPlace updateDelta(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    if (!LATCH.tryHold(op, memory, record)) {
      return InPlace.FROZEN;
    }
    try {
      return updateInPlace(op, memory, record);
    } finally {
      LATCH.release(op, memory);
    }
  }

  @Override
  public int copyBytes(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    return Long.BYTES;
  }

  @Override
  public boolean updateCopy(
      Operation<Void, Void, C> op,
      MemorySegment memory,
      long record,
      MemorySegment to,
      long newRecord) {
    writeCopy(op, memory, record, to, newRecord);
    return true;
  }

  @Override
  public void writeCopy(
      Operation<Void, Void, C> op,
      MemorySegment memory,
      long record,
      MemorySegment to,
      long newRecord) {
    long value = Words.loadAcquire(memory, record + LongRecord.VALUE);
    long newValue = functions.updater(op.key.asLong(), op.longInput, value);
    Words.storePlain(to, newRecord + LongRecord.VALUE, newValue);
    setOutput(op, value, newValue);
  }

  @Override
  public void completed(Operation<Void, Void, C> op) {
    functions.completionCallback(op.status, op.key.asLong(), op.longOutput, op.context);
  }
}
