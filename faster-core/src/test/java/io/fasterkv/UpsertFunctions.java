package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.StoreFunctions;

/** Test functions for callers that upsert values and ignore what they read. */
public final class UpsertFunctions implements StoreFunctions<Object, Object, Object> {
  @Override
  public void singleReader(
      ByteSpan key, Object input, ByteSpan value, Object output, RecordView record) {
    value.toArray();
  }

  @Override
  public int initialBytes(ByteSpan key, Object input) {
    return 0;
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Object input, ByteSpan value, Object output, RecordView record) {
    value.setLength(0);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Object input, ByteSpan value, Object output, RecordView record) {
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Object input, ByteSpan oldValue) {
    return oldValue.length();
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Object input,
      ByteSpan oldValue,
      ByteSpan newValue,
      Object output,
      RecordView record) {
    newValue.setTo(oldValue);
  }
}
