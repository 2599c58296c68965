package io.fasterkv.operation;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.memory.Words;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Values of 8 bytes, changed by compare-and-set. They always fit, so no record in the mutable
 * region is ever copied, and nothing has to be held but deltas. An update that races with a delete
 * of the same record counts as before it: it had begun before the delete ended.
 */
@SuppressWarnings("NullAway") // The context is the caller's own, null if the caller gave null.
final class LongValues<C> implements ValueAccess<Void, Void, C> {
  private final LongFunctions<C> functions;

  LongValues(LongFunctions<C> functions) {
    this.functions = functions;
  }

  @Override
  public @Nullable LargeFunctions<Void, Void, C> large() {
    return null;
  }

  @Override
  public ValueAccess<Void, Void, C> another() {
    return this;
  }

  /** None but that of {@link LongCore}. */
  @Override
  public SpanPath<Void, Void, C> path(ChainSteps.Stripe steps) {
    return SpanPath.none(true);
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
  }

  @Override
  public InPlace updateInPlace(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    long at = record + LongRecord.VALUE;
    long value;
    do {
      value = Words.loadAcquire(memory, at);
    } while (!Words.compareAndSet(
        memory, at, value, functions.updater(op.key.asLong(), op.longInput, value)));
    return InPlace.DONE;
  }

  @Override
  public boolean mergesBlindly(Operation<Void, Void, C> op) {
    return true;
  }

  @Override
  public InPlace updateDelta(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    if (!LongRecord.hold(memory, record)) {
      return InPlace.FROZEN;
    }
    try {
      return updateInPlace(op, memory, record);
    } finally {
      LongRecord.letGo(memory, record, 0);
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
    Words.storePlain(
        to, newRecord + LongRecord.VALUE, functions.updater(op.key.asLong(), op.longInput, value));
  }

  @Override
  public boolean hold(Operation<Void, Void, C> op, MemorySegment memory, long record) {
    long info = RecordLayout.info(memory, record);
    return RecordInfo.isDelta(info) ? LongRecord.hold(memory, record) : !RecordInfo.isFrozen(info);
  }

  @Override
  public boolean letGo(
      Operation<Void, Void, C> op, MemorySegment memory, long record, long infoBits) {
    return infoBits == 0 || (Words.getAndBitwiseOr(memory, record, infoBits) & infoBits) == 0;
  }

  @Override
  public void completed(Operation<Void, Void, C> op) {
    functions.completionCallback(op.status, op.key.asLong(), op.longOutput, op.context);
  }
}
