package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.StoreFunctions;
import java.lang.foreign.MemorySegment;

/**
 * Forwards the store's callbacks to the operation's reader or edit. An upsert's source may be
 * longer than the value: the rest is room for the record to grow.
 */
final class RecordFunctions implements StoreFunctions<RecordEdit, RecordReader, Object> {
  private int upsertLength;
  private boolean hasAppended;

  /** Sets how much of the next upsert's source is the value. */
  void nextUpsert(int length) {
    upsertLength = length;
  }

  /** Resets {@link #hasAppended}. */
  void nextHead() {
    hasAppended = false;
  }

  /** Whether an operation since {@link #nextHead} has appended a record or tried to. */
  boolean hasAppended() {
    return hasAppended;
  }

  @Override
  public void singleReader(
      ByteSpan key, RecordEdit input, ByteSpan value, RecordReader output, RecordView record) {
    output.read(value);
  }

  @Override
  public void singleWriter(
      ByteSpan key,
      RecordEdit input,
      ByteSpan source,
      ByteSpan value,
      RecordReader output,
      RecordView record) {
    hasAppended = true;
    write(source, value);
  }

  @Override
  public boolean concurrentWriter(
      ByteSpan key,
      RecordEdit input,
      ByteSpan source,
      ByteSpan value,
      RecordReader output,
      RecordView record) {
    if (upsertLength > value.capacity()) {
      return false;
    }
    write(source, value);
    return true;
  }

  private void write(ByteSpan source, ByteSpan value) {
    MemorySegment.copy(
        source.memory(), source.offset(), value.memory(), value.offset(), upsertLength);
    value.setLength(upsertLength);
  }

  @Override
  public boolean needsInitialUpdate(ByteSpan key, RecordEdit input) {
    return input.makesFirst();
  }

  @Override
  public int initialBytes(ByteSpan key, RecordEdit input) {
    return input.initialBytes();
  }

  @Override
  public void initialUpdater(
      ByteSpan key, RecordEdit input, ByteSpan value, RecordReader output, RecordView record) {
    hasAppended = true;
    input.initial(value);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, RecordEdit input, ByteSpan value, RecordReader output, RecordView record) {
    return input.inPlace(value);
  }

  @Override
  public boolean needsCopyUpdate(
      ByteSpan key, RecordEdit input, ByteSpan oldValue, RecordReader output) {
    return input.makesSuccessor(oldValue);
  }

  @Override
  public int copyBytes(ByteSpan key, RecordEdit input, ByteSpan oldValue) {
    return input.copyBytes(oldValue);
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      RecordEdit input,
      ByteSpan oldValue,
      ByteSpan newValue,
      RecordReader output,
      RecordView record) {
    hasAppended = true;
    input.copy(oldValue, newValue);
  }
}
