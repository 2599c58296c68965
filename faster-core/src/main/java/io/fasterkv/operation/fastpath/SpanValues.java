package io.fasterkv.operation.fastpath;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.DeleteFunctions;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LogRoom;
import io.fasterkv.operation.core.LargeFunctions;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.SpanPath;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Values of any length, with the user's functions. An updater in place holds the record's latch; a
 * reader of a mutable record copies the value first and checks that it did not change meanwhile.
 */
@SuppressWarnings(
    "NullAway") // Inputs and outputs are the caller's own; null if the caller passed null.
public final class SpanValues<I, O, C> implements ValueAccess<I, O, C>, LargeFunctions<I, O, C> {
  private static final Class<?>[] WRITER_TYPES = {
    ByteSpan.class, Object.class, ByteSpan.class, ByteSpan.class, Object.class, RecordView.class
  };

  private static final RecordLatch LATCH = new RecordLatch(SpanRecord.INSTANCE);

  private final StoreFunctions<I, O, C> functions;

  /** The functions if they can be merged; otherwise null. */
  private final @Nullable MergeableFunctions<I, O, C> mergeable;

  /** The functions again, if they have callbacks for deletes; else null. */
  private final @Nullable DeleteFunctions deletes;

  /** Whether the functions copy an upsert's value as it is to a new record. */
  private final boolean keepsSource;

  /** Whether they do so in place, too. */
  private final boolean keepsSourceInPlace;

  /** Counts the bytes by which values grow shorter in their records. */
  private final LogRoom room;

  /** Creates the fast path; null if there is none. */
  private final @Nullable SpanPaths paths;

  public SpanValues(StoreFunctions<I, O, C> functions, HybridLog log, @Nullable SpanPaths paths) {
    this.functions = functions;
    mergeable = functions instanceof MergeableFunctions<I, O, C> some ? some : null;
    deletes = functions instanceof DeleteFunctions some ? some : null;
    keepsSource = isDefault(functions, "singleWriter");
    keepsSourceInPlace = isDefault(functions, "concurrentWriter");
    room = log.room();
    this.paths = paths;
  }

  /** Whether functions have this writer of {@link StoreFunctions}, which copies the value. */
  private static boolean isDefault(StoreFunctions<?, ?, ?> functions, String writer) {
    try {
      return functions.getClass().getMethod(writer, WRITER_TYPES).getDeclaringClass()
          == StoreFunctions.class;
    } catch (NoSuchMethodException e) {
      throw new LinkageError(
          "functions have no writer: class=" + functions.getClass().getName(), e);
    }
  }

  @Override
  public LargeFunctions<I, O, C> large() {
    return this;
  }

  @Override
  public @Nullable SpanPath<I, O, C> path(SessionCounters.Stripe counters) {
    return paths == null ? null : paths.path(this, counters);
  }

  @Override
  public void readStable(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapOld(op, memory, record);
    functions.singleReader(op.keySpan, op.input, op.value, op.output, op);
  }

  @Override
  public void readConcurrent(Operation<I, O, C> op, MemorySegment memory, long record) {
    copyConsistently(op, memory, record);
    functions.concurrentReader(op.keySpan, op.input, op.value, op.output, op);
  }

  @Override
  public int upsertBytes(Operation<I, O, C> op) {
    return op.source.length();
  }

  @Override
  public void writeNew(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapNew(op, memory, record);
    functions.singleWriter(op.keySpan, op.input, op.source, op.newValue, op.output, op);
    SpanRecord.INSTANCE.setValueBytes(memory, record, op.newValue.length());
  }

  @Override
  public InPlace writeInPlace(Operation<I, O, C> op, MemorySegment memory, long record) {
    if (!LATCH.tryHold(op, memory, record)) {
      return InPlace.FROZEN;
    }
    InPlace end = InPlace.FROZEN;
    try {
      wrapOld(op, memory, record);
      boolean done =
          functions.concurrentWriter(op.keySpan, op.input, op.source, op.value, op.output, op);
      end = done ? InPlace.DONE : InPlace.NO_ROOM;
    } finally {
      release(op, memory, end);
    }
    return end;
  }

  @Override
  public int successorBytes(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapOld(op, memory, record);
    return functions.needsCopyUpdate(op.keySpan, op.input, op.value, op.output)
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
    functions.initialUpdater(op.keySpan, op.input, op.newValue, op.output, op);
    SpanRecord.INSTANCE.setValueBytes(memory, record, op.newValue.length());
  }

  @Override
  public InPlace updateInPlace(Operation<I, O, C> op, MemorySegment memory, long record) {
    if (!LATCH.tryHold(op, memory, record)) {
      return InPlace.FROZEN;
    }
    InPlace end = InPlace.FROZEN;
    try {
      wrapOld(op, memory, record);
      boolean done = functions.inPlaceUpdater(op.keySpan, op.input, op.value, op.output, op);
      end = done ? InPlace.DONE : InPlace.NO_ROOM;
    } finally {
      release(op, memory, end);
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
  public boolean observesDeletes() {
    return deletes != null;
  }

  @Override
  public void deleteInPlace(Operation<I, O, C> op, MemorySegment memory, long record) {
    wrapOld(op, memory, record);
    Objects.requireNonNull(deletes).concurrentDeleter(op.keySpan, op.value, op);
  }

  @Override
  public void deleteUnseen(Operation<I, O, C> op) {
    Objects.requireNonNull(deletes).singleDeleter(op.keySpan, op);
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
    functions.copyUpdater(op.keySpan, op.input, op.value, op.newValue, op.output, op);
    SpanRecord.INSTANCE.setValueBytes(to, newRecord, op.newValue.length());
  }

  @Override
  public void completed(Operation<I, O, C> op) {
    functions.completionCallback(op.status, op.input, op.output, op.context);
  }

  @Override
  public void readLarge(Operation<I, O, C> op) {
    functions.singleReader(op.keySpan, op.input, op.value, op.output, op);
  }

  @Override
  public @Nullable ByteSpan unchangedSource(Operation<I, O, C> op) {
    return keepsSource ? op.source : null;
  }

  @Override
  public boolean neverFitsInPlace() {
    return keepsSourceInPlace;
  }

  @Override
  public void writeLarge(Operation<I, O, C> op) {
    functions.singleWriter(op.keySpan, op.input, op.source, op.newValue, op.output, op);
  }

  @Override
  public void updateInitialLarge(Operation<I, O, C> op) {
    functions.initialUpdater(op.keySpan, op.input, op.newValue, op.output, op);
  }

  @Override
  public int copyBytesLarge(Operation<I, O, C> op) {
    return functions.copyBytes(op.keySpan, op.input, op.value);
  }

  @Override
  public void updateCopyLarge(Operation<I, O, C> op) {
    functions.copyUpdater(op.keySpan, op.input, op.value, op.newValue, op.output, op);
  }

  /**
   * Releases the latch after an update. If nothing was changed the state stays the same, so that
   * {@code LargeValues} finds the record as it left it. FROZEN stands for an updater that has
   * thrown: what it changed is unknown.
   */
  private void release(Operation<I, O, C> op, MemorySegment memory, InPlace end) {
    switch (end) {
      case DONE -> {
        int length = op.value.length();
        int lost = SpanRecord.valueBytes(op.heldState) - length;
        LATCH.releaseChanged(op, memory, length);
        if (lost != 0) {
          room.died(lost);
        }
      }
      case NO_ROOM -> LATCH.release(op, memory);
      case FROZEN -> LATCH.releaseAfterError(op, memory);
    }
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

  /** Copies a consistent value to the operation's buffer. */
  private void copyConsistently(Operation<I, O, C> op, MemorySegment memory, long record) {
    long from = SpanRecord.INSTANCE.valueOffset(memory, record);
    while (true) {
      long state = SpanRecord.INSTANCE.state(memory, record);
      if (!RecordLayout.isLatched(state)) {
        int length = SpanRecord.valueBytes(state);
        MemorySegment copy = op.valueBuffer(length);
        MemorySegment.copy(memory, from, copy, 0, length);
        if (SpanRecord.INSTANCE.isUnchanged(memory, record, state)) {
          op.value.wrap(copy, 0, length, length);
          op.valueState = state;
          return;
        }
      }
      Thread.onSpinWait();
    }
  }
}
