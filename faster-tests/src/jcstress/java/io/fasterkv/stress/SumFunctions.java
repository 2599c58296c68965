package io.fasterkv.stress;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.MergeableFunctions;

/** Values that start with a sum; an input that is {@link #GROWTH} makes the value longer, too. */
final class SumFunctions implements MergeableFunctions<Long, long[], Void> {
  /** Adds one, and wants room that a value does not have at first. */
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
  public void singleReader(ByteSpan key, Long input, ByteSpan value, long[] output) {
    output[0] = value.getLong(0);
  }

  @Override
  public int initialBytes(ByteSpan key, Long input) {
    return bytes(input);
  }

  @Override
  public void initialUpdater(ByteSpan key, Long input, ByteSpan value) {
    write(value, bytes(input), amount(input));
  }

  @Override
  public boolean inPlaceUpdater(ByteSpan key, Long input, ByteSpan value) {
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
  public void copyUpdater(ByteSpan key, Long input, ByteSpan oldValue, ByteSpan newValue) {
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
