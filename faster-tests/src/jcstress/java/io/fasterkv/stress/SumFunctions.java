package io.fasterkv.stress;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.RecordView;

/** Values that start with a sum; an input of {@link #GROWTH} also makes the value longer. */
final class SumFunctions implements MergeableFunctions<Long, long[], Void> {
  /** Adds one, and needs more room than a new value has. */
  static final Long GROWTH = -1L;

  private static final int LONG_BYTES = 3 * Long.BYTES;

  private static long amount(Long input) {
    return input.equals(GROWTH) ? 1 : input;
  }

  private static int bytes(Long input) {
    return input.equals(GROWTH) ? LONG_BYTES : Long.BYTES;
  }

  private static void write(ByteSpan value, int length, long sum) {
    value.setLength(length);
    value.putLong(0, sum);
  }

  @Override
  public void singleReader(
      ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
    output[0] = value.getLong(0);
  }

  @Override
  public int initialBytes(ByteSpan key, Long input) {
    return bytes(input);
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
    write(value, bytes(input), amount(input));
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Long input, ByteSpan value, long[] output, RecordView record) {
    if (bytes(input) > value.capacity()) {
      return false;
    }
    write(value, Math.max(value.length(), bytes(input)), value.getLong(0) + amount(input));
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Long input, ByteSpan oldValue) {
    return Math.max(oldValue.length(), bytes(input));
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Long input,
      ByteSpan oldValue,
      ByteSpan newValue,
      long[] output,
      RecordView record) {
    write(newValue, copyBytes(key, input, oldValue), oldValue.getLong(0) + amount(input));
  }

  @Override
  public int mergedBytes(ByteSpan key, ByteSpan older, ByteSpan newer) {
    return Math.max(older.length(), newer.length());
  }

  @Override
  public void merge(ByteSpan key, ByteSpan older, ByteSpan newer, ByteSpan result) {
    write(result, mergedBytes(key, older, newer), older.getLong(0) + newer.getLong(0));
  }
}
