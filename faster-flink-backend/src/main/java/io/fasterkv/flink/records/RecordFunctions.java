package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreFunctions;
import java.lang.foreign.MemorySegment;

/**
 * Hands the store's callbacks to the reader or the edit that the operation carries. An upsert's
 * source may be longer than the value: the rest is room for the record to grow.
 */
final class RecordFunctions implements StoreFunctions<RecordEdit, RecordReader, Object> {
  private int upsertLength;

  /** How much of the next upsert's source is the value. */
  void nextUpsert(int length) {
    upsertLength = length;
  }

  @Override
  public void singleReader(ByteSpan key, RecordEdit input, ByteSpan value, RecordReader output) {
    output.read(value);
  }

  @Override
  public void singleWriter(ByteSpan key, ByteSpan source, ByteSpan value) {
    write(source, value);
  }

  @Override
  public boolean concurrentWriter(ByteSpan key, ByteSpan source, ByteSpan value) {
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
  public void initialUpdater(ByteSpan key, RecordEdit input, ByteSpan value) {
    input.initial(value);
  }

  @Override
  public boolean inPlaceUpdater(ByteSpan key, RecordEdit input, ByteSpan value) {
    return input.inPlace(value);
  }

  @Override
  public boolean needsCopyUpdate(ByteSpan key, RecordEdit input, ByteSpan oldValue) {
    return input.makesSuccessor(oldValue);
  }

  @Override
  public int copyBytes(ByteSpan key, RecordEdit input, ByteSpan oldValue) {
    return input.copyBytes(oldValue);
  }

  @Override
  public void copyUpdater(ByteSpan key, RecordEdit input, ByteSpan oldValue, ByteSpan newValue) {
    input.copy(oldValue, newValue);
  }
}
