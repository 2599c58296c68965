package io.fasterkv.operation.delta;

import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Successor;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/** Copies a value unchanged. */
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
    layout.copyValue(memory, record, layout.valueBytes(memory, record), to, newRecord);
  }
}
