package io.fasterkv.operation.core;

import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;

/**
 * Excludes other updaters from a mutable record while an operation changes its value in place,
 * deletes it, or puts a successor into its chain. An operation holds one record at a time, for one
 * callback or a few instructions.
 *
 * <p>The operation stores the held record, and the bits that the record's first word gets when it
 * is released. So a record is released, and sealed if it has a successor, even if the stack
 * overflows in between. A record class: the compiler treats the layout of a constant as constant.
 */
public record RecordLatch(RecordLayout layout) {
  /**
   * Holds a record; returns false if it is deleted or replaced, or if another thread holds it for
   * long. {@link #release}, {@link #releaseChanged} or {@link #releaseAfterError} must follow.
   */
  public boolean tryHold(Operation<?, ?, ?> op, MemorySegment memory, long record) {
    long state = layout.tryLatch(memory, record);
    if (state == RecordLayout.NOT_LATCHED) {
      return false;
    }
    // No call may come before this: the stack could overflow in it.
    op.heldState = state;
    op.heldBits = 0;
    op.heldRecord = record;
    if (layout.isFrozenUnderLatch(memory, record)) {
      release(op, memory);
      return false;
    }
    return true;
  }

  /**
   * Releases the operation's record, whose value has not changed, after setting the operation's
   * {@code heldBits}. Returns whether this call has set any.
   */
  public boolean release(Operation<?, ?, ?> op, MemorySegment memory) {
    long bits = op.heldBits;
    boolean isSet = layout.release(memory, op.heldRecord, op.heldState, bits) && bits != 0;
    // Without a call, which could overflow the stack: another thread may hold the record by now.
    op.heldRecord = Operation.NOTHING;
    op.heldBits = 0;
    return isSet;
  }

  /** Releases the operation's record and publishes the length of its new value. */
  public void releaseChanged(Operation<?, ?, ?> op, MemorySegment memory, int valueBytes) {
    layout.releaseChanged(memory, op.heldRecord, op.heldState, valueBytes);
    op.heldRecord = Operation.NOTHING;
  }

  /**
   * Releases the operation's record, if it holds one, after an error: its value counts as changed
   * unless {@code heldBits} is set.
   */
  public void releaseAfterError(Operation<?, ?, ?> op, MemorySegment memory) {
    long record = op.heldRecord;
    if (record == Operation.NOTHING) {
      return;
    }
    // As few calls as possible: little stack may be left.
    if (op.heldBits == 0) {
      layout.releaseChanged(memory, record, op.heldState, SpanRecord.valueBytes(op.heldState));
    } else {
      layout.release(memory, record, op.heldState, op.heldBits);
    }
    op.heldRecord = Operation.NOTHING;
    op.heldBits = 0;
  }
}
