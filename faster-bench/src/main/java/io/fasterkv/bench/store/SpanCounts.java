package io.fasterkv.bench.store;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.StoreFunctions;

/** Reads copy the value out; an RMW adds 1 to its first word. */
final class SpanCounts implements StoreFunctions<Void, byte[], Void> {
  private final int valueBytes;
  long fingerprints;

  SpanCounts(int valueBytes) {
    this.valueBytes = valueBytes;
  }

  @Override
  public void singleReader(
      ByteSpan key, Void input, ByteSpan value, byte[] output, RecordView record) {
    value.copyTo(0, output, 0, value.length());
  }

  @Override
  public int initialBytes(ByteSpan key, Void input) {
    return valueBytes;
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Void input, ByteSpan value, byte[] output, RecordView record) {
    value.putLong(0, 1);
    value.setLength(valueBytes);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Void input, ByteSpan value, byte[] output, RecordView record) {
    value.putLong(0, value.getLong(0) + 1);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Void input, ByteSpan oldValue) {
    return oldValue.length();
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Void input,
      ByteSpan oldValue,
      ByteSpan newValue,
      byte[] output,
      RecordView record) {
    newValue.setTo(oldValue);
    newValue.putLong(0, oldValue.getLong(0) + 1);
  }
}
