package io.fasterkv.operation;

import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.MemoryRoom;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Values of any length, under the user's functions. An updater in place holds the record's latch; a
 * reader of a mutable record copies the value first and checks that it was not being changed.
 */
@SuppressWarnings(
    "NullAway") // Inputs and outputs are the caller's own, null if the caller says so.
final class SpanValues<I, O, C> implements ValueAccess<I, O, C>, LargeFunctions<I, O, C> {
  private static final long NONE = -1;

  private final StoreFunctions<I, O, C> functions;

  /** The functions again, if what they make can be merged; else null. */
  private final @Nullable MergeableFunctions<I, O, C> mergeable;

  /** Told of the room that values leave in their records; null where nobody asks. */
  private final @Nullable MemoryRoom room;

  /** Makes the short way; null where there is none. */
  private final @Nullable SpanPaths paths;

  /** The record that is latched, or {@link #NONE}; a session latches one at a time. */
  private long heldRecord = NONE;

  /** The state of that record before. */
  private long heldState;

  SpanValues(StoreFunctions<I, O, C> functions, HybridLog log, @Nullable SpanPaths paths) {
    this(functions, log.isInMemory() ? log.room() : null, paths);
  }

  private SpanValues(
      StoreFunctions<I, O, C> functions, @Nullable MemoryRoom room, @Nullable SpanPaths paths) {
    this.functions = functions;
    mergeable = functions instanceof MergeableFunctions<I, O, C> some ? some : null;
    this.room = room;
    this.paths = paths;
  }

  @Override
  public LargeFunctions<I, O, C> large() {
    return this;
  }

  @Override
  public ValueAccess<I, O, C> another() {
    return new SpanValues<>(functions, room, paths);
  }

  @Override
  public SpanPath<I, O, C> path(ChainSteps.Stripe steps) {
    return paths == null ? SpanPath.none(true) : paths.path(this, steps);
  }

  @Override
  public void readStable(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapOld(op, memory, record);
    functions.singleReader(op.keySpan, op.input, op.value, op.output);
  }

  @Override
  public void readConcurrent(Operation<I, O, C> op, MemorySegment memory, long record) {
    copyConsistently(op, memory, record);
    functions.concurrentReader(op.keySpan, op.input, op.value, op.output);
  }

  @Override
  public int upsertBytes(Operation<I, O, C> op) {
    return op.source.length();
  }

  @Override
  public void writeNew(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapNew(op, memory, record);
    functions.singleWriter(op.keySpan, op.source, op.newValue);
    SpanRecord.INSTANCE.setValueBytes(memory, record, op.newValue.length());
  }

  @Override
  public InPlace writeInPlace(Operation<I, O, C> op, MemorySegment memory, long record) {
    if (!hold(op, memory, record)) {
      return InPlace.FROZEN;
    }
    InPlace end = InPlace.FROZEN;
    try {
      wrapOld(op, memory, record);
      boolean done = functions.concurrentWriter(op.keySpan, op.source, op.value);
      end = done ? InPlace.DONE : InPlace.NO_ROOM;
    } finally {
      release(op, memory, record, end);
    }
    return end;
  }

  @Override
  public int successorBytes(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapOld(op, memory, record);
    return functions.needsCopyUpdate(op.keySpan, op.input, op.value)
        ? functions.copyBytes(op.keySpan, op.input, op.value)
        : STAYS;
  }

  @Override
  public boolean makesFirst(Operation<I, O, C> op) {
    return functions.needsInitialUpdate(op.keySpan, op.input);
  }

  @Override
  public int initialBytes(Operation<I, O, C> op) {
    return functions.initialBytes(op.keySpan, op.input);
  }

  @Override
  public void updateInitial(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapNew(op, memory, record);
    functions.initialUpdater(op.keySpan, op.input, op.newValue);
    SpanRecord.INSTANCE.setValueBytes(memory, record, op.newValue.length());
  }

  @Override
  public InPlace updateInPlace(Operation<I, O, C> op, MemorySegment memory, long record) {
    if (!hold(op, memory, record)) {
      return InPlace.FROZEN;
    }
    InPlace end = InPlace.FROZEN;
    try {
      wrapOld(op, memory, record);
      boolean done = functions.inPlaceUpdater(op.keySpan, op.input, op.value);
      end = done ? InPlace.DONE : InPlace.NO_ROOM;
    } finally {
      release(op, memory, record, end);
    }
    return end;
  }

  @Override
  public boolean mergesBlindly(Operation<I, O, C> op) {
    return mergeable != null && makesFirst(op) && mergeable.mergesBlindly(op.keySpan, op.input);
  }

  @Override
  public InPlace updateDelta(Operation<I, O, C> op, MemorySegment memory, long record) {
    return updateInPlace(op, memory, record);
  }

  @Override
  public int copyBytes(Operation<I, O, C> op, MemorySegment memory, long record) {
    copyConsistently(op, memory, record);
    return functions.copyBytes(op.keySpan, op.input, op.value);
  }

  @Override
  public boolean updateCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord) {
    wrapOld(op, memory, record);
    wrapNew(op, to, newRecord);
    if (functions.copyBytes(op.keySpan, op.input, op.value) > op.newValue.capacity()) {
      return false;
    }
    writeCopy(op, to, newRecord);
    return true;
  }

  @Override
  public void writeCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord) {
    wrapOld(op, memory, record);
    wrapNew(op, to, newRecord);
    writeCopy(op, to, newRecord);
  }

  private void writeCopy(Operation<I, O, C> op, MemorySegment to, long newRecord) {
    functions.copyUpdater(op.keySpan, op.input, op.value, op.newValue);
    SpanRecord.INSTANCE.setValueBytes(to, newRecord, op.newValue.length());
  }

  @Override
  public boolean hold(Operation<I, O, C> op, MemorySegment memory, long record) {
    heldState = SpanRecord.latch(memory, record);
    heldRecord = record;
    if (RecordInfo.isFrozen(RecordLayout.info(memory, record))) {
      SpanRecord.unlatchUnchanged(memory, record, heldState);
      heldRecord = NONE;
      return false;
    }
    return true;
  }

  @Override
  public boolean letGo(Operation<I, O, C> op, MemorySegment memory, long record, long infoBits) {
    if (infoBits != 0) {
      Words.getAndBitwiseOr(memory, record, infoBits);
    }
    SpanRecord.unlatchUnchanged(memory, record, heldState);
    heldRecord = NONE;
    return true;
  }

  @Override
  public void releaseHeld(MemorySegment memory) {
    if (heldRecord != NONE) {
      int valueBytes = SpanRecord.valueBytes(heldState);
      SpanRecord.unlatch(memory, heldRecord, heldState, valueBytes);
      heldRecord = NONE;
    }
  }

  @Override
  public void completed(Operation<I, O, C> op) {
    functions.completionCallback(op.status, op.input, op.output, op.context);
  }

  @Override
  public void readLarge(Operation<I, O, C> op) {
    functions.singleReader(op.keySpan, op.input, op.value, op.output);
  }

  @Override
  public void writeLarge(Operation<I, O, C> op) {
    functions.singleWriter(op.keySpan, op.source, op.newValue);
  }

  @Override
  public void updateInitialLarge(Operation<I, O, C> op) {
    functions.initialUpdater(op.keySpan, op.input, op.newValue);
  }

  @Override
  public int copyBytesLarge(Operation<I, O, C> op) {
    return functions.copyBytes(op.keySpan, op.input, op.value);
  }

  @Override
  public void updateCopyLarge(Operation<I, O, C> op) {
    functions.copyUpdater(op.keySpan, op.input, op.value, op.newValue);
  }

  /**
   * Lets go after an updater. That the state stays where nothing was changed is what lets {@link
   * LargeValues} find the record as it left it. FROZEN stands for an updater that has thrown: what
   * it did is not known.
   */
  private void release(Operation<I, O, C> op, MemorySegment memory, long record, InPlace end) {
    switch (end) {
      case DONE -> {
        int length = op.value.length();
        SpanRecord.unlatch(memory, record, heldState, length);
        heldRecord = NONE;
        if (room != null && length != SpanRecord.valueBytes(heldState)) {
          room.died(SpanRecord.valueBytes(heldState) - length);
        }
      }
      case NO_ROOM -> SpanRecord.unlatchUnchanged(memory, record, heldState);
      case FROZEN ->
          SpanRecord.unlatch(memory, record, heldState, SpanRecord.valueBytes(heldState));
    }
    heldRecord = NONE;
  }

  private void wrapOld(Operation<I, O, C> op, MemorySegment memory, long record) {
    op.value.wrap(
        memory,
        SpanRecord.INSTANCE.valueOffset(memory, record),
        SpanRecord.INSTANCE.valueBytes(memory, record),
        SpanRecord.valueCapacity(memory, record));
  }

  private void wrapNew(Operation<I, O, C> op, MemorySegment memory, long record) {
    op.newValue.wrap(
        memory,
        SpanRecord.INSTANCE.valueOffset(memory, record),
        0,
        SpanRecord.valueCapacity(memory, record));
  }

  /** Leaves bytes in the operation's value that some moment saw together. */
  private void copyConsistently(Operation<I, O, C> op, MemorySegment memory, long record) {
    long from = SpanRecord.INSTANCE.valueOffset(memory, record);
    while (true) {
      long state = SpanRecord.state(memory, record);
      if (!SpanRecord.isLatched(state)) {
        int length = SpanRecord.valueBytes(state);
        MemorySegment copy = op.valueBuffer(length);
        MemorySegment.copy(memory, from, copy, 0, length);
        if (SpanRecord.isUnchanged(memory, record, state)) {
          op.value.wrap(copy, 0, length, length);
          op.valueState = state;
          return;
        }
      }
      Thread.onSpinWait();
    }
  }
}
