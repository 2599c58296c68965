package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.StoreFunctions;

/**
 * A sum in a value of 8 bytes.
 *
 * @param beforeCopy runs after a copy has read the old value
 */
record StoppingSum(Runnable beforeCopy) implements StoreFunctions<Long, long[], Object> {
  /** A sum that never stops. */
  static StoppingSum plain() {
    return new StoppingSum(() -> {});
  }

  static ByteSpan value(long sum) {
    ByteSpan value = ByteSpan.of(new byte[Long.BYTES]);
    value.putLong(0, sum);
    return value;
  }

  @Override
  public void singleReader(
      ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
    output[0] = value.getLong(0);
  }

  @Override
  public int initialBytes(ByteSpan key, Long input) {
    return Long.BYTES;
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
    value.setLength(Long.BYTES);
    value.putLong(0, input);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
    value.putLong(0, value.getLong(0) + input);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Long input, ByteSpan oldValue) {
    return Long.BYTES;
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Long input,
      ByteSpan oldValue,
      ByteSpan newValue,
      long[] output,
      RecordView record) {
    long old = oldValue.getLong(0);
    beforeCopy.run();
    newValue.setLength(Long.BYTES);
    newValue.putLong(0, old + input);
  }
}
