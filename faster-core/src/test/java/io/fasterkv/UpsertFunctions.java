package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreFunctions;

/** Test functions of who upserts values, and reads them for nothing. */
public final class UpsertFunctions implements StoreFunctions<Object, Object, Object> {
  @Override
  public void singleReader(ByteSpan key, Object input, ByteSpan value, Object output) {
    value.toArray();
  }

  @Override
  public int initialBytes(ByteSpan key, Object input) {
    return 0;
  }

  @Override
  public void initialUpdater(ByteSpan key, Object input, ByteSpan value) {
    value.setLength(0);
  }

  @Override
  public boolean inPlaceUpdater(ByteSpan key, Object input, ByteSpan value) {
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Object input, ByteSpan oldValue) {
    return oldValue.length();
  }

  @Override
  public void copyUpdater(ByteSpan key, Object input, ByteSpan oldValue, ByteSpan newValue) {
    newValue.setTo(oldValue);
  }
}
