package io.fasterkv.operation;

import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/** The successor of a value is that value. */
final class SameValue<I, O, C> implements Successor<I, O, C> {
  private final RecordLayout layout;

  SameValue(RecordLayout layout) {
    this.layout = layout;
  }

  @Override
  public int copyBytes(Operation<I, O, C> op, MemorySegment memory, long record) {
    return layout.valueBytes(memory, record);
  }

  @Override
  public boolean updateCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord) {
    int bytes = layout.valueBytes(memory, record);
    long room = layout.recordBytes(to, newRecord) - (layout.valueOffset(to, newRecord) - newRecord);
    if (bytes > room) {
      return false;
    }
    writeCopy(op, memory, record, to, newRecord);
    return true;
  }

  @Override
  public void writeCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord) {
    int bytes = layout.valueBytes(memory, record);
    long from = layout.valueOffset(memory, record);
    MemorySegment.copy(memory, from, to, layout.valueOffset(to, newRecord), bytes);
    layout.setValueBytes(to, newRecord, bytes);
  }
}
