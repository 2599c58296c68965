package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreFunctions;
import org.jspecify.annotations.Nullable;

/**
 * A sum in a value of 8 bytes.
 *
 * @param beforeCopy where the first copy stops, with the old value read; null if none does
 */
record StoppingSum(@Nullable Pause beforeCopy) implements StoreFunctions<Long, long[], Object> {
  static ByteSpan value(long sum) {
    ByteSpan value = ByteSpan.of(new byte[Long.BYTES]);
    value.putLong(0, sum);
    return value;
  }

  @Override
  public void singleReader(ByteSpan key, Long input, ByteSpan value, long[] output) {
    output[0] = value.getLong(0);
  }

  @Override
  public int initialBytes(ByteSpan key, Long input) {
    return Long.BYTES;
  }

  @Override
  public void initialUpdater(ByteSpan key, Long input, ByteSpan value) {
    value.setLength(Long.BYTES);
    value.putLong(0, input);
  }

  @Override
  public boolean inPlaceUpdater(ByteSpan key, Long input, ByteSpan value) {
    value.putLong(0, value.getLong(0) + input);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Long input, ByteSpan oldValue) {
    return Long.BYTES;
  }

  @Override
  public void copyUpdater(ByteSpan key, Long input, ByteSpan oldValue, ByteSpan newValue) {
    long old = oldValue.getLong(0);
    if (beforeCopy != null) {
      beforeCopy.here();
    }
    newValue.setLength(Long.BYTES);
    newValue.putLong(0, old + input);
  }
}
