package io.fasterkv.operation;

import io.fasterkv.memory.Words;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;

/**
 * Keeps updaters out of a mutable delta of either kind while a record takes its place. One
 * session's; holds one record at a time, for a few instructions and a merge.
 */
final class RecordHold {
  private final boolean isSpan;
  private long heldState;

  RecordHold(RecordLayout layout) {
    isSpan = layout instanceof SpanRecord;
  }

  /** Takes the latch; false if the record is deleted or replaced, or a delta held by another. */
  boolean take(MemorySegment memory, long record) {
    if (!isSpan) {
      return LongRecord.hold(memory, record);
    }
    heldState = SpanRecord.latch(memory, record);
    if (RecordInfo.isFrozen(RecordLayout.info(memory, record))) {
      letGo(memory, record, 0);
      return false;
    }
    return true;
  }

  /** Gives the latch back; {@code infoBits} are set in the record's first word before that. */
  void letGo(MemorySegment memory, long record, long infoBits) {
    if (!isSpan) {
      LongRecord.letGo(memory, record, infoBits);
      return;
    }
    if (infoBits != 0) {
      Words.getAndBitwiseOr(memory, record, infoBits);
    }
    SpanRecord.unlatchUnchanged(memory, record, heldState);
  }
}
